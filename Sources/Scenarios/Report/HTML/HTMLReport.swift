import Fleet
import Wire

/// One page that needs nothing beside itself: no script, no picture, no network.
final class HTMLReport: Report {
  private let file: ReportFile
  /// A case's finished text, by its place in the ledger.
  private var done: [Int: String] = [:]

  init(_ path: String) { file = ReportFile(path) }

  var path: String { file.path }

  func take(_ event: RunEvent, _ ledger: RunLedger, changed: Int?) throws(ReportTrouble) {
    if let changed { done[changed] = nil }
  }

  func write(_ ledger: RunLedger, isLast: Bool) throws(ReportTrouble) {
    for (place, item) in ledger.cases.enumerated() where done[place] == nil && item.verdict != nil {
      done[place] = HTMLCase(item, place).html
    }
    try file.replace(with: page(ledger, isLast: isLast), isLast: isLast)
  }

  private func page(_ ledger: RunLedger, isLast: Bool) -> [String] {
    let counts = ledger.counts
    let title = "\(ledger.number > 0 ? "Run \(ledger.number)" : "Run"): \(HTMLText.of(Self.verdicts(counts)))"
    var parts = [
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
      <link rel="icon" href="data:,">
      <title>\(title)</title>
      <style>\(HTMLStyle.text)</style>
      </head>
      <body>
      <header>
      <h1>\(title)</h1>
      <p>\(HTMLText.of(ledger.summary))</p>

      """
    ]
    if !isLast || ledger.finished == nil {
      let at = HTMLText.of(ledger.at)
      parts.append(
        "<p class=\"notice\">The run was under way when this was written\(at.isEmpty ? "" : ", \(at)").</p>\n")
    }
    parts.append(facts(ledger))
    parts.append("</header>\n<main>\n")
    parts.append(Self.failures(ledger))
    parts.append(HTMLTimeline(ledger).html)
    parts += phones(ledger)
    parts.append("</main>\n</body>\n</html>\n")
    return parts
  }

  private static func verdicts(_ counts: VerdictCounts) -> String {
    let words = Verdict.allCases.filter { counts[$0] > 0 }.map { "\(counts[$0]) \($0.rawValue)" }
    return words.isEmpty ? "nothing judged" : words.joined(separator: ", ")
  }

  private func facts(_ ledger: RunLedger) -> String {
    var facts: [(String, String)] = [("started", ledger.startedAt)]
    if let seconds = ledger.finished?.seconds { facts.append(("took", ReportText.span(seconds))) }
    if let started = ledger.started {
      facts.append(("fleetctl", started.version))
      if let label = started.label { facts.append(("label", label)) }
      facts += started.meta.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    return HTMLPiece.facts(facts)
  }

  /// What has to be looked at, first.
  private static func failures(_ ledger: RunLedger) -> String {
    let bad = ledger.cases.enumerated().filter { $0.element.verdict?.isBad ?? false }
    guard !bad.isEmpty else { return "" }
    let items = bad.map { place, item -> String in
      let verdict = item.verdict ?? .error
      let findings =
        item.attempts.last.flatMap { attempt in attempt.finished.map { ReportText.findings(attempt, $0) } } ?? []
      let lines = findings.map { "<br><span class=\"finding\">\(HTMLText.of($0))</span>" }.joined()
      return "<li class=\"\(verdict.rawValue)\"><a href=\"#case-\(place)\">\(verdict.symbol) \(verdict.rawValue) "
        + "\(HTMLText.of(item.scenario)) on \(HTMLText.of(item.title))</a>\(lines)</li>\n"
    }
    return "<section aria-labelledby=\"bad\">\n<h2 id=\"bad\">Failures and errors</h2>\n<ol class=\"bad\">\n"
      + items.joined() + "</ol>\n</section>\n"
  }

  private func phones(_ ledger: RunLedger) -> [String] {
    var parts: [String] = []
    for (number, phone) in (ledger.started?.phones ?? []).enumerated() {
      let places = ledger.cases.indices.filter { ledger.cases[$0].udid == phone.udid }
      let title = HTMLText.of(phone.body ?? phone.udid.description)
      parts.append("<section aria-labelledby=\"phone-\(number)\">\n<h2 id=\"phone-\(number)\">\(title)</h2>\n")
      parts.append(HTMLPiece.facts(ReportText.facts(phone)))
      for place in places { parts.append(done[place] ?? HTMLCase.underWay(ledger.cases[place])) }
      parts.append("</section>\n")
    }
    return parts
  }
}

/// Small pieces of the page.
enum HTMLPiece {
  static func facts(_ facts: [(String, String)]) -> String {
    let rows = facts.map { "<div><dt>\(HTMLText.of($0.0))</dt><dd>\(HTMLText.of($0.1))</dd></div>" }
    return "<dl class=\"facts\">\(rows.joined())</dl>\n"
  }
}

extension Verdict {
  /// Somebody has to look at it.
  var isBad: Bool {
    switch self {
    case .failed, .error: true
    case .passed, .skipped, .flaky, .quarantined: false
    }
  }
}
