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

  /// The moment that a text of `rfc3339`'s form tells, since 1970; nil for any other.
  public static func moment(_ text: String) -> Duration? {
    let bytes = Array(text.utf8)
    // 2026-12-20T08:30:00 and, where it is there, a fraction of one to nine digits.
    guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z") else { return nil }
    for (place, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] where bytes[place] != mark.utf8.first {
      return nil
    }
    func number(_ range: Range<Int>) -> Int32? { digits(bytes[range]).flatMap { Int32(exactly: $0) } }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    let whole = Duration.seconds(timegm(&parts))
    let fraction = bytes[19..<(bytes.count - 1)]
    if fraction.isEmpty { return whole }
    guard fraction.first == UInt8(ascii: "."), fraction.count > 1, let value = digits(fraction.dropFirst()) else {
      return nil
    }
    var nanoseconds = value
    for _ in fraction.count..<10 { nanoseconds *= 10 }
    return whole + .nanoseconds(nanoseconds)
  }

  /// The same moment as the clock on this machine's wall shows it, with its offset: `2026-12-20 09:30:00 +0100`.
  ///
  /// - Returns: nil for a text that is no moment.
  public static func local(_ text: String) -> String? {
    guard let moment = moment(text) else { return nil }
    var whole = time_t(moment.components.seconds)
    var parts = tm()
    localtime_r(&whole, &parts)
    var line = [CChar](repeating: 0, count: 64)
    let count = strftime(&line, line.count, "%Y-%m-%d %H:%M:%S %z", &parts)
    return String(decoding: line.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self))
  }

  /// Since 1970.
  public static func now() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
  }
}
