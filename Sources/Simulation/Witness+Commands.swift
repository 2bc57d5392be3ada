import DeviceBridge
import Fleet
import Wire

/// What is commanded, and whether it may be.
extension Witness {
  mutating func command(_ command: BodyCommand, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    switch command {
    case .letGo:
      letGo(index, phone, sight)
      return
    case .row, .remember, .tellHost, .act: return
    case .askHold, .step, .storeStamp, .readFacts, .mountImage, .lookAtPort: break
    }
    if bodies[index].isOpen { broken(.oneAtATime, index, sight, "\(command)") }
    bodies[index].isOpen = true
    bodies[index].asked = sight.awake
    bodies[index].askedElapsed = sight.elapsed
    switch command {
    case .askHold: roundBegins(index, phone, sight)
    case .step(let step, _): self.step(step, phone, sight)
    case .mountImage: mounts(phone, sight)
    case .storeStamp(let stamp, _, _): bodies[index].attempt = stamp
    case .readFacts, .lookAtPort, .letGo, .row, .remember, .tellHost, .act: break
    }
  }

  private mutating func step(_ step: ReviveCommand, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    switch step {
    case .probe:
      bodies[index].probes()
      if let there = bodies[index].there {
        let isSettled = sight.awake - there >= phone.rules.settle - .milliseconds(1)
        if isSettled { (bodies[index].counts, bodies[index].mayBeMissed) = (true, false) }
        if !bodies[index].counts { broken(.settled, index, sight, "asked \(sight.awake - there) after its return") }
      }
      if bodies[index].wasHeld { broken(.noLaunchUnderOthers, index, sight, "a look at a held phone") }
    case .launch(let fresh): launches(phone, fresh, sight)
    case .takeLease, .openSession, .askHands, .readLock, .storeStamp, .rest: break
    }
  }

  // MARK: - Rounds

  private mutating func roundBegins(_ index: Int, _ phone: Phone, _ sight: Sight) {
    if let began = bodies[index].roundBegan, bodies[index].roundBeganTrue > sight.hostChanged,
      bodies[index].hubLostAt == nil
    {
      let due = max(began + phone.rules.every, bodies[index].lastAnsweredCommand + .seconds(1), sight.stalledUntil)
      if sight.awake - due > .milliseconds(100) {
        broken(.nobodyDelays, index, sight, "its round began \(sight.awake - due) late")
      }
    }
    bodies[index].roundBegan = sight.awake
    bodies[index].roundBeganTrue = sight.now
    isOverdue(phone, sight)
  }

  /// A launch that could have been sent for long.
  private mutating func isOverdue(_ phone: Phone, _ sight: Sight) {
    let books = bodies[phone.index]
    guard phone.isLaunchable, phone.rules.launches, phone.app != .answering, phone.app != .starting,
      phone.lease == .nobody, sight.isHostWell, books.away == nil || books.there != nil
    else { return }
    let slack = Duration.seconds(120)
    let spacing = phone.rules.spacing
    let graceEnd = max(books.graceZero + books.graceGap + books.slack, books.graceMaybe) + phone.rules.grace
    let stamped = books.stamp.map { $0.boot == sight.boot ? $0.elapsed : sight.elapsed } ?? .seconds(-100_000)
    let factsDue = !books.wasRefused ? phone.changed : phone.changed + spacing
    guard sight.awake > graceEnd + slack, sight.elapsed > stamped + spacing + slack, sight.now > factsDue + slack,
      sight.now > sight.hostChanged + slack, sight.elapsed > processBegan + phone.rules.grace + slack,
      phone.pausedUntil.map({ sight.now > $0 + slack }) ?? true
    else { return }
    broken(.broughtBack, phone.index, sight, "a launch has been due since \(ScriptLine.clock(graceEnd))")
  }

  private mutating func letGo(_ index: Int, _ phone: Phone, _ sight: Sight) {
    if let taken = bodies[index].leaseTaken, sight.awake - taken > phone.rules.answerWithin * 2 + .seconds(11),
      sight.now > sight.hostChanged + .seconds(60)
    {
      broken(.othersWaitShortly, index, sight, "held for \(sight.awake - taken)")
    }
    bodies[index].leaseTaken = nil
  }

  // MARK: - Launches

  private mutating func launches(_ phone: Phone, _ fresh: Bool, _ sight: Sight) {
    let index = phone.index
    let books = bodies[index]
    let rules = phone.rules
    if books.lock != .unlocked {
      broken(.noLaunchWhileLocked, index, sight, "the lock was read as \(String(describing: books.lock))")
    }
    if sight.elapsed - books.lockAsked > .seconds(2) { broken(.noLaunchWhileLocked, index, sight, "an old reading") }
    let grace = sight.awake - books.graceZero - books.graceGap
    if grace < rules.grace - .milliseconds(1) { broken(.noLaunchInTheGrace, index, sight, "\(grace) of grace") }
    if phone.lease != .us { broken(.noLaunchUnderOthers, index, sight, "the phone is not ours") }
    if rules.asksHands, books.handsWere || sight.elapsed - (books.handsFree ?? .seconds(-99)) > .seconds(12) {
      broken(.noLaunchUnderOthers, index, sight, "hands")
    }
    if let until = phone.pausedUntil, sight.now < until { broken(.noLaunchUnderOthers, index, sight, "a pause") }
    if !books.isStamped { broken(.noLaunchWithoutStamp, index, sight, "none since the phone was taken") }
    if let probe = books.failedProbe, let taken = books.leaseTaken, probe >= taken, probe > books.interrupted {
    } else {
      broken(.noLaunchWithoutProbe, index, sight, "last at \(String(describing: books.failedProbe))")
    }
    if !rules.launches { broken(.launchesAsSaid, index, sight, "others launch here") }
    if books.outcome?.kind == .launchedNoAnswer, !fresh, books.launchEnded {
      broken(.launchesAsSaid, index, sight, "not afresh")
    }
    if books.requests == 0 { spacing(phone, sight) }
    if books.sentRequests >= 2 { broken(.launchesAsSaid, index, sight, "a third request") }
    if let refusal = books.refusal, refusal.build == phone.build,
      refusal.wasTrusted == phone.isSignerTrusted, books.requests == 0, stands(refusal.reason, phone),
      sight.now > phone.changed + .seconds(5), !books.factsUnread
    {
      broken(.noLaunchOnFact, index, sight, "\(refusal.reason.rawValue) stands")
    }
    bodies[index].requests += 1
  }

  private func stands(_ refusal: LaunchRefusal, _ phone: Phone) -> Bool {
    switch refusal {
    case .notInstalled: phone.app == .missing
    case .noDeveloperImage: !phone.hasImage
    case .notOnThisIOS: phone.isOnOddIOS
    case .appUntrusted, .notDebuggable: phone.app != .missing
    case .developerModeOff, .locked, .appExited, .failed: false
    }
  }

  private mutating func spacing(_ phone: Phone, _ sight: Sight) {
    guard let last = bodies[phone.index].launch else { return }
    let since: Duration
    if last.boot == sight.boot {
      since = sight.elapsed - last.elapsed
    } else {
      // Since the process began it has been so long at least, whoever sets the wall clock.
      since = max(sight.wall - last.wall, sight.elapsed - processBegan)
    }
    if since < phone.rules.spacing - .milliseconds(1) {
      broken(.oneLaunchASpacing, phone.index, sight, "\(since) after the last one")
    }
  }

  private mutating func mounts(_ phone: Phone, _ sight: Sight) {
    let index = phone.index
    if phone.hasImage, sight.now > phone.changed + .seconds(2) {
      broken(.mountsOnce, index, sight, "over an image")
    }
    if bodies[index].mounted == phone.boot { broken(.mountsOnce, index, sight, "a second time") }
    bodies[index].mounted = phone.boot
    bodies[index].isMountRemembered = false
  }

  // MARK: - Answers

  mutating func answered(_ command: BodyCommand, _ event: BodyEvent, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    bodies[index].isOpen = false
    bodies[index].lastAnsweredCommand = sight.awake
    switch event {
    case .hold(let look): held(look, index, sight)
    case .step(let event): self.step(event, phone, sight)
    case .mounted(.failed): bodies[index].wasRefused = true
    case .mounted(.locked), .mounted(.broken): bodies[index].mounted = nil
    case .facts(let facts):
      bodies[index].factsUnread = facts.ios == nil
      if let refusal = bodies[index].refusal, !stands(refusal.reason, phone) { bodies[index].refusal = nil }
      // Which stands also where the last refusal for it was long ago.
      if facts.app == .missing || facts.hasImage == false { bodies[index].wasRefused = true }
    case .tick, .attached, .detached, .lockChanged, .mounted, .port, .paused, .host: break
    }
    if case .storeStamp = command, case .step(.stamp(nil)) = event {
      bodies[index].isStamped = true
      bodies[index].answeredBefore = bodies[index].answered(since: bodies[index].launch, sight)
      let stamps = [bodies[index].launch, bodies[index].stampBefore].compactMap { $0 }
      let newest = stamps.allSatisfy { $0.boot == sight.boot } ? stamps.max { $0.elapsed < $1.elapsed } : nil
      bodies[index].surelyAnsweredBefore = bodies[index].answered(since: newest, sight)
    }
  }

  private mutating func held(_ look: HoldLook, _ index: Int, _ sight: Sight) {
    switch look {
    case .free:
      if bodies[index].wasHeld { bodies[index].graceAnew(sight.awake) }
      bodies[index].wasHeld = false
    case .held(let holder):
      guard holder.purpose != .revive else { return }
      bodies[index].cannotSee(sight.awake, forAbsence: false)
      bodies[index].wasHeld = true
    case .trouble: break
    }
  }

  private mutating func step(_ event: ReviveEvent, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    switch event {
    case .door(let look): door(look, index, sight)
    case .session(let error): session(error, index, sight)
    case .hands(.running): bodies[index].handsWere = true
    case .hands(.absent):
      if bodies[index].handsWere { bodies[index].graceAnew(sight.awake) }
      bodies[index].handsWere = false
      bodies[index].handsFree = bodies[index].askedElapsed
    case .hands: bodies[index].handsFree = nil
    case .lock(let reading):
      bodies[index].lock = reading.state
      bodies[index].lockAsked = bodies[index].askedElapsed
      // The lock has overtaken the launch.
      if reading.state == .locked, bodies[index].sentRequests > 0, bodies[index].leaseTaken != nil {
        bodies[index].wasRefusedAsLocked = true
      }
      bodies[index].noteLock(reading.state, sight.awake)
    case .lease(.taken):
      bodies[index].leaseTaken = sight.awake
      (bodies[index].requests, bodies[index].sentRequests) = (0, 0)
      (bodies[index].isStamped, bodies[index].accepted) = (false, nil)
      bodies[index].wasRefusedAsLocked = false
    case .lease(.held(let holder)): held(.held(by: holder), index, sight)
    case .launch(let error): launched(error, phone, sight)
    case .lease(.trouble), .stamp, .rested: break
    }
  }

  private mutating func door(_ look: DoorLook, _ index: Int, _ sight: Sight) {
    switch look {
    case .answered: bodies[index].answered(sight)
    case .silent: bodies[index].wasSilent()
    case .unreachable(.absent): bodies[index].cannotSee(sight.awake, forAbsence: true)
    case .unreachable: bodies[index].cannotSee(sight.awake, forAbsence: false)
    }
  }

  private mutating func session(_ error: PhoneError?, _ index: Int, _ sight: Sight) {
    guard let error else {
      if bodies[index].wasBarred { bodies[index].graceAnew(sight.awake) }
      bodies[index].sessionFailed = nil
      bodies[index].wasBarred = false
      return
    }
    switch error {
    case .untrusted:
      bodies[index].sessionFailed = bodies[index].sessionFailed ?? bodies[index].asked
      bodies[index].wasBarred = true
    case .silent, .tls: bodies[index].sessionFailed = bodies[index].sessionFailed ?? bodies[index].asked
    default: break
    }
  }

  private mutating func launched(_ error: PhoneError?, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    guard case .launchRefused(_, let refusal, _) = error else {
      bodies[index].refusal = nil
      switch error {
      case .untrusted, .tls:
        // Nothing was sent, and it is a session that failed.
        session(error, index, sight)
        return
      default: break
      }
      sent(index, sight)
      switch error {
      // It may have been taken all the same.
      case nil, .silent, .lost: bodies[index].accepted = sight.awake
      default: break
      }
      return
    }
    switch refusal {
    case .notInstalled, .noDeveloperImage, .developerModeOff, .notOnThisIOS: break
    case .locked, .notDebuggable, .appUntrusted, .appExited, .failed: sent(index, sight)
    }
    if refusal == .locked { bodies[index].wasRefusedAsLocked = true }
    let isKnown = stands(refusal, phone) && !bodies[index].factsUnread
    bodies[index].refusal = isKnown ? (refusal, phone.build, phone.isSignerTrusted) : nil
    bodies[index].wasRefused = true
  }

  private mutating func sent(_ index: Int, _ sight: Sight) {
    bodies[index].sentRequests += 1
    bodies[index].launch = bodies[index].attempt
    if bodies[index].sentRequests == 1 { bodies[index].sent = bodies[index].sent.suffix(9) + [sight.now] }
  }
}
