import Fleet
import Wire

/// Pieces of text that reports share.
enum ReportText {
  /// `640 ms`, `4.2 s`, `3 min 5 s`.
  static func span(_ seconds: Double) -> String {
    let milliseconds = Int((max(0, seconds) * 1_000).rounded())
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    if tenths < 600 { return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s" }
    let whole = (milliseconds + 500) / 1_000
    return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
  }

  /// `com.example.kiosk 3.2.0 (412)`, as far as it is known.
  static func build(_ phone: RunStarted.Phone) -> String? {
    guard let bundle = phone.bundle else { return nil }
    return ([bundle, phone.version, phone.build.map { "(\($0))" }] as [String?]).compactMap { $0 }
      .joined(separator: " ")
  }

  /// The facts of a phone under a run, one a line: name and value.
  static func facts(_ phone: RunStarted.Phone) -> [(name: String, value: String)] {
    let facts: [(String, String?)] = [
      ("udid", phone.udid.description), ("model", phone.model), ("ios", phone.ios), ("bundle", phone.bundle),
      ("version", phone.version), ("build", phone.build), ("usb_port", phone.usbPort),
    ]
    return facts.compactMap { name, value in value.map { (name, $0) } }
  }

  /// What did not hold, in lines: place, expected, came, what was not undone.
  static func findings(_ attempt: RunAttempt, _ finished: ScenarioFinished) -> [String] {
    guard let step = attempt.decisive, step.expected != nil || step.came != nil else {
      return ["\(finished.file):\(finished.line): \(finished.message ?? finished.verdict.rawValue)"]
    }
    var lines = ["\(step.file):\(step.line): \(step.step)"]
    if let expected = step.expected { lines.append("expected: \(expected)") }
    if let came = step.came { lines.append("came: \(came)") }
    if let left = finished.notUndone { lines.append("not undone: \(left)") }
    return lines
  }
}

extension Exchange {
  /// Request, answer and time in one line.
  public var line: String {
    var answer = answer
    // `AnswerText` ends with a comma, for "after 0.1 s" to follow.
    if answer.last == "," { answer.removeLast() }
    return "\(request) → \(answer) (\(ReportText.span(seconds)))"
  }
}
