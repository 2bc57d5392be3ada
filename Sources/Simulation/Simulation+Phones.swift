import DeviceBridge
import Fleet
import Wire

/// What the script does to one phone.
extension Simulation {
  mutating func happen(to index: Int, _ line: ScriptLine) {
    guard case .phone(let verb) = line.verb else { return }
    let span = line.span ?? .zero
    switch verb {
    case .appDies: if phones[index].app != .missing { setApp(index, .dead) }
    case .appStarts: if phones[index].app != .missing, !phones[index].isBeforeFirstUnlock { setApp(index, .answering) }
    case .appHangs: if phones[index].app == .answering { setApp(index, .hung) }
    case .appHalfAnswers: if phones[index].app == .answering { setApp(index, .halfAnswering) }
    case .appRemoved: setApp(index, .missing)
    case .appInstalled: if phones[index].app == .missing { setApp(index, .dead) }
    case .appUpdated:
      phones[index].build += 1
      if phones[index].manner == .refusedUntrusted { phones[index].manner = Phone.usual }
    case .launchWorks: phones[index].manner = Phone.usual
    case .launchAnswersAfter: phones[index].manner = .works(after: span, diesAfter: nil)
    case .launchDiesAfter: phones[index].manner = .works(after: .milliseconds(1_500), diesAfter: span)
    case .launchNeverAnswers: phones[index].manner = .neverAnswers
    case .launchHangs: phones[index].manner = .hangs
    case .launchHalfAnswers: phones[index].manner = .halfAnswers
    case .launchCrashes: phones[index].manner = .crashes
    case .launchFails: phones[index].manner = .fails
    case .launchUnanswered: phones[index].manner = .unanswered
    case .launchRefusedLocked: phones[index].manner = .refusedLocked
    case .launchRefusedUntrusted: phones[index].manner = .refusedUntrusted
    case .launchLocks: phones[index].manner = .locks
    case .lock: setLock(index, locked: true)
    case .unlock: setLock(index, locked: false)
    case .lockUnreadable: phones[index].lockManner = .unreadable
    case .lockReadable: phones[index].lockManner = .readable
    case .lockSlow: phones[index].lockManner = .slow
    case .lockSilent: phones[index].tellsLock = false
    case .unplug: unplug(index)
    case .plug: plug(index)
    case .flap:
      guard phones[index].isPlugged else { return }
      unplug(index)
      plan(.plugged(index), index, after: span)
    case .networkOn: setNetwork(index, true)
    case .networkOff: setNetwork(index, false)
    case .twinOn: setTwin(index, true)
    case .twinOff: setTwin(index, false)
    case .reboot: reboot(index, span)
    case .trustGiven: phones[index].trust = .trusted
    case .trustPending: phones[index].trust = .pending
    case .trustDenied: phones[index].trust = .denied
    case .trustStale: phones[index].trust = .stale
    case .trustNone: phones[index].trust = .untrusted
    case .lockdownHangs: phones[index].isLockdownHung = true
    case .lockdownWorks: phones[index].isLockdownHung = false
    case .tlsFails: phones[index].isTLSBroken = true
    case .tlsWorks: phones[index].isTLSBroken = false
    case .imageGone: phones[index].hasImage = false
    case .imageMounted: phones[index].hasImage = true
    case .mountFails: phones[index].mountFails = true
    case .mountWorks: phones[index].mountFails = false
    case .serviceLate: phones[index].serviceFrom = now + span
    case .handsOn: phones[index].hands = .on
    case .handsOff: phones[index].hands = .off
    case .handsOdd: phones[index].hands = .odd
    case .runTakes: take(index, .run)
    case .personTakes: take(index, .person)
    case .letsGo: othersLetGo(index)
    case .pause: pause(index, span)
    case .resume: pause(index, nil)
    case .revive: revive(index)
    case .bodyDropped: setBody(index, false)
    case .bodyAdded: setBody(index, true)
    }
  }

  private mutating func reboot(_ index: Int, _ span: Duration) {
    guard phones[index].isPlugged else { return }
    unplug(index)
    if phones[index].app != .missing { setApp(index, .dead) }
    phones[index].isBeforeFirstUnlock = true
    phones[index].isLocked = true
    phones[index].hands = .off
    phones[index].hasImage = false
    phones[index].boot += 1
    plan(.plugged(index), index, after: span)
  }

  // MARK: - Others

  private mutating func take(_ index: Int, _ lease: Phone.Lease) {
    switch phones[index].lease {
    case .nobody: phones[index].lease = lease
    case .us: if phones[index].waiting == nil { phones[index].waiting = (lease, awake) }
    case .run, .person, .reviver: break
    }
  }

  private mutating func othersLetGo(_ index: Int) {
    phones[index].waiting = nil
    if phones[index].lease == .run || phones[index].lease == .person { phones[index].lease = .nobody }
  }

  private mutating func pause(_ index: Int, _ span: Duration?) {
    // What can't be stored is not promised.
    guard process != nil, isRunning, phones[index].isBody, disk == .fine else { return }
    phones[index].pausedUntil = span.map { now + $0 }
    let pause = span.map { Pause(began: stamp, length: $0, user: "ada", reason: "cleaning") }
    record.pauses[phones[index].udid] = pause
    deliver(.paused(pause), to: index)
  }

  /// A person asks for a revival: no grace, no spacing, no pause; its launch is stamped.
  private mutating func revive(_ index: Int) {
    let phone = phones[index]
    guard phone.lease == .nobody, phone.isThere, phone.session == nil, !phone.isLocked, phone.hands != .on,
      phone.app != .answering, mux == .there
    else { return }
    phones[index].lease = .reviver
    record.stamps[phone.udid] = stamp
    witness.launchedByOthers(index, stamp)
    plan(.launchLands(index, token: 0, process: 0), index, after: .seconds(1))
    plan(.reviverLetsGo(index), index, after: .seconds(12))
  }

  private mutating func setBody(_ index: Int, _ isBody: Bool) {
    guard phones[index].isBody != isBody, isRunning else { return }
    phones[index].isBody = isBody
    phones[index].scheduledWake = nil
    guard process != nil else { return }
    let udid = phones[index].udid
    guard isBody else {
      fleet.drop(udid)
      // What was asked for it comes back to nobody; its lock goes with the lane.
      phones[index].token += 1
      letGo(index)
      return
    }
    endPause(index)
    fleet.add(udid, name: phones[index].name, phones[index].rules, past: record.past(of: udid), at: time)
    witness.begins(index, outcome: fleet.outcome(of: udid), revivals: fleet.revivals(of: udid), sight)
    for device in phones[index].devices where mux == .there { sendAttached(index, device) }
    scheduleWakes(index)
  }
}
