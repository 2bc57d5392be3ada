/// Judges one attempt at a scenario: from what happened to what is done next, and at the end to a verdict with its reason.
///
/// A pure value: it waits for nothing and reaches for nothing. Whoever runs it performs the commands and reports each one's
/// event back. The steps come first; a step that does not hold ends them. Then, whatever happened, what took the app out of
/// service is undone, `recovers` is run, and the rest is undone; each arrangement exactly once, the last one first.
///
/// Requests that run beside the steps may report at any time. What they report counts at their `finish` step and nowhere
/// else, so the order in which things happen to arrive does not change a verdict.
public struct Judge: Sendable {
  public enum Phase: Equatable, Sendable { case steps, recovers }

  /// One step as far as the judge cares.
  public struct PlannedStep: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
      case arrange, plain
      case start(String)
      case finish(String)
    }
    public var kind: Kind
    public var line: Int
    public init(kind: Kind, line: Int) {
      self.kind = kind
      self.line = line
    }
  }

  public struct Plan: Equatable, Sendable {
    /// The lines of the needs.
    public var needs: [Int]
    public var steps: [PlannedStep]
    public var recovers: [PlannedStep]
    public init(needs: [Int], steps: [PlannedStep], recovers: [PlannedStep]) {
      self.needs = needs
      self.steps = steps
      self.recovers = recovers
    }
  }

  public enum Event: Equatable, Sendable {
    case begin
    /// The phone was reached and every state has its means, there and back.
    case surveyed(StepResult)
    case need(Int, StepResult)
    /// Sent before any means of the state is used.
    case arranging(Arrangement)
    case step(Phase, Int, StepResult, took: Duration)
    /// A started request has ended, judged against what its `finish` expects.
    case parallel(Phase, String, StepResult, took: Duration)
    /// `problem` says why what was arranged may still be so.
    case undone(Int, problem: String?)
    /// The run is being stopped; the step under way reports once more.
    case stopped
  }

  public enum Command: Equatable, Sendable {
    case survey
    case meet(Int)
    case run(Phase, Int)
    case report(Phase, Int, StepResult, took: Duration)
    /// Started requests that nobody waits for any more.
    case abandonStarted
    /// The number counts the `arranging` events from 0.
    case undo(Int)
    case end(Judgement)
  }

  private enum State: Equatable {
    case idle, surveying
    case meeting(Int)
    case running(Phase, Int)
    /// A `finish` step whose request is still under way.
    case awaiting(Phase, Int, String)
    case undoing(Int)
    case ended
  }

  private let plan: Plan
  private var state = State.idle
  private var findings = Findings()
  private var arrangements: [Arrangement] = []
  private var waitingForUndo: [Int] = []
  private var parallel: [String: (result: StepResult, took: Duration)] = [:]
  private var isStopped = false
  /// Everything has held to the end of `recovers`.
  private var isJudged = false
  /// Something other than a need has been changed, so that it is too late to call the scenario skipped.
  private var hasBegun = false
  private var recoversRan = false
  private var recoveryBegan: Duration?

  public init(_ plan: Plan) { self.plan = plan }

  /// - Parameter time: on the scenario's clock.
  public mutating func take(_ event: Event, at time: Duration) -> [Command] {
    switch (event, state) {
    case (.begin, .idle):
      state = .surveying
      return [.survey]
    case (.surveyed(let result), .surveying):
      findings.survey(result)
      return goOn(result, at: time)
    case (.need(let number, let result), .meeting(let current)) where number == current:
      findings.need(result, line: plan.needs[number])
      return goOn(result, at: time)
    case (.step(let phase, let number, let result, let took), _) where state == .running(phase, number):
      return finished(phase, number, result, took: took, at: time)
    case (.parallel(let phase, let name, let result, let took), _):
      if case .awaiting(phase, let number, let awaited) = state, awaited == name {
        return finished(phase, number, result, took: took, at: time)
      }
      // What was started beside the steps has no word any more once they are over.
      if phase == .recovers || !recoversRan { parallel[name] = (result, took) }
      return []
    case (.arranging(let arrangement), .meeting), (.arranging(let arrangement), .running):
      waitingForUndo.append(arrangements.count)
      arrangements.append(arrangement)
      return []
    case (.undone(let number, let problem), .undoing(let current)) where number == current:
      if let problem { findings.undo(problem, beforeRecovers: !recoversRan) }
      return windUp(at: time)
    case (.stopped, _):
      isStopped = true
      // Nothing is under way that would report once more.
      if case .awaiting = state { return windUp(at: time) }
      return []
    case (.begin, _), (.surveyed, _), (.need, _), (.step, _), (.arranging, _), (.undone, _):
      // Late word of something that is over.
      return []
    }
  }
}

extension Arrangement {
  /// The phone may be out of service because of it.
  fileprivate var isBegun: Bool { moment == .beforeRecovers && !wasFound }
}

extension Judge {
  private func steps(of phase: Phase) -> [PlannedStep] {
    switch phase {
    case .steps: plan.steps
    case .recovers: plan.recovers
    }
  }

  private mutating func finished(
    _ phase: Phase, _ number: Int, _ result: StepResult, took: Duration, at time: Duration
  ) -> [Command] {
    let step = steps(of: phase)[number]
    findings.step(phase, result, line: step.line, canSkip: phase == .steps && !hasBegun)
    if phase == .steps, step.kind != .arrange || arrangements.contains(where: { $0.isBegun }) {
      hasBegun = true
    }
    return [.report(phase, number, result, took: took)] + goOn(result, at: time)
  }

  /// Takes the next thing in hand, or winds up after one that did not hold.
  private mutating func goOn(_ result: StepResult, at time: Duration) -> [Command] {
    guard result.isHeld, !isStopped else { return windUp(at: time) }
    switch state {
    case .surveying: return next(need: 0, at: time)
    case .meeting(let number): return next(need: number + 1, at: time)
    case .running(let phase, let number), .awaiting(let phase, let number, _):
      return next(phase, number + 1, at: time)
    case .idle, .undoing, .ended: return []
    }
  }

  private mutating func next(need number: Int, at time: Duration) -> [Command] {
    guard number < plan.needs.count else { return next(.steps, 0, at: time) }
    state = .meeting(number)
    return [.meet(number)]
  }

  private mutating func next(_ phase: Phase, _ number: Int, at time: Duration) -> [Command] {
    let steps = steps(of: phase)
    guard number < steps.count else {
      if phase == .recovers {
        isJudged = true
        findings.recovery = recoveryBegan.map { time - $0 }
      }
      return windUp(at: time)
    }
    if case .finish(let name) = steps[number].kind {
      state = .awaiting(phase, number, name)
      guard let (result, took) = parallel.removeValue(forKey: name) else { return [] }
      return finished(phase, number, result, took: took, at: time)
    }
    state = .running(phase, number)
    return [.run(phase, number)]
  }

  /// Undoes what is due, runs `recovers` once, undoes the rest, ends.
  private mutating func windUp(at time: Duration) -> [Command] {
    var commands: [Command] = []
    if case .undoing = state {} else { commands.append(.abandonStarted) }
    let recoversAreDue = !recoversRan && !isStopped && !findings.isSkipped && findings.surveyHeld && findings.needsHeld
    if let number = waitingForUndo.lastIndex(where: { !recoversAreDue || arrangements[$0].moment == .beforeRecovers }) {
      let arrangement = waitingForUndo.remove(at: number)
      state = .undoing(arrangement)
      return commands + [.undo(arrangement)]
    }
    if recoversAreDue {
      recoversRan = true
      // Names may be used again.
      parallel = [:]
      recoveryBegan = plan.recovers.isEmpty ? nil : time
      return commands + next(.recovers, 0, at: time)
    }
    state = .ended
    return commands + [.end(findings.judgement(stopped: isStopped && !isJudged))]
  }
}
