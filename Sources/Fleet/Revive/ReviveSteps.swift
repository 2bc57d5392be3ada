import DeviceBridge

/// What a revival asks of the world, one at a time; each is answered by the event of the same name.
public enum ReviveCommand: Equatable, Sendable {
  /// One `hello`, the whole answer within that.
  case probe(within: Duration)
  /// Take the phone's lock, waiting as long as is right for who asked.
  case takeLease
  /// Find out whether the phone opens a session.
  case openSession
  case askHands
  case readLock
  /// Store a launch stamp of this moment.
  case storeStamp
  case launch(fresh: Bool)
  case rest(Duration)
}

/// What happened.
public enum ReviveEvent: Equatable, Sendable {
  case door(DoorLook)
  case lease(LeaseLook)
  /// nil: the session works.
  case session(PhoneError?)
  case hands(HandsLook)
  case lock(LockReading)
  /// nil: stored.
  case stamp(HostTrouble?)
  /// nil: accepted.
  case launch(PhoneError?)
  case rested
}

/// What came of asking for the phone's lock.
public enum LeaseLook: Equatable, Sendable {
  /// `waited`: somebody else had it in between.
  case taken(waited: Bool)
  case held(by: Holder)
  case trouble(HostTrouble)
}

extension ReviveEvent {
  /// Whether it is what the command asked for.
  func answers(_ command: ReviveCommand?) -> Bool {
    switch (command, self) {
    case (.probe, .door), (.takeLease, .lease), (.openSession, .session), (.askHands, .hands), (.readLock, .lock),
      (.storeStamp, .stamp), (.launch, .launch), (.rest, .rested):
      true
    case (.probe, _), (.takeLease, _), (.openSession, _), (.askHands, _), (.readLock, _), (.storeStamp, _),
      (.launch, _), (.rest, _), (nil, _):
      false
    }
  }
}

/// How a revival has ended.
public enum ReviveEnding: Equatable, Sendable {
  case judged(ReviveJudgement)
  /// Whether the hands' driver runs can't be told: the body is left alone this round, and that is no outcome of its own.
  case leftForNow(ReviveJudgement)
  /// Ended from this side, or not sendable as asked: it says nothing about the body.
  case broken(PhoneError)

  public var judgement: ReviveJudgement? {
    switch self {
    case .judged(let judgement), .leftForNow(let judgement): judgement
    case .broken: nil
    }
  }
}

/// What became of the body.
public struct ReviveJudgement: Equatable, Sendable {
  public var words: OutcomeWords
  /// For people; no part of the outcome's identity.
  public var detail: String
  /// Whether a launch was sent.
  public var launched: Bool
  /// From the first failed probe on; nil when the door was never found silent.
  public var silent: Duration?
  /// What the phone or the daemon said, where that is the outcome.
  public var error: PhoneError?
  /// What kept this machine from doing its part, where that is the outcome.
  public var trouble: HostTrouble?
}
