import Wire

/// Times as the page shows them: exact in the words, and beside them how long ago, which its script keeps current.
struct PageTime: Sendable {
  /// The wall clock, since 1970.
  var now: Duration

  /// `4:10`, `1:02:03`, `3 days`: the script writes it the same way.
  static func span(_ span: Duration) -> String {
    let seconds = max(0, span.components.seconds)
    if seconds >= 172_800 { return "\(seconds / 86_400) days" }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }

  /// `2026-12-20 09:30:00 +0100`, on this machine's wall.
  static func local(_ moment: Duration) -> String {
    let text = WallClock.rfc3339(moment)
    return WallClock.local(text) ?? text
  }

  /// `4:10 ago`.
  func ago(_ moment: Duration) -> String { time(moment, Self.span(now - moment) + " ago", "ago") }

  /// `for 4:10`.
  func length(since moment: Duration) -> String { time(moment, Self.span(now - moment), "for") }

  /// `in 0:50`, or `now`.
  func until(_ moment: Duration) -> String {
    time(moment, moment > now ? "in " + Self.span(moment - now) : "now", "in")
  }

  private func time(_ moment: Duration, _ text: String, _ kind: String) -> String {
    let exact = HTMLText.of(WallClock.rfc3339(moment))
    return
      "<time datetime=\"\(exact)\" data-kind=\"\(kind)\" title=\"\(HTMLText.of(Self.local(moment)))\">\(text)</time>"
  }
}
