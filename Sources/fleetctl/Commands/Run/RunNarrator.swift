import Fleet
import Scenarios
import Wire

/// Turns a run's events into lines for people.
struct RunNarrator: Sendable {
  private struct Place: Hashable, Sendable {
    var udid: UDID
    var scenario: String
  }

  /// A scenario on a phone that has its verdict.
  private struct Ending: Sendable {
    var finished: ScenarioFinished
    /// What broke first.
    var step: StepFinished?
    var place: Place { Place(udid: finished.udid, scenario: finished.scenario) }
  }

  let style: Style
  private(set) var board = RunBoard()
  private var endings: [Ending] = []
  /// The last step of a scenario under way that did not hold.
  private var broken: [Place: StepFinished] = [:]
  private var under: [UDID: String] = [:]
  private var total = 0

  init(style: Style) { self.style = style }

  /// The lines that an event adds to the results.
  mutating func lines(for event: RunEvent) -> [String] {
    board.take(event)
    switch event.happening {
    case .runStarted(let started):
      total = started.planned ?? started.files.count * started.phones.count
      return []
    case .scenarioStarted(let started):
      under[started.udid] = "\(Self.title(started.body, started.udid)) \(started.scenario)"
      let place = Place(udid: started.udid, scenario: started.scenario)
      // Another attempt takes the place of the one before it.
      if started.attempt > 1, let index = endings.lastIndex(where: { $0.place == place }) {
        endings.remove(at: index)
      }
      return []
    case .stepFinished(let step):
      let place = Place(udid: step.udid, scenario: step.scenario)
      // What broke first is what the verdict is about; what fails after it may only follow from it.
      if !step.ok, broken[place] == nil { broken[place] = step }
      return []
    case .scenarioFinished(let scenario):
      under[scenario.udid] = nil
      let place = Place(udid: scenario.udid, scenario: scenario.scenario)
      let ending = Ending(finished: scenario, step: broken.removeValue(forKey: place))
      endings.append(ending)
      return head(scenario) + why(ending).map { "    \($0)" }
    case .runFinished: return []
    }
  }

  /// Where the run is, in one line.
  var progress: String {
    let now = under.values.sorted().joined(separator: ", ")
    return "\(endings.count) of \(max(total, endings.count)) done\(now.isEmpty ? "" : ": \(now)")".printable
  }

  /// What has to be looked at, once more and together; nothing where all is well.
  var closing: [String] {
    let bad = endings.filter { $0.finished.verdict == .failed || $0.finished.verdict == .error }
    guard !bad.isEmpty else { return [] }
    return ["", "To be looked at:"]
      + bad.flatMap { ending -> [String] in
        let title = Self.title(ending.finished.body, ending.finished.udid).printable
        let name = "\(ending.finished.scenario.printable) on \(title)"
        return ["  \(ending.finished.verdict.symbol) \(painted(ending.finished.verdict)) \(name)"]
          + (why(ending) + exchanges(ending)).map { "      \($0)" }
      } + [""]
  }

  /// The same as GitHub shows it beside the files.
  var annotations: [String] { endings.compactMap { Annotation.line($0.finished) } }

  private func head(_ scenario: ScenarioFinished) -> [String] {
    var head = [
      scenario.verdict.symbol, painted(scenario.verdict), scenario.scenario.printable,
      "on \(Self.title(scenario.body, scenario.udid).printable)", seconds(scenario.seconds),
    ].joined(separator: " ")
    if let recovery = scenario.recoverySeconds { head += ", back after \(seconds(recovery))" }
    if scenario.attempt > 1 { head += ", attempt \(scenario.attempt)" }
    return [head]
  }

  private func why(_ ending: Ending) -> [String] {
    let scenario = ending.finished
    guard scenario.verdict != .passed else { return [] }
    guard let step = ending.step, step.expected != nil || step.came != nil else {
      let message = scenario.message.map { ": \($0)" } ?? ""
      return ["\(scenario.file):\(scenario.line)\(message)".printable]
    }
    var lines = ["\(step.file):\(step.line): \(step.step)".printable]
    if let expected = step.expected { lines.append("  expected: \(expected)".printable) }
    if let came = step.came { lines.append("  came:     \(came)".printable) }
    if let left = scenario.notUndone { lines.append("  not undone: \(left)".printable) }
    return lines
  }

  /// The last of them say most; those that say the same say it once.
  private func exchanges(_ ending: Ending) -> [String] {
    var shown: [Exchange] = []
    for exchange in (ending.step?.exchanges ?? []).suffix(3) {
      if let last = shown.last, last.request == exchange.request, last.answer == exchange.answer { shown.removeLast() }
      shown.append(exchange)
    }
    return shown.map { "  exchange: \($0.line)".printable }
  }

  private func painted(_ verdict: Verdict) -> String {
    switch verdict {
    case .passed: style.good(verdict.rawValue)
    case .failed, .error: style.bad(verdict.rawValue)
    case .skipped, .flaky, .quarantined: style.odd(verdict.rawValue)
    }
  }

  private func seconds(_ seconds: Double) -> String { Duration.milliseconds(Int64((seconds * 1000).rounded())).shown }

  private static func title(_ body: String?, _ udid: UDID) -> String { body ?? udid.description }
}
