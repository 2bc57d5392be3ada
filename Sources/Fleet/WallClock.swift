import Glibc

/// The wall clock, as records and events write it.
public enum WallClock {
  /// RFC 3339 in UTC, to the millisecond: `2026-12-20T08:30:00.250Z`.
  ///
  /// - Parameter moment: since 1970; nil: now.
  public static func rfc3339(_ moment: Duration? = nil) -> String {
    let (seconds, attoseconds) = (moment ?? now()).components
    var whole = time_t(seconds)
    var parts = tm()
    gmtime_r(&whole, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let milliseconds = Int(attoseconds / 1_000_000_000_000_000)
    let fraction = String(1_000 + milliseconds).dropFirst()
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
      + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)Z"
  }

  /// Since 1970.
  public static func now() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
  }
}
