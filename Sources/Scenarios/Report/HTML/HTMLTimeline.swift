import Fleet
import Wire

/// What each phone did when: a row for each, a bar for each scenario.
struct HTMLTimeline {
  let html: String

  init(_ ledger: RunLedger) {
    guard let began = WallClock.moment(ledger.startedAt)?.inSeconds, let phones = ledger.started?.phones,
      let end = WallClock.moment(ledger.at)?.inSeconds, end > began, !ledger.cases.isEmpty
    else {
      html = ""
      return
    }
    var rows: [UDID: [String]] = [:]
    for (place, item) in ledger.cases.enumerated() {
      guard let first = item.attempts.first, let start = WallClock.moment(first.startedAt)?.inSeconds else { continue }
      let stop = item.attempts.last?.finishedAt.flatMap { WallClock.moment($0)?.inSeconds } ?? end
      let left = Self.percent((start - began) / (end - began))
      // Too short a bar could not be hit.
      let width = Self.percent(max((stop - start) / (end - began), 0.004))
      let verdict = item.verdict
      let title = HTMLText.of(
        "\(item.scenario): \(verdict?.rawValue ?? "under way"), \(ReportText.span(max(0, stop - start)))")
      let mark = "style=\"left:\(left)%;width:\(width)%\" title=\"\(title)\""
      rows[item.udid, default: []].append(
        verdict.map { "<a class=\"bar \($0.rawValue)\" href=\"#case-\(place)\" aria-label=\"\(title)\" \(mark)></a>" }
          ?? "<span class=\"bar\" \(mark)></span>")
    }
    let lines = phones.map { phone in
      "<div class=\"row\"><span class=\"name\">\(HTMLText.of(phone.body ?? phone.udid.description))</span>"
        + "<span class=\"track\">\((rows[phone.udid] ?? []).joined())</span></div>\n"
    }
    html =
      "<section aria-labelledby=\"when\">\n<h2 id=\"when\">Timeline, \(ReportText.span(end - began))</h2>\n"
      + "<div class=\"timeline\">\n\(lines.joined())</div>\n</section>\n"
  }

  private static func percent(_ part: Double) -> String {
    let hundredths = Int((min(max(part, 0), 1) * 10_000).rounded())
    return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst())"
  }
}
