import DeviceBridge
import Wire

/// Past the grace: hands and lock, and where nothing stands in the way, a launch.
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
    guard let pause = memory.pause, rules.book.keeps(.pausesAreHonoured) else { return false }
    return pause.left(at: now) > .zero
  }

  private func reviveRules(_ permit: ReviveRules.Permit) -> ReviveRules {
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

  private mutating func begin(
    _ procedure: ReviveProcedure, _ now: WatchTime, _ stage: (ReviveProcedure) -> Stage
  ) {
    var procedure = procedure
    let next = procedure.begin(
      afterSilence: doorSilence, detail: doorDetail, since: silence.from ?? now.awake, at: now.host)
    self.stage = stage(procedure)
    follow(next, procedure, now)
  }

  mutating func go(on procedure: ReviveProcedure, _ event: ReviveEvent, _ now: WatchTime) {
    // While the procedure is worked on, the stage does not hold a second copy of it.
    let isLaunch = if case .launching = stage { true } else { false }
    stage = .idle
    var procedure = procedure
    let isCommitted = procedure.isCommitted
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
      judge(OutcomeWords(.silent, doorSilence.reason), "it is so slow that a launch would keep others waiting", now)
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
    if case .lease(.taken) = event { leaseTaken = now.awake }
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
  private mutating func note(_ event: ReviveEvent, _ now: WatchTime) -> Bool {
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

  // MARK: - Towards a launch

  /// Nothing about the phone stands in the way.
  mutating func mayLaunch(_ now: WatchTime) {
    guard rules.launches || !rules.book.keeps(.launcherNone), isLaunchDue(now) else {
      withheld(now)
      return
    }
    guard rules.book.keeps(.holdsAreHonoured) else {
      readFacts(now)
      return
    }
    stage = .leasing
    ask(.takeLease, now)
  }

  private mutating func readFacts(_ now: WatchTime) {
    stage = .facts
    ask(.readFacts(within: StepLimit.facts), within: StepLimit.facts, now)
  }

  func spacingLeft(_ now: WatchTime) -> Duration {
    guard let stamp = memory.stamp, rules.book.keeps(.spacing) else { return .zero }
    if !rules.book.keeps(.spacingRunsInSleep), let stampedAwake {
      return max(rules.spacing - (now.awake - stampedAwake), .zero)
    }
    return stamp.left(of: rules.spacing, at: now.host)
  }

  func isLaunchDue(_ now: WatchTime) -> Bool { spacingLeft(now) == .zero && factsLeft(now) == .zero }

  /// Once a spacing the fact is read anew that a launch was refused for.
  func factsLeft(_ now: WatchTime) -> Duration {
    guard memory.refusal != nil, let factsRead else { return .zero }
    return max(rules.spacing - (now.elapsed - factsRead), .zero)
  }

  mutating func withheld(_ now: WatchTime) {
    let last = rules.book.keeps(.lastLaunchStays) ? memory.launchEnd : nil
    judge(last ?? OutcomeWords(.silent, doorSilence.reason), doorDetail, now)
    endRound(.withheld, now)
  }

  mutating func leased(_ look: LeaseLook, _ now: WatchTime) {
    switch look {
    case .held(let holder): heldBy(holder, now)
    case .trouble(let trouble): hostTrouble(trouble.words, trouble.sentence, now)
    case .taken(let waited):
      leaseTaken = now.awake
      guard !waited else {
        // Whoever had it may have brought the app back.
        endRound(.other, now)
        due = now.awake
        return
      }
      readFacts(now)
    }
  }

  /// A stamp that others stored counts as our own.
  mutating func learn(_ stamp: LaunchStamp?) {
    guard let stamp, rules.book.keeps(.othersLaunchesCount) else { return }
    if let own = memory.stamp, own.elapsed >= stamp.elapsed { return }
    memory.stamp = stamp
    memory.isProven = false
    isMemoryNew = true
  }

  mutating func factsCame(_ facts: LaunchFacts, _ now: WatchTime) {
    if isDiscarding {
      discarded(.rested, now)
      return
    }
    self.facts = facts
    factsRead = now.elapsed
    let present = LaunchStamp(wall: now.wall, boot: boot, elapsed: now.elapsed)
    learn(facts.stamp?.boot == boot ? facts.stamp : facts.stamp?.rebased(to: present))
    guard spacingLeft(now) == .zero else {
      withheld(now)
      return
    }
    if mayMount(facts) {
      stage = .mounting
      let limit = min(StepLimit.mount, rules.leaseLimit - StepLimit.facts)
      ask(.mountImage(within: limit), within: limit, now)
    } else if refusalStands(facts) {
      withheld(now)
    } else {
      begin(ReviveProcedure(reviveRules(.granted)), now) { .launching($0) }
    }
  }

  private func refusalStands(_ facts: LaunchFacts) -> Bool {
    rules.book.keeps(.factsAreReadAnew) && memory.refusal?.stands(facts) == true
  }

  // MARK: - The developer image

  private func mountMark(_ facts: LaunchFacts) -> String? {
    guard let image = facts.offeredImage else { return nil }
    return "\(facts.boot ?? "?")/\(image)"
  }

  private func mayMount(_ facts: LaunchFacts) -> Bool {
    guard rules.mountsImages, let mark = mountMark(facts) else { return false }
    guard facts.hasImage == false || !rules.book.keeps(.noMountOverAnImage) else { return false }
    return memory.mountTried != mark || !rules.book.keeps(.oneMountPerBootAndImage)
  }

  mutating func mounted(_ look: MountLook, _ now: WatchTime) {
    switch look {
    case .locked:
      _ = noteLock(LockReading(state: .locked, why: ""))
      endRound(.other, now)
    case .broken(let error):
      if let fault = error.fault { found(fault, error, now) } else { endRound(.other, now) }
    case .mounted:
      mountTried("mounted", now)
      memory.refusal = nil
      endRound(.other, now)
      due = now.awake
    case .failed(let detail):
      mountTried(detail, now)
      refused(.noDeveloperImage)
      memory.launchEnd = OutcomeWords(.launchRefused, .noDeveloperImage)
      judge(OutcomeWords(.launchRefused, .noDeveloperImage), detail, now)
      endRound(.withheld, now)
    }
  }

  private mutating func mountTried(_ result: String, _ now: WatchTime) {
    memory.mountTried = mountMark(facts)
    isMemoryNew = true
    out.append(.act(WatchAction(kind: .mount, at: now.wall, udid: udid, result: result)))
  }

  /// A launch refused for a fact is not tried again while the fact stands.
  mutating func refused(_ reason: OutcomeReason) {
    memory.refusal = WatchMemory.Refusal(reason, facts)
    isMemoryNew = true
  }
}
