import Fleet

/// How one step ended.
public enum StepResult: Equatable, Sendable {
  /// What it said is true; `came` says what was seen, where something was.
  case held(came: String?)
  /// An expectation was false.
  case failed(expected: String, came: String)
  /// The harness, the cable or a means broke: nothing is known about the app.
  case broken(String)
  /// No means brought the state about, and none claims that it did.
  case noMeans(String)
  /// The run was stopped while it was under way.
  case stopped

  public var isHeld: Bool { if case .held = self { true } else { false } }
}

/// A state that a scenario has begun to bring about, and what has to be brought about when it ends.
public struct Arrangement: Equatable, Sendable {
  public enum Moment: Equatable, Sendable {
    /// What takes the app out of service ends before `recovers` looks at the app.
    case beforeRecovers
    /// What the scenario itself stands on stays until everything is judged.
    case atTheEnd
  }

  public var state: BodyState
  /// What has to hold again when it is undone.
  public var back: Rest
  public var moment: Moment
  /// It held already: nothing was changed, and the way back is due all the same.
  public var wasFound: Bool
  public init(state: BodyState, back: Rest, moment: Moment, wasFound: Bool = false) {
    self.state = state
    self.back = back
    self.moment = moment
    self.wasFound = wasFound
  }
}

/// The judge's last word on one attempt.
public struct Judgement: Equatable, Sendable {
  public enum Word: Equatable, Sendable { case passed, failed, skipped, error }

  public var word: Word
  /// Why it is not passed.
  public var message: String?
  /// The line of the step or need that decided it; nil: the scenario as a whole.
  public var line: Int?
  /// From the end of the undo until `recovers` held.
  public var recovery: Duration?
  /// What may still be as the scenario arranged it, and why; part of `message` too.
  public var notUndone: String?
}
