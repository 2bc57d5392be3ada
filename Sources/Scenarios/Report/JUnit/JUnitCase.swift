import Fleet

/// One scenario on one body as a `testcase`.
struct JUnitCase {
  enum Outcome { case good, failure, error, skipped }

  let outcome: Outcome
  let seconds: Double
  /// 0 for what was not begun.
  let attempts: Int
  /// ` (2)` for the second of the same name.
  private(set) var suffix = ""
  private let className: String
  private let name: String
  /// What stands between the tags.
  private let inside: String

  /// A case that has its verdict.
  init(_ item: RunCase, _ ledger: RunLedger) {
    className = Self.className(item)
    name = item.scenario
    attempts = item.attempts.count
    let finished = item.attempts.compactMap(\.finished)
    seconds = finished.reduce(0) { $0 + $1.seconds }
    var inside = ""
    switch item.verdict {
    case .passed: outcome = .good
    case .flaky: outcome = .good
    case .failed: outcome = .failure
    case .error, nil: outcome = .error
    case .skipped, .quarantined: outcome = .skipped
    }
    if let last = item.attempts.last, let end = last.finished { inside += Self.verdict(last, end) }
    for attempt in item.attempts.dropLast() {
      if let end = attempt.finished { inside += Self.earlier(attempt, end, isFlaky: item.verdict == .flaky) }
    }
    let out = Self.systemOut(item, ledger)
    self.inside = inside + "      <system-out>\(XMLText.content(out))</system-out>\n"
  }

  /// A case that runs while the report is written.
  init(underWay item: RunCase) {
    className = Self.className(item)
    name = item.scenario
    attempts = item.attempts.count
    seconds = 0
    outcome = .error
    let message = "not judged: it was under way when this was written"
    inside = "      <error type=\"under-way\" message=\"\(message)\">\(message)</error>\n"
  }

  /// A case that has not begun.
  init(pending item: RunCase, isOver: Bool) {
    className = Self.className(item)
    name = item.scenario
    attempts = 0
    seconds = 0
    outcome = .skipped
    let message = isOver ? "not run: the run ended before it" : "not run yet when this was written"
    inside = "      <skipped type=\"not-run\" message=\"\(message)\"/>\n"
  }

  var xml: String {
    "    <testcase name=\"\(XMLText.attribute(name + suffix))\" classname=\"\(XMLText.attribute(className))\""
      + " time=\"\(JUnitReport.time(seconds))\">\n\(inside)    </testcase>\n"
  }

  /// The same under a name that no other case of its class has.
  func renamed(uniqueIn names: inout Set<String>) -> JUnitCase {
    var renamed = self
    var number = 1
    while !names.insert("\(className)\n\(name)\(renamed.suffix)").inserted {
      number += 1
      renamed.suffix = " (\(number))"
    }
    return renamed
  }

  /// The scenario's file, without folder and ending, and the body's name. Readers split it at the last full stop, so
  /// there is just one.
  static func className(_ item: RunCase) -> String {
    let file = item.file.split(separator: "/").last.map(String.init) ?? item.scenario
    let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    return "\(plain(stem)).\(plain(item.title))"
  }

  private static func plain(_ text: String) -> String { String(text.map { $0 == "." ? "_" : $0 }) }

  private static func verdict(_ attempt: RunAttempt, _ end: ScenarioFinished) -> String {
    switch end.verdict {
    case .passed, .flaky: ""
    case .failed: element("failure", attempt, end)
    case .error: element("error", attempt, end)
    case .skipped: "      <skipped type=\"skipped\" message=\"\(XMLText.attribute(end.message ?? "skipped"))\"/>\n"
    case .quarantined:
      "      <skipped type=\"quarantined\" message=\"\(XMLText.attribute(Self.apart(end)))\"/>\n"
    }
  }

  private static func apart(_ end: ScenarioFinished) -> String {
    let message = end.message ?? ""
    return message.hasPrefix("quarantined") ? message : "quarantined: \(message)"
  }

  private static func element(_ name: String, _ attempt: RunAttempt, _ end: ScenarioFinished) -> String {
    let message = XMLText.attribute(end.message ?? end.verdict.rawValue)
    let text = XMLText.content(ReportText.findings(attempt, end).joined(separator: "\n"))
    return "      <\(name) type=\"\(end.verdict.rawValue)\" message=\"\(message)\">\(text)</\(name)>\n"
  }

  /// An attempt before the last one.
  private static func earlier(_ attempt: RunAttempt, _ end: ScenarioFinished, isFlaky: Bool) -> String {
    let isError = end.verdict == .error
    let name = isFlaky ? (isError ? "flakyError" : "flakyFailure") : (isError ? "rerunError" : "rerunFailure")
    let message = XMLText.attribute(end.message ?? end.verdict.rawValue)
    let text = XMLText.content(ReportText.findings(attempt, end).joined(separator: "\n"))
    return
      "      <\(name) type=\"\(end.verdict.rawValue)\" message=\"\(message)\"><stackTrace>\(text)</stackTrace></\(name)>\n"
  }

  /// What somebody needs who sees nothing but this: whoever reads it in Jenkins has no access to the box.
  private static func systemOut(_ item: RunCase, _ ledger: RunLedger) -> String {
    var lines: [String] = []
    if let phone = ledger.phone(item.udid) {
      lines.append("phone: \(item.title), udid \(phone.udid), \(phone.model ?? "model unknown")")
      lines.append("iOS: \(phone.ios ?? "unknown")")
      lines.append("build: \(ReportText.build(phone) ?? "unknown")")
      lines.append("USB port: \(phone.usbPort ?? "unknown")")
    }
    for attempt in item.attempts {
      guard let end = attempt.finished else { continue }
      var head = "attempt \(attempt.number), \(attempt.startedAt): \(end.verdict.rawValue)"
      head += " after \(ReportText.span(end.seconds))"
      if let recovery = end.recoverySeconds { head += ", back after \(ReportText.span(recovery))" }
      lines.append(head)
      for step in attempt.steps { lines += Self.lines(step) }
      lines += end.exchanges.map { "    \($0.line)" }
      guard !end.log.isEmpty else { continue }
      lines.append("the phone's log around it:")
      lines += end.log.map { "    \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ step: StepFinished) -> [String] {
    var lines = ["  \(step.ok ? "ok  " : "NOT ") line \(step.line): \(step.step) (\(ReportText.span(step.seconds)))"]
    if !step.ok {
      if let expected = step.expected { lines.append("    expected: \(expected)") }
      if let came = step.came { lines.append("    came: \(came)") }
    }
    lines += step.exchanges.map { "    \($0.line)" }
    lines += step.deeds.map { "    \($0)" }
    if step.exchangesLeftOut > 0 { lines.append("    (\(step.exchangesLeftOut) more exchanges)") }
    return lines
  }
}
