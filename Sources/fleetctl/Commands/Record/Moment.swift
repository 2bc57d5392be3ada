import Fleet
import Glibc
import Wire

/// Moments as people type them.
enum Moment {
  static let wanted =
    "a time such as 2026-12-20, 2026-12-20T08:30 (both local), 2026-12-20T08:30:00Z, or 2h for two hours ago"

  /// - Parameter now: the wall clock.
  /// - Returns: since 1970; nil for what is no moment.
  static func read(_ text: String, now: Duration) -> Duration? {
    if let moment = WallClock.moment(text) { return moment }
    if let span = Duration(text: text) { return now - span }
    return local(text)
  }

  /// A day, or a day and a time of it, as this machine's wall shows them.
  private static func local(_ text: String) -> Duration? {
    // Filled up to a whole moment: midnight, the whole minute.
    let pattern = "0000-00-00T00:00:00"
    guard [10, 16, 19].contains(text.utf8.count) else { return nil }
    let whole = text.replacing(" ", with: "T", maxReplacements: 1) + pattern.dropFirst(text.utf8.count)
    guard let utc = WallClock.moment(whole + "Z") else { return nil }
    var seconds = time_t(utc.components.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    // 31 February and 25:00 come out as other moments.
    guard WallClock.rfc3339(utc).hasPrefix(whole) else { return nil }
    parts.tm_isdst = -1
    return .seconds(mktime(&parts))
  }
}
