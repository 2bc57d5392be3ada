import Fleet
import Glibc
import Wire

/// Markdown for the page of a step that runs on GitHub.
final class StepSummary: Report {
  let path: String
  /// The page takes a mebibyte for each step.
  private static let limit = 900 << 10

  init(_ path: String) { self.path = path }

  func take(_ event: RunEvent, _ ledger: RunLedger, changed: Int?) throws(ReportTrouble) {}

  /// Others may have written there before, so it is added to, and only once.
  func write(_ ledger: RunLedger, isLast: Bool) throws(ReportTrouble) {
    guard isLast else { return }
    let fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard fd >= 0 else { throw ReportTrouble(path: path, code: errno) }
    var code = ReportFile.append(Self.text(ledger), to: fd)
    if close(fd) != 0, code == 0 { code = errno }
    guard code == 0 else { throw ReportTrouble(path: path, code: code) }
  }

  static func text(_ ledger: RunLedger) -> String {
    var text = "## fleetctl \(ledger.name)\n\n\(plain(ledger.summary))\n"
    let shown = ledger.cases.filter { $0.verdict != .passed }
    guard !shown.isEmpty else { return text }
    text += "\n| verdict | scenario | body | why |\n|---|---|---|---|\n"
    for (number, item) in shown.enumerated() {
      if text.utf8.count > limit {
        text += "\n\(shown.count - number) more are in the other reports.\n"
        break
      }
      let last = item.attempts.last
      let why = last.flatMap { attempt in
        attempt.finished.map { ReportText.findings(attempt, $0).map(plain).joined(separator: "<br>") }
      }
      let verdict = item.verdict.map { "\($0.symbol) \($0.rawValue)" } ?? "under way"
      text += "| \(verdict) | \(plain(item.scenario)) | \(plain(item.title)) | \(why ?? "") |\n"
    }
    return text
  }

  /// Nothing in it can be taken for markup, or for the end of a cell.
  private static func plain(_ text: String) -> String {
    var plain = ""
    for character in AnswerText.visible(text) {
      switch character {
      case "\\", "`", "*", "_", "{", "}", "[", "]", "#", "|", "~", "!": plain += "\\\(character)"
      case "<": plain += "&lt;"
      case ">": plain += "&gt;"
      case "&": plain += "&amp;"
      default: plain.append(character)
      }
    }
    return plain
  }
}

/// Lines that GitHub shows beside the scenario file's line.
public enum Annotation {
  /// - Returns: nil for what needs none: passes, and what is known or meant.
  public static func line(_ event: ScenarioFinished) -> String? {
    let level: String
    switch event.verdict {
    case .failed, .error: level = "error"
    case .flaky: level = "warning"
    case .passed, .skipped, .quarantined: return nil
    }
    let title = "\(event.scenario) on \(event.body ?? event.udid.description): \(event.verdict.rawValue)"
    return "::\(level) file=\(property(event.file)),line=\(event.line),title=\(property(title))::"
      + text(event.message ?? event.verdict.rawValue)
  }

  private static func text(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": escaped += "%25"
      case "\r": escaped += "%0D"
      case "\n": escaped += "%0A"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func property(_ text: String) -> String {
    var escaped = ""
    for scalar in Self.text(text).unicodeScalars {
      switch scalar {
      case ":": escaped += "%3A"
      case ",": escaped += "%2C"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
