import Glibc
import Transport

/// A moment on the host's two steady clocks. Only differences between moments of one boot mean anything.
public struct HostMoment: Equatable, Sendable {
  /// On the clock that stops in the host's sleep (CLOCK_MONOTONIC): silence and deadlines are measured on it.
  public var awake: Duration
  /// On the clock that does not (CLOCK_BOOTTIME): spacing, and the age of what was read.
  public var elapsed: Duration

  public init(awake: Duration, elapsed: Duration) {
    self.awake = awake
    self.elapsed = elapsed
  }
}

/// The host's time, handed in wherever somebody waits or measures.
public protocol HostClock: Sendable {
  var now: HostMoment { get }
  /// The wall clock, since 1970; it may jump.
  var wall: Duration { get }
  /// The kernel's name for this boot; empty where it can't be read.
  var boot: String { get }
  /// Waits that long on the clock that stops in the host's sleep.
  func sleep(for span: Duration) async throws(CancellationError)
  /// The moment at which that much of this time will have passed.
  func deadline(after span: Duration) -> Deadline
  /// How many times as fast as the host's own the steady clocks run.
  var scale: Double { get }
}

extension HostClock {
  public var scale: Double { 1 }
}

/// This host's own clocks.
public struct SystemClock: HostClock {
  public let scale: Double
  public let boot: String

  /// - Parameter scale: how many times as fast the steady clocks run, for virtual phones that do so too; above 0.
  public init(scale: Double = 1) {
    self.scale = scale > 0 ? scale : 1
    // Moments of clocks that run differently are as far apart as those of different boots.
    boot = Self.readBoot() + (self.scale == 1 ? "" : " x\(self.scale)")
  }

  public var now: HostMoment {
    HostMoment(awake: Self.read(CLOCK_MONOTONIC) * scale, elapsed: Self.read(CLOCK_BOOTTIME) * scale)
  }

  public var wall: Duration { WallClock.now() }

  public func sleep(for span: Duration) async throws(CancellationError) {
    do { try await SuspendingClock().sleep(for: span / scale) } catch { throw CancellationError() }
  }

  public func deadline(after span: Duration) -> Deadline { .after(span / scale) }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private static func readBoot() -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let bytes = try? Files.host.read(path, 128) else { return "" }
    return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }
}
