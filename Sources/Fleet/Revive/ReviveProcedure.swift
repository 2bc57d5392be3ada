import DeviceBridge

/// One revival of one body, as a value: what happened goes in, what to do next comes out.
///
/// It keeps the order of decisions: the door first, then the host, presence, others' hold, the session, hands, the lock;
/// then one more probe, the stamp, the launch, and the door as the judge of it. Events may come in any order and
/// unasked: a launch is only ever asked for while the lock was read as unlocked at most two seconds ago, hands are
/// not there, the phone is held by us, and a stamp is stored.
public struct ReviveProcedure: Equatable, Sendable {
  public let rules: ReviveRules
  /// What is asked for and not answered yet.
  public private(set) var pending: ReviveCommand?
  /// nil while it goes on.
  public private(set) var ending: ReviveEnding?

  var phase = Phase.looking
  var askedAt = HostMoment(awake: .zero, elapsed: .zero)
  var hasLease: Bool
  var hasSession = false
  var hasStamp = false
  var hasProbedAgain = false
  /// When the lock was last asked for that was then read as unlocked (CLOCK_BOOTTIME).
  var unlockedAt: Duration?
  /// The same for a look that found no hands.
  var handsFreeAt: Duration?
  var readings = 0
  var requests = 0
  /// How often a service was missing that should be there, and since when.
  var missingTimes = 0
  var missingSince = Duration.zero
  var launched = false
  var silentSince: Duration?
  var silence = Silence(kind: .noAnswer, detail: "not asked yet")

  struct Silence: Equatable, Sendable {
    var kind: DoorSilence
    var detail: String
  }

  enum Phase: Equatable, Sendable {
    case looking
    /// The door has until then to answer.
    case waiting(AnswerWindow)
    /// It did not; the lock is read once more, since it may be the reason.
    case judging(Verdict)
  }

  struct AnswerWindow: Equatable, Sendable {
    var opened: Duration
    var end: Duration
    var probeBegan: Duration?
    /// Whether the last probe failed for want of a phone or a daemon.
    var trouble: PhoneError?
    /// Set where it is not known whether the phone took the launch.
    var doubt: PhoneError?
  }

  struct Verdict: Equatable, Sendable {
    var words: OutcomeWords
    var detail: String
    var error: PhoneError?
  }

  public init(_ rules: ReviveRules) {
    self.rules = rules
    hasLease = rules.holdsPhone
  }

  public mutating func begin(at now: HostMoment) -> ReviveCommand? {
    ask(.probe(within: rules.answerWithin), now)
  }

  /// Begins where a round has got to that found the door silent and a session that works.
  ///
  /// - Parameter since: from when on it has been silent.
  public mutating func begin(
    afterSilence kind: DoorSilence, detail: String, since: Duration, at now: HostMoment
  ) -> ReviveCommand? {
    hasSession = true
    silentSince = since
    silence = Silence(kind: kind, detail: detail)
    return advance(now)
  }

  /// A launch was refused, for now, since a service was missing.
  var missesService: Bool { missingTimes > 0 }

  /// A launch request is out, or has been: what follows is its judgement.
  var isCommitted: Bool {
    if case .looking = phase {
      if case .launch = pending { return true }
      return false
    }
    return true
  }

  /// - Returns: what to do next; nil when it has ended, or still waits for the answer to what it asked before.
  public mutating func handle(_ event: ReviveEvent, at now: HostMoment) -> ReviveCommand? {
    guard ending == nil else { return nil }
    guard event.answers(pending) else {
      notice(event, now)
      return nil
    }
    pending = nil
    return switch event {
    case .door(let look): door(look, now)
    case .lease(let look): lease(look, now)
    case .session(let error): session(error, now)
    case .hands(let look): hands(look, now)
    case .lock(let reading): lock(reading, now)
    case .stamp(let trouble): stamp(trouble, now)
    case .launch(let error): launch(error, now)
    case .rested: goOn(now)
    }
  }

  /// What comes unasked can only end it sooner, or make what was read before worthless.
  private mutating func notice(_ event: ReviveEvent, _ now: HostMoment) {
    // A launch under way is judged when it has come back.
    var isLaunching = false
    if case .launch = pending { isLaunching = true }
    switch (phase, event) {
    case (.looking, .door(.answered(let detail))), (.waiting, .door(.answered(let detail))):
      if !isLaunching { _ = answered(detail, now) }
    case (.looking, .lock(let reading)) where reading.state != .unlocked:
      unlockedAt = nil
      if reading.state == .locked, !isLaunching { _ = end(OutcomeWords(.locked, .passcode), reading.why, now) }
    case (.looking, .hands(let look)) where look != .absent:
      handsFreeAt = nil
      if look == .running, !isLaunching { _ = end(OutcomeWords(.leftAlone, .hands), Self.handsDetail, now) }
    case (.looking, _), (.waiting, _), (.judging, _): break
    }
  }

  /// What the phase calls for.
  mutating func goOn(_ now: HostMoment) -> ReviveCommand? {
    switch phase {
    case .looking: advance(now)
    case .waiting(let window): poll(window, now)
    case .judging: ask(.readLock, now)
    }
  }

  // MARK: - The way to a launch

  /// The next thing that a launch still needs; the launch itself when it needs nothing more.
  mutating func advance(_ now: HostMoment) -> ReviveCommand? {
    guard hasLease else { return ask(.takeLease, now) }
    guard hasSession else { return ask(.openSession, now) }
    let asksHands = rules.asksHands && rules.book.keeps(.handsAreLeftAlone)
    let handsAreOld = asksHands && Self.isOld(handsFreeAt, ReviveRules.handsFreshness, now)
    let lockFreshness = rules.book.keeps(.lockReadingIsFresh) ? ReviveRules.lockFreshness : .seconds(86_400)
    if handsAreOld || Self.isOld(unlockedAt, lockFreshness, now) {
      readings += 1
      guard readings <= ReviveRules.readings else {
        let detail = "its lock is read so slowly that it may be another by then"
        return end(OutcomeWords(.leftAlone, .lockUnknown), detail, now)
      }
      return ask(handsAreOld ? .askHands : .readLock, now)
    }
    switch rules.permit {
    case .granted: break
    case .paused: return end(OutcomeWords(.paused), "launches are paused", now)
    case .withheld: return end(OutcomeWords(.silent, silence.kind.reason), silence.detail, now)
    case .others: return openWindow(nil, now)
    }
    guard hasProbedAgain || !rules.book.keeps(.probeOnceMore) else {
      hasProbedAgain = true
      return ask(.probe(within: rules.answerWithin), now)
    }
    guard hasStamp || !rules.book.keeps(.stampBeforeLaunch) else { return ask(.storeStamp, now) }
    requests += 1
    return ask(.launch(fresh: rules.fresh), now)
  }

  private static func isOld(_ moment: Duration?, _ limit: Duration, _ now: HostMoment) -> Bool {
    guard let moment else { return true }
    return now.elapsed - moment > limit
  }

  mutating func ask(_ command: ReviveCommand, _ now: HostMoment) -> ReviveCommand? {
    pending = command
    askedAt = now
    return command
  }

  // MARK: - The end

  mutating func end(
    _ words: OutcomeWords, _ detail: String, _ now: HostMoment, error: PhoneError? = nil, trouble: HostTrouble? = nil
  ) -> ReviveCommand? {
    ending = .judged(judgement(words, detail, now, error: error, trouble: trouble))
    pending = nil
    return nil
  }

  /// An error that is the outcome, in its own words.
  mutating func end(_ words: OutcomeWords, _ error: PhoneError, _ now: HostMoment) -> ReviveCommand? {
    end(words, error.sentence, now, error: error)
  }

  mutating func leave(_ words: OutcomeWords, _ detail: String, _ now: HostMoment) -> ReviveCommand? {
    ending = .leftForNow(judgement(words, detail, now))
    pending = nil
    return nil
  }

  mutating func give(up error: PhoneError) -> ReviveCommand? {
    ending = .broken(error)
    pending = nil
    return nil
  }

  private func judgement(
    _ words: OutcomeWords, _ detail: String, _ now: HostMoment, error: PhoneError? = nil, trouble: HostTrouble? = nil
  ) -> ReviveJudgement {
    ReviveJudgement(
      words: words, detail: detail, launched: launched, silent: silentSince.map { now.awake - $0 }, error: error,
      trouble: trouble)
  }
}
