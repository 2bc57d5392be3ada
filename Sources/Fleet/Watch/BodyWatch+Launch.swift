import DeviceBridge
import Wire

/// Where nothing about the phone stands in the way: whether a launch is due, and what it depends on.
extension BodyWatch {
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
    memory.isProven = lastAnswered.map { $0 - stamp.elapsed >= rules.spacing } ?? false
    isMemoryNew = true
  }

  mutating func factsCame(_ facts: LaunchFacts, _ now: WatchTime) {
    if isDiscarding {
      discarded(.rested, now)
      return
    }
    self.facts = facts
    factsRead = now.elapsed
    // What is older than this boot was learnt at the start.
    if facts.stamp?.boot == boot { learn(facts.stamp) }
    guard spacingLeft(now) == .zero else {
      // They are read again when it is over.
      factsRead = nil
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
      // Changed: from now on it is launched as after any other end.
      if memory.refusal != nil {
        memory.refusal = nil
        isMemoryNew = true
      }
      begin(ReviveProcedure(reviveRules(.granted)), now) { .launching($0) }
    }
  }

  private func refusalStands(_ facts: LaunchFacts) -> Bool {
    rules.book.keeps(.factsAreReadAnew) && memory.refusal?.stands(facts) == true
  }
}
