import Fleet
import Wire

/// What a run has shown so far, put together from its events: what reports are written from.
struct RunLedger: Equatable, Sendable {
  private(set) var number = 0
  private(set) var startedAt = ""
  /// The time of the last event.
  private(set) var at = ""
  private(set) var started: RunStarted?
  private(set) var finished: RunFinished?
  private(set) var cases: [RunCase] = []
  /// Each phone's last case.
  private var last: [UDID: Int] = [:]
  private var begun: Set<Place> = []

  init() {}

  /// - Returns: the case that the event belongs to, as a place in `cases`.
  @discardableResult
  mutating func take(_ event: RunEvent) -> Int? {
    number = event.run
    at = event.at
    switch event.happening {
    case .runStarted(let started):
      startedAt = event.at
      self.started = started
      return nil
    case .scenarioStarted(let event): return begin(event)
    case .stepFinished(let event):
      guard let place = last[event.udid] else { return nil }
      cases[place].add(event)
      return place
    case .scenarioFinished(let event):
      guard let place = last[event.udid] else { return nil }
      cases[place].end(event, at: at)
      return place
    case .runFinished(let event):
      finished = event
      return nil
    }
  }

  private mutating func begin(_ event: ScenarioStarted) -> Int {
    let attempt = RunAttempt(number: event.attempt, startedAt: at)
    if event.attempt > 1, let place = last[event.udid], cases[place].scenario == event.scenario {
      cases[place].attempts.append(attempt)
      return place
    }
    let file = started?.files.first { $0.scenario == event.scenario }?.file ?? ""
    begun.insert(Place(udid: event.udid, scenario: event.scenario))
    cases.append(
      RunCase(
        body: event.body, udid: event.udid, scenario: event.scenario, file: file, round: event.round,
        attempts: [attempt]))
    last[event.udid] = cases.count - 1
    return cases.count - 1
  }

  /// `run 17`; a run that no record keeps has no number.
  var name: String { number > 0 ? "run \(number)" : "run" }

  /// The phone as the run found it.
  func phone(_ udid: UDID) -> RunStarted.Phone? { started?.phones.first { $0.udid == udid } }

  /// What the run set out to judge and has not begun, phone by phone.
  var pending: [RunCase] {
    guard let started else { return [] }
    return started.phones.flatMap { phone in
      started.files.filter { phone.scenarios?.contains($0.scenario) ?? true }.filter {
        !begun.contains(Place(udid: phone.udid, scenario: $0.scenario))
      }.map { file in
        RunCase(
          body: phone.body, udid: phone.udid, scenario: file.scenario, file: file.file, round: 1, attempts: [])
      }
    }
  }

  private struct Place: Hashable, Sendable {
    var udid: UDID
    var scenario: String
  }

  /// The verdicts so far; of several attempts the last one counts.
  var counts: VerdictCounts {
    var counts = VerdictCounts()
    for verdict in cases.compactMap(\.verdict) { counts.add(verdict) }
    return counts
  }

  /// How many of how many were judged, on how many phones.
  var summary: String {
    let planned = started.map { $0.planned ?? cases.count } ?? 0
    return Summary.line(
      counts, planned: max(planned, cases.count), phones: started?.phones.count ?? 0, stopped: false)
  }
}

/// One scenario on one phone, with all attempts at it.
struct RunCase: Equatable, Sendable {
  var body: String?
  var udid: UDID
  var scenario: String
  var file: String
  /// Counted from 1 where a run repeats its scenarios.
  var round: Int
  var attempts: [RunAttempt]

  /// What people call the phone.
  var title: String { body ?? udid.description }

  /// The last attempt's; nil while it is under way or has not begun.
  var verdict: Verdict? { attempts.last?.finished?.verdict }

  mutating func add(_ event: StepFinished) {
    guard !attempts.isEmpty else { return }
    attempts[attempts.count - 1].steps.append(event)
  }

  mutating func end(_ event: ScenarioFinished, at time: String) {
    file = event.file
    guard !attempts.isEmpty else { return }
    attempts[attempts.count - 1].finished = event
    attempts[attempts.count - 1].finishedAt = time
    if event.verdict == .passed { attempts[attempts.count - 1].thin() }
  }
}

struct RunAttempt: Equatable, Sendable {
  var number: Int
  /// RFC 3339, UTC.
  var startedAt: String
  var finishedAt: String?
  var steps: [StepFinished] = []
  var finished: ScenarioFinished?

  init(number: Int, startedAt: String) {
    self.number = number
    self.startedAt = startedAt
  }

  /// The step that the verdict is about: the first that did not hold.
  var decisive: StepFinished? { steps.first { !$0.ok } }

  /// Of a pass the last exchange of each step is enough: a run of many phones stays small.
  fileprivate mutating func thin() {
    for index in steps.indices where steps[index].exchanges.count > 1 {
      steps[index].exchangesLeftOut += steps[index].exchanges.count - 1
      steps[index].exchanges.removeFirst(steps[index].exchanges.count - 1)
    }
    finished?.exchanges = []
  }
}
