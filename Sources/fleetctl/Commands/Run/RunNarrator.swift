import Fleet
import Scenarios
import Wire

/// Turns a run's events into lines for people.
struct RunNarrator: Sendable {
  private struct Place: Hashable, Sendable {
    var udid: UDID
    var scenario: String
  }

  let style: Style
  private var total = 0
  private var finished = 0
  private var counts = VerdictCounts()
  /// The last step of a scenario under way that did not hold.
  private var broken: [Place: StepFinished] = [:]
  private var under: [UDID: String] = [:]

  init(style: Style) { self.style = style }

  /// The lines that an event adds to the results.
  mutating func lines(for event: RunEvent) -> [String] {
    switch event.happening {
    case .runStarted(let started):
      total = started.files.count * started.phones.count
      return []
    case .scenarioStarted(let started):
      under[started.udid] = "\(Self.title(started.body, started.udid)) \(started.scenario)"
      return []
    case .stepFinished(let step):
      let place = Place(udid: step.udid, scenario: step.scenario)
      // What broke first is what the verdict is about; what fails after it may only follow from it.
      if !step.ok, broken[place] == nil { broken[place] = step }
      return []
    case .scenarioFinished(let scenario): return lines(for: scenario)
    case .runFinished: return []
    }
  }

  /// Where the run is, in one line.
  var progress: String {
    let now = under.values.sorted().joined(separator: ", ")
    return "\(finished) of \(total) done\(now.isEmpty ? "" : ": \(now)")".printable
  }

  private mutating func lines(for scenario: ScenarioFinished) -> [String] {
    finished += 1
    under[scenario.udid] = nil
    let step = broken.removeValue(forKey: Place(udid: scenario.udid, scenario: scenario.scenario))
    let title = Self.title(scenario.body, scenario.udid)
    var head = [
      scenario.verdict.symbol, painted(scenario.verdict), scenario.scenario.printable, "on \(title.printable)",
      seconds(scenario.seconds),
    ].joined(separator: " ")
    if let recovery = scenario.recoverySeconds { head += ", back after \(seconds(recovery))" }
    guard scenario.verdict != .passed else { return [head] }
    guard let step, step.expected != nil || step.came != nil else {
      let message = scenario.message.map { ": \($0)" } ?? ""
      return [head, "    \(scenario.file):\(scenario.line)\(message)".printable]
    }
    var lines = [head, "    \(step.file):\(step.line): \(step.step)".printable]
    if let expected = step.expected { lines.append("      expected: \(expected)".printable) }
    if let came = step.came { lines.append("      came:     \(came)".printable) }
    if let left = scenario.notUndone { lines.append("      not undone: \(left)".printable) }
    return lines
  }

  private func painted(_ verdict: Verdict) -> String {
    switch verdict {
    case .passed: style.good(verdict.rawValue)
    case .failed, .error: style.bad(verdict.rawValue)
    case .skipped, .flaky, .quarantined: style.odd(verdict.rawValue)
    }
  }

  private func seconds(_ seconds: Double) -> String { Duration.milliseconds(Int64((seconds * 1000).rounded())).words }

  private static func title(_ body: String?, _ udid: UDID) -> String { body ?? udid.description }
}
