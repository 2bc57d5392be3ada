import Glibc

/// A moment of the host's calendar clock, shown as RFC 3339 in UTC with milliseconds.
public struct WallTime: Equatable, Comparable, Sendable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01 00:00:00 UTC.
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public static func now() -> WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  public var description: String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let date = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map { Self.padded(Int($0), 2) }
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded(Int($0), 2) }
    let fraction = Self.padded(Int(milliseconds % 1000), 3)
    return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(fraction)Z"
  }

  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

  private static func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
