import DeviceBridge
import Wire

/// One round: who holds the phone, the door, the session.
extension BodyWatch {
  mutating func beginRoundIfDue(_ now: WatchTime) {
    guard now.awake >= due, !isMuxLost, !isHubLost else { return }
    if stage != .idle || pending != nil {
      guard !rules.book.keeps(.oneAtATime) else { return }
      due = now.awake + rules.every
    }
    roundBegan = now.awake
    guard rules.book.keeps(.holdsAreHonoured) else {
      look(now)
      return
    }
    stage = .asking
    ask(.askHold, within: StepLimit.lease, now)
  }

  mutating func endRound(_ end: RoundEnd, _ now: WatchTime) {
    // What follows a launch is another kind of round.
    lastEnd = leaseTaken == nil ? end : .other
    if leaseTaken != nil {
      leaseTaken = nil
      out.append(.letGo)
    }
    stage = .idle
    isDiscarding = false
    due = nextDue(now)
  }

  /// A round each `every`, and one at each moment at which something may be done that may not be done before.
  private func nextDue(_ now: WatchTime) -> Duration {
    let regular = max(roundBegan + rules.every, now.awake + WatchRules.rest)
    return nextTurn(now).map { min($0, regular) } ?? regular
  }

  /// The next moment that has a round of its own.
  ///
  /// - Parameter isAnswering: each answer begins the grace anew, so that its end does not come nearer.
  func nextTurn(_ now: WatchTime, isAnswering: Bool = false) -> Duration? {
    var next: Duration?
    func consider(_ turn: Duration?) {
      if let turn, turn > now.awake, next.map({ turn < $0 }) ?? true { next = turn }
    }
    if !isAnswering { consider(graceEnd) }
    consider(spacingEnd(now))
    consider(presence.next(settle: rules.settle))
    return next
  }

  var graceEnd: Duration? { silence.graceFrom.map { $0 + rules.grace } }

  private func spacingEnd(_ now: WatchTime) -> Duration? {
    let left = max(spacingLeft(now), factsLeft(now))
    return left > .zero ? now.awake + left : nil
  }

  // MARK: - Who holds the phone

  mutating func held(_ look: HoldLook, _ now: WatchTime) {
    switch look {
    case .trouble(let trouble): hostTrouble(trouble.words, trouble.sentence, now)
    case .held(let holder): heldBy(holder, now)
    case .free:
      if heldBy != nil {
        heldBy = nil
        if rules.book.keeps(.graceAfterHold) { beginGraceAnew() }
      }
      self.look(now)
    }
  }

  /// Whoever holds a phone works with it undisturbed: it is neither looked at nor judged until they let go.
  mutating func heldBy(_ holder: Holder, _ now: WatchTime) {
    switch holder.purpose {
    // Over in half a minute, and no business of the record's.
    case .revive, .supervise: endRound(.other, now)
    case .run, .hold, .install, nil:
      stopSeeing(now, forAbsence: false)
      heldBy = holder
      let reason = holder.purpose?.reason ?? .run
      judge(OutcomeWords(.held, reason), "held by \(holder.text)", now)
      endRound(.held, now)
    }
  }

  // MARK: - Presence

  private mutating func look(_ now: WatchTime) {
    guard presence.canBeAsked else {
      absent(now)
      return
    }
    stage = .probing
    ask(.probe(within: rules.answerWithin), now)
  }

  private mutating func absent(_ now: WatchTime) {
    let isOver = presence.isThere || presence.counts
    guard !isOver else {
      endRound(.absent, now)
      return
    }
    guard outcome != .detached, let port = presence.port else {
      judgeAbsent(now)
      return
    }
    stage = .lookingAtPort
    ask(.lookAtPort(port, within: StepLimit.lease), within: StepLimit.lease, now)
  }

  mutating func judgeAbsent(_ now: WatchTime) {
    if !presence.isThere, !presence.counts { judge(.detached, absenceDetail, now) }
    endRound(.absent, now)
  }

  private var absenceDetail: String {
    guard let port = presence.port else { return "it has not been seen since the supervisor began" }
    switch portShowsPhone {
    case true?: return "USB port \(port) still shows it, though usbmuxd does not: replug it"
    case false?: return "it was last seen at USB port \(port), which shows nothing now"
    case nil: return "it was last seen at USB port \(port)"
    }
  }

  /// What only time does.
  mutating func passTime(_ now: WatchTime) {
    guard !isMuxLost, !isHubLost else { return }
    switch presence.pass(to: now.awake, settle: rules.settle) {
    case .none: break
    case .lost:
      isUnseenForAbsence = false
      discardRun()
    case .returned:
      if rules.book.keeps(.graceAfterReturn) { beginGraceAnew() }
      if stage == .idle { due = now.awake }
    }
  }

  mutating func flapped(_ now: WatchTime) {
    memory.flaps += 1
    isMemoryNew = true
    if !rules.book.keeps(.flapKeepsGrace) { beginGraceAnew() }
  }

  // MARK: - The door

  mutating func probed(_ look: DoorLook, _ asked: Duration, _ now: WatchTime) {
    noteSight(look, asked: asked, now)
    if case .unreachable(let error) = look, let fault = error.fault {
      found(fault, error, now)
      return
    }
    if presence.wasConfirmed(at: now.awake) { flapped(now) }
    switch look {
    case .answered(let detail): answered(detail, now)
    case .silent(let kind, let detail): silent(kind, detail, asked, now)
    case .unreachable(let error): silent(.noAnswer, "the phone does not get through to it (\(error.word))", asked, now)
    }
  }

  /// Whether anybody has seen the door: where the host could not look, nobody has.
  mutating func noteSight(_ look: DoorLook, asked: Duration, _ now: WatchTime) {
    guard case .unreachable(let error) = look, let fault = error.fault else {
      startSeeing(at: clock(asked, now), now)
      return
    }
    switch fault {
    case .host: stopSeeing(now, forAbsence: false)
    case .gone: stopSeeing(now, forAbsence: true)
    case .ours: break
    }
  }

  private mutating func silent(_ kind: DoorSilence, _ detail: String, _ asked: Duration, _ now: WatchTime) {
    (doorSilence, doorDetail) = (kind, detail)
    silence.failed(asked: clock(asked, now))
    stage = .session
    ask(.openSession, now)
  }

  /// A moment of a little while ago, on the clock that silence is measured on.
  private func clock(_ awake: Duration, _ now: WatchTime) -> Duration {
    now.awake(rules.book) - (now.awake - awake)
  }

  /// What was found is no fault of the phone's door.
  mutating func found(_ fault: PhoneError.Fault, _ error: PhoneError, _ now: WatchTime) {
    switch fault {
    case .host(let words): hostTrouble(words, error.sentence, now)
    case .gone:
      presence.wasDenied(at: now.awake)
      stopSeeing(now, forAbsence: true)
      endRound(.other, now)
    case .ours: endRound(.other, now)
    }
  }

  mutating func hostTrouble(_ words: OutcomeWords, _ detail: String, _ now: WatchTime) {
    out.append(.tellHost(HostSign(words: words, detail: detail)))
    if !rules.book.keeps(.hostTroubleIsTheHosts) { judge(words, detail, now) }
    endRound(.other, now)
  }

  // MARK: - The session

  mutating func sessionCame(_ error: PhoneError?, _ asked: Duration, _ now: WatchTime) {
    guard let error else {
      let wasBarred = sessionTrouble?.isBarrier == true
      sessionTrouble = nil
      if wasBarred, rules.book.keeps(.graceAfterSession) { beginGraceAnew(whileSilent: now) }
      afterGrace(now)
      return
    }
    if let fault = error.fault {
      found(fault, error, now)
    } else if let words = OutcomeWords(error) {
      sessionFailed(words.kind == .launchedNoAnswer ? .lockdownHung : words, error.sentence, asked, now)
    }
  }

  /// After the settle time it is an outcome, and needs no grace to be said.
  mutating func sessionFailed(_ words: OutcomeWords, _ detail: String, _ asked: Duration, _ now: WatchTime) {
    var trouble = sessionTrouble ?? SessionTrouble(since: asked)
    if words.kind == .untrusted || words == OutcomeWords(.locked, .beforeFirstUnlock) { trouble.isBarrier = true }
    sessionTrouble = trouble
    if now.awake - trouble.since >= rules.settle || !rules.book.keeps(.sessionTroubleSettles) {
      judge(words, detail, now)
    }
    endRound(.noSession, now)
  }
}

extension OutcomeWords {
  static let lockdownHung = OutcomeWords(.unreachable, .lockdownNotAnswering)
}

extension PhoneError {
  /// A fault that is not the phone's own.
  enum Fault: Equatable {
    case host(OutcomeWords)
    case gone
    case ours
  }

  /// nil where the phone itself is at fault.
  var fault: Fault? {
    switch place {
    case .host(let words): .host(words)
    case .gone: .gone
    case .ours: .ours
    case .phone: nil
    }
  }
}
