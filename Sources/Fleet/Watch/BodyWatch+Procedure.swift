import DeviceBridge
import Wire

/// Past the grace: the procedure that looks at hands and lock, and the one that launches.
extension BodyWatch {
  mutating func afterGrace(_ now: WatchTime) {
    guard isGraceOver(now) else {
      endRound(.inGrace, now)
      return
    }
    begin(ReviveProcedure(reviveRules(isPaused(now) ? .paused : .withheld)), now) { .looking($0) }
  }

  func isGraceOver(_ now: WatchTime) -> Bool {
    guard rules.book.keeps(.grace) else { return true }
    // Begun anew in this very round: the next failed probe is its first.
    guard let from = silence.graceFrom else { return false }
    return now.awake(rules.book) - from >= rules.grace
  }

  func isPaused(_ now: WatchTime) -> Bool {
    guard let pause, rules.book.keeps(.pausesAreHonoured) else { return false }
    return pause.left(at: now) > .zero
  }

  func reviveRules(_ permit: ReviveRules.Permit) -> ReviveRules {
    var revive = ReviveRules()
    revive.permit = permit
    revive.asksHands = rules.asksHands
    revive.holdsPhone = true
    revive.fresh = memory.launchEnd?.kind == .launchedNoAnswer && rules.book.keeps(.freshAfterNoAnswer)
    revive.answerWithin = rules.answerWithin
    revive.hasImage = facts.hasImage == true
    revive.book = rules.book
    return revive
  }

  // MARK: - The procedure

  mutating func begin(
    _ procedure: ReviveProcedure, _ now: WatchTime, _ stage: (ReviveProcedure) -> Stage
  ) {
    var procedure = procedure
    let next = procedure.begin(
      afterSilence: doorSilence, detail: doorDetail, since: silence.from ?? now.awake, at: now.host)
    self.stage = stage(procedure)
    follow(next, procedure, now)
  }

  mutating func go(on procedure: ReviveProcedure, _ event: ReviveEvent, _ open: Pending, _ now: WatchTime) {
    // While the procedure is worked on, the stage does not hold a second copy of it.
    let isLaunch = if case .launching = stage { true } else { false }
    stage = .idle
    var procedure = procedure
    let isCommitted = procedure.isCommitted
    if case .door(let look) = event { noteSight(look, asked: open.asked.awake, now) }
    let graceBeganAnew = note(event, now)
    let next = procedure.handle(event, at: now.host)
    stage = isLaunch ? .launching(procedure) : .looking(procedure)
    if graceBeganAnew, !isCommitted {
      abandon(now)
      endRound(.inGrace, now)
      return
    }
    follow(next, procedure, now)
  }

  private mutating func follow(_ next: ReviveCommand?, _ procedure: ReviveProcedure, _ now: WatchTime) {
    guard let next else {
      if let ending = procedure.ending { concluded(ending, now) }
      return
    }
    if let leaseTaken, !procedure.isCommitted, now.awake - leaseTaken > rules.launchBegins,
      rules.book.keeps(.leaseIsShort)
    {
      abandon(now)
      if procedure.missesService { launchEnded(OutcomeWords(.launchRefused, .noDeveloperImage)) }
      let last = rules.book.keeps(.lastLaunchStays) ? memory.launchEnd : nil
      let words = last ?? OutcomeWords(.silent, doorSilence.reason)
      judge(words, "it is so slow that a launch would keep others waiting", now)
      endRound(.other, now)
      return
    }
    guard next == .storeStamp else {
      ask(next, now)
      return
    }
    let stamp = LaunchStamp(wall: now.wall, boot: boot, elapsed: now.elapsed)
    beforeLaunch = memory
    launchIsStamped = true
    stampedAwake = now.awake
    memory.launching(stamp)
    memory.revision += 1
    let limit = limit(of: next, now)
    ask(.storeStamp(stamp, memory, within: limit), within: limit, now)
  }

  /// How long a step may take: what is left of the time that others can be kept waiting, at most its own.
  func limit(of step: ReviveCommand, _ now: WatchTime) -> Duration {
    let own = step.limit
    guard let leaseTaken, rules.book.keeps(.leaseIsShort) else { return own }
    let left = leaseTaken + rules.leaseLimit - now.awake
    if case .launch = step { return max(min(own, left - rules.answerWithin - StepLimit.margin), StepLimit.margin) }
    return max(min(own, left), .milliseconds(100))
  }

  /// Before a launch was sent: as if the round had not come so far.
  mutating func abandon(_ now: WatchTime) {
    pending = nil
    unstamp()
  }

  /// A launch that was prepared and not sent is none; the spacing counts all the same, unless nothing was stored.
  mutating func unstamp(wasStored: Bool = true) {
    guard launchIsStamped else { return }
    launchIsStamped = false
    let stamp = wasStored ? memory.stamp : beforeLaunch.stamp
    (memory.launches, memory.launchCount) = (beforeLaunch.launches, beforeLaunch.launchCount)
    (memory.isProven, memory.launchedSinceRow) = (beforeLaunch.isProven, beforeLaunch.launchedSinceRow)
    memory.stamp = stamp
    isMemoryNew = true
  }

  /// An answer to what was asked before an interruption, or before the world changed: the round begins anew.
  mutating func discarded(_ event: ReviveEvent, _ now: WatchTime) {
    _ = note(event, now)
    // That nobody could look is true all the same.
    if case .door(.unreachable(let error)) = event, error.fault != nil {
      noteSight(.unreachable(error), asked: now.awake, now)
    }
    // So is that it was not to be talked to: a fresh grace follows.
    if case .session(.untrusted) = event {
      sessionTrouble = SessionTrouble(since: sessionTrouble?.since ?? now.awake, isBarrier: true)
    }
    if case .lease(.taken) = event { leaseTaken = now.awake }
    if case .stamp(.some) = event { unstamp(wasStored: false) }
    abandon(now)
    endRound(.other, now)
    due = now.awake
  }

  mutating func discardRun() {
    guard pending != nil else { return }
    switch stage {
    case .looking(let procedure), .launching(let procedure): isDiscarding = !procedure.isCommitted
    case .probing, .session, .leasing, .facts: isDiscarding = true
    case .idle, .asking, .mounting, .lookingAtPort: break
    }
  }

  // MARK: - What the looks say beside the procedure

  /// - Returns: whether the grace begins anew.
  mutating func note(_ event: ReviveEvent, _ now: WatchTime) -> Bool {
    switch event {
    case .lock(let reading): return noteLock(reading, whileSilent: now)
    case .hands(.running):
      handsWereThere = true
      return false
    case .hands(.absent):
      guard handsWereThere else { return false }
      handsWereThere = false
      guard rules.book.keeps(.graceAfterHands) else { return false }
      beginGraceAnew(whileSilent: now)
      return true
    case .hands(.unknown), .hands(.unreachable), .door, .lease, .session, .stamp, .launch, .rested: return false
    }
  }

  /// - Returns: whether the lock went to unlocked, which begins the grace anew.
  mutating func noteLock(_ reading: LockReading, whileSilent now: WatchTime? = nil) -> Bool {
    switch reading.state {
    case .unknown: return false
    case .locked:
      lastLock = .locked
      return false
    case .unlocked:
      defer { lastLock = .unlocked }
      guard lastLock == .locked else { return false }
      if memory.launchEnd?.kind == .locked {
        memory.launchEnd = nil
        isMemoryNew = true
      }
      guard rules.book.keeps(.graceAfterUnlock) else { return false }
      beginGraceAnew(whileSilent: now)
      return true
    }
  }
}
