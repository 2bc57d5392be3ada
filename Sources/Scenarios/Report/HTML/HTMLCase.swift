import Fleet
import Wire

/// One scenario on one phone: what it came to, and behind that each step, request and answer.
struct HTMLCase {
  let html: String

  init(_ item: RunCase, _ place: Int) {
    let verdict = item.verdict ?? .error
    let recovery = item.attempts.last?.finished?.recoverySeconds
    let seconds = item.attempts.compactMap(\.finished).reduce(0) { $0 + $1.seconds }
    var head =
      "<span class=\"verdict\">\(verdict.symbol) \(verdict.rawValue)</span> <b>\(HTMLText.of(item.scenario))</b>"
    if item.round > 1 { head += " (\(item.round))" }
    head += " <span class=\"quiet\">\(ReportText.span(seconds))"
    if let recovery { head += ", back after \(ReportText.span(recovery))" }
    if item.attempts.count > 1 { head += ", \(item.attempts.count) attempts" }
    head += "</span>"
    // The mark is inside: a browser that follows a link to it opens what is closed around it.
    let attempts = item.attempts.map { Self.attempt($0, isOnly: item.attempts.count == 1) }.joined()
    html =
      "<details class=\"case \(verdict.rawValue)\"\(verdict.isBad ? " open" : "")><summary>\(head)</summary>\n"
      + "<div id=\"case-\(place)\">\(attempts)</div></details>\n"
  }

  static func underWay(_ item: RunCase) -> String {
    "<p class=\"case quiet\">… under way: <b>\(HTMLText.of(item.scenario))</b></p>\n"
  }

  private static func attempt(_ attempt: RunAttempt, isOnly: Bool) -> String {
    guard let end = attempt.finished else { return "" }
    var html = ""
    if !isOnly {
      html += "<h3>Attempt \(attempt.number): \(end.verdict.symbol) \(end.verdict.rawValue)</h3>\n"
    }
    if let message = end.message {
      html += "<p class=\"message\">\(HTMLText.of("\(end.file):\(end.line): \(message)"))</p>\n"
    }
    if !attempt.steps.isEmpty {
      html += "<ol class=\"steps\">\n\(attempt.steps.map(step).joined())</ol>\n"
    }
    if !end.exchanges.isEmpty {
      html += "<p>Beside the steps:</p>\n\(exchanges(end.exchanges, leftOut: 0))"
    }
    if !end.log.isEmpty {
      let log = end.log.map(HTMLText.of).joined(separator: "\n")
      html += "<details class=\"log\"><summary>The phone's log around it</summary><pre>\(log)</pre></details>\n"
    }
    return html
  }

  private static func step(_ step: StepFinished) -> String {
    var html =
      "<li class=\"\(step.ok ? "held" : "not")\">\(step.ok ? "✓" : "✗") <code>\(HTMLText.of(step.step))</code> "
      + "<span class=\"quiet\">line \(step.line), \(ReportText.span(step.seconds))</span>"
    if !step.ok {
      let facts: [(String, String?)] = [("expected", step.expected), ("came", step.came)]
      html += HTMLPiece.facts(facts.compactMap { name, value in value.map { (name, $0) } })
    } else if let came = step.came, step.exchanges.isEmpty {
      html += "<br><span class=\"quiet\">\(HTMLText.of(came))</span>"
    }
    if !step.deeds.isEmpty {
      html += "<pre>\(step.deeds.map(HTMLText.of).joined(separator: "\n"))</pre>"
    }
    return html + exchanges(step.exchanges, leftOut: step.exchangesLeftOut) + "</li>\n"
  }

  private static func exchanges(_ exchanges: [Exchange], leftOut: Int) -> String {
    guard !exchanges.isEmpty else { return "" }
    let items = exchanges.map { "<li>\(HTMLText.of($0.line))</li>" }.joined()
    let more = leftOut > 0 ? "<li class=\"quiet\">and \(leftOut) more</li>" : ""
    return "<ul class=\"exchanges\">\(items)\(more)</ul>"
  }
}
