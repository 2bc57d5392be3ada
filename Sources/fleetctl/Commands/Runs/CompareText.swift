import Fleet
import Scenarios
import Wire

/// A comparison as lines and as objects.
struct CompareText {
  private let before: ComparedRun
  private let after: ComparedRun
  private let comparison: Comparison
  private let style: Style

  init(_ before: ComparedRun, _ after: ComparedRun, _ comparison: Comparison, style: Style) {
    self.before = before
    self.after = after
    self.comparison = comparison
    self.style = style
  }

  var lines: [String] {
    var lines = ["\(title(before)) → \(title(after))"]
    if comparison.changes.isEmpty { lines.append("Nothing was changed between them.") }
    lines += comparison.changes.map { "  changed: \(Self.text($0))".printable }
    for kind in Comparison.Difference.Kind.allCases {
      let those = comparison.differences.filter { $0.kind == kind }
      guard !those.isEmpty else { continue }
      lines.append("\(painted(kind)) (\(those.count)):")
      lines += those.map { "  \(Self.text($0))".printable }
    }
    if comparison.differences.isEmpty { lines.append("Nothing fares differently.") }
    lines.append("\(comparison.comparable) compared")
    return lines
  }

  var objects: [JSON] {
    [Self.object(before, "before"), Self.object(after, "after")] + comparison.changes.map(Self.object)
      + comparison.differences.map(Self.object)
  }

  /// Why the command does not end with 0.
  var complaint: String {
    let failing = comparison.differences.count { $0.kind == .newlyFailing }
    if failing > 0 {
      return "\(failing) \(failing == 1 ? "scenario fails" : "scenarios fail") that did not fail before. "
        + "The lines under 'newly failing' say which and why. See one's past: fleetctl runs --scenario S --body B."
    }
    return
      "There is nothing to compare: no scenario was judged on one body in both runs. They may be of other phones or scenarios. "
      + "Choose others: fleetctl runs."
  }

  private func title(_ run: ComparedRun) -> String {
    let label = run.run.label.map { ", \($0)" } ?? ""
    return "\(run.title) (\(LocalTime.text(run.run.startedAt))\(label))".printable
  }

  private func painted(_ kind: Comparison.Difference.Kind) -> String {
    switch kind {
    case .newlyFailing: style.bad("newly failing")
    case .fixed: style.good("fixed")
    case .stillFailing: style.bad("still failing")
    case .flaky: style.odd("flaky")
    case .slower: style.odd("slower to recover")
    case .notJudged: style.odd("not judged any more")
    }
  }

  private static func text(_ change: Comparison.Change) -> String {
    let subjects = change.subjects.joined(separator: ", ")
    let values = "\(change.before ?? "?") → \(change.after ?? "?")"
    return switch change.what {
    case .build: "build \(values) on \(subjects)"
    case .ios: "iOS \(values) on \(subjects)"
    case .phone: "another phone is \(subjects): \(values)"
    case .usbPort: "USB port \(values) of \(subjects)"
    case .fleetctl: "fleetctl \(values)"
    case .scenario: "scenario file of \(subjects) (\(values))"
    case .addedScenario: "new scenarios: \(subjects)"
    case .removedScenario: "scenarios no more there: \(subjects)"
    case .addedBody: "new bodies: \(subjects)"
    case .removedBody: "bodies no more there: \(subjects)"
    case .unfinished: "\(subjects) did not come to an end"
    }
  }

  private static func text(_ difference: Comparison.Difference) -> String {
    let name = "\(difference.scenario) on \(difference.body)"
    let was = difference.before?.verdict.rawValue ?? "not run"
    let message = difference.after?.message.map { ": \($0)" } ?? ""
    switch difference.kind {
    case .newlyFailing, .stillFailing:
      let place = difference.after.map { " \($0.file):\($0.line)" } ?? ""
      return "\(name)\(place) (was \(was))\(message)"
    case .fixed: return name
    case .flaky: return "\(name) (was \(was))\(message)"
    case .notJudged: return "\(name): \(difference.after?.verdict.rawValue ?? "not run") (was \(was))\(message)"
    case .slower:
      let span = { (row: VerdictRow?) in row?.recoverySeconds.map(RunText.words) ?? "?" }
      return "\(name): back after \(span(difference.before)) → \(span(difference.after))"
    }
  }

  private static func object(_ run: ComparedRun, _ side: String) -> JSON {
    [
      "run": .string(run.title), "side": .string(side), "number": .integer(Int64(run.run.number)),
      "started_at": .string(run.run.startedAt), "label": .text(run.run.label), "version": .string(run.run.version),
      "finished": .boolean(run.isWhole),
    ]
  }

  private static func object(_ change: Comparison.Change) -> JSON {
    [
      "change": .string(change.what.rawValue), "subjects": .array(change.subjects.map(JSON.string)),
      "before": .text(change.before), "after": .text(change.after),
    ]
  }

  private static func object(_ difference: Comparison.Difference) -> JSON {
    [
      "difference": .string(difference.kind.rawValue), "body": .string(difference.body),
      "scenario": .string(difference.scenario), "was": .text(difference.before?.verdict.rawValue),
      "now": .text(difference.after?.verdict.rawValue), "message": .text(difference.after?.message),
      "file": .text(difference.after?.file ?? difference.before?.file),
      "line": (difference.after ?? difference.before).map { .integer(Int64($0.line)) } ?? .null,
      "was_recovery_s": RunText.number(difference.before?.recoverySeconds),
      "recovery_s": RunText.number(difference.after?.recoverySeconds),
    ]
  }
}
