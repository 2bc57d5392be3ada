import Glibc

/// A moment on the clock that stops in the host's sleep (CLOCK_MONOTONIC), by which a wait must end.
public struct Deadline: Sendable, Comparable {
  /// Nanoseconds of CLOCK_MONOTONIC.
  private let nanoseconds: UInt64

  /// So far away that it never comes; for waits that something else ends.
  public static let never = Deadline(nanoseconds: UInt64(Int64.max))

  public static func after(_ wait: Duration) -> Deadline {
    let (seconds, attoseconds) = wait.components
    let span =
      seconds < 0 ? 0 : UInt64(min(seconds, 1 << 30)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    return Deadline(nanoseconds: now() + span)
  }

  private init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  public var hasPassed: Bool { Self.now() >= nanoseconds }

  /// Zero once it has passed.
  public var remaining: Duration {
    let now = Self.now()
    return now >= nanoseconds ? .zero : .nanoseconds(Int64(nanoseconds - now))
  }

  /// For `poll`: whole milliseconds, rounded up, so that a wait is never a spin.
  var pollMilliseconds: Int32 {
    let now = Self.now()
    if now >= nanoseconds { return 0 }
    return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
  }

  var timespec: Glibc.timespec {
    Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  public static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }

  private static func now() -> UInt64 {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
