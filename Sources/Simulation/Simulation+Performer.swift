import DeviceBridge
import Fleet
import Wire

/// Carries out what the watch commands, on phones and host as they are at that moment.
extension Simulation {
  mutating func carryOut(_ commands: [FleetCommand]) {
    for command in commands {
      guard process != nil else { return }
      switch command {
      case .store(let entry): store(entry)
      case .body(let udid, let command):
        guard let phone = index[udid] else { continue }
        carryOut(command, phone)
      }
      countDown(command)
    }
  }

  /// Kills the supervisor once so many commands that matter have been carried out.
  private mutating func countDown(_ command: FleetCommand) {
    guard let (left, down) = killAfter, matters(command) else { return }
    killAfter = left > 1 ? (left - 1, down) : nil
    if left <= 1 { kill(down: down) }
  }

  /// Those of quiet rounds do not, since a simulation that leaps leaves them out.
  private func matters(_ command: FleetCommand) -> Bool {
    switch command {
    case .store: return true
    case .body(let udid, let command):
      if let phone = index[udid], phones[phone].lease == .us { return true }
      switch command {
      case .storeStamp, .readFacts, .mountImage, .letGo: return true
      case .step(let step, _):
        return switch step {
        case .takeLease, .storeStamp, .launch, .rest: true
        case .probe, .openSession, .askHands, .readLock: false
        }
      case .askHold, .lookAtPort, .row, .remember, .tellHost, .act: return false
      }
    }
  }

  private mutating func carryOut(_ command: BodyCommand, _ phone: Int) {
    witness.command(command, phones[phone], sight)
    let duration: Duration
    switch command {
    case .askHold, .lookAtPort: duration = .milliseconds(1)
    case .step(let step, let limit):
      duration = phones[phone].duration(of: step, within: limit, at: now)
      if case .launch(let fresh) = step { launch(phone, fresh: fresh, lands: min(duration / 2, .seconds(1))) }
    case .storeStamp(let stamp, let memory, let limit):
      duration = disk == .slow || disk == .dead ? limit : .milliseconds(6)
      store(stamp, memory, of: phone)
    case .readFacts: duration = .milliseconds(210)
    case .mountImage(let limit): duration = min(.seconds(4), limit)
    case .letGo:
      letGo(phone)
      return
    case .row, .remember, .tellHost, .act: return
    }
    phones[phone].token += 1
    phones[phone].asked = command
    guard let process else { return }
    supervisor.put(.answer(phone, token: phones[phone].token, process: process), at: awake + duration)
  }

  // MARK: - Answers

  mutating func answer(_ command: BodyCommand, _ phone: Int) {
    let event: BodyEvent
    switch command {
    case .askHold: event = .hold(holdLook(phone))
    case .lookAtPort: event = .port(showsPhone: phones[phone].isPlugged && phones[phone].hasPower)
    case .step(let step, _): event = .step(answer(step, phone))
    case .storeStamp: event = .step(.stamp(phones[phone].stampTrouble))
    case .readFacts:
      var facts = phones[phone].facts
      facts.stamp = record.stamps[phones[phone].udid]
      if unreachable(phone) != nil || phones[phone].session != nil {
        let stamp = facts.stamp
        facts = LaunchFacts()
        facts.stamp = stamp
      }
      event = .facts(facts)
    case .mountImage: event = .mounted(mount(phone))
    case .letGo, .row, .remember, .tellHost, .act: return
    }
    witness.answered(command, event, phones[phone], sight)
    deliver(event, to: phone)
  }

  /// What keeps this side from the phone.
  func unreachable(_ phone: Int) -> PhoneError? {
    if !hasDescriptors { return .host(code: 24, step: "connecting") }
    switch mux {
    case .gone: return .noMux(.system)
    case .silent: return .muxSilent(.system, detail: "no reply in time")
    case .there: return phones[phone].isThere ? nil : .absent(phones[phone].udid)
    }
  }

  private func holdLook(_ phone: Int) -> HoldLook {
    switch phones[phone].lease {
    case .nobody, .us: .free
    case .run: .held(by: Holder(pid: 7, user: "nightly", purpose: .run, run: 17))
    case .person: .held(by: Holder(pid: 8, user: "ada", purpose: .hold, reason: "the battery"))
    case .reviver: .held(by: Holder(pid: 9, user: "ada", purpose: .revive))
    }
  }

  private mutating func answer(_ step: ReviveCommand, _ phone: Int) -> ReviveEvent {
    let trouble = unreachable(phone)
    switch step {
    case .probe: return .door(trouble.map { .unreachable($0) } ?? phones[phone].door)
    case .takeLease:
      guard case .held(let holder) = holdLook(phone) else {
        phones[phone].lease = .us
        return .lease(.taken(waited: false))
      }
      return .lease(.held(by: holder))
    case .openSession: return .session(trouble ?? phones[phone].session)
    case .askHands:
      if let trouble { return .hands(.unreachable(trouble)) }
      return switch phones[phone].hands {
      case .off: .hands(.absent)
      case .on: .hands(.running)
      case .odd: .hands(.unknown(detail: "accepted, and no byte"))
      }
    case .readLock:
      guard trouble == nil else { return .lock(LockReading(state: .unknown, why: "the phone is not there")) }
      return .lock(phones[phone].lockReading)
    case .storeStamp: return .stamp(phones[phone].stampTrouble)
    case .launch: return .launch(launchResult(phone, trouble))
    case .rest: return .rested
    }
  }

  // MARK: - Launches

  private mutating func launch(_ phone: Int, fresh: Bool, lands: Duration) {
    launches += 1
    if setting.keepsTrace { trace.append(Trace(at: now, phone: phone, what: .launch(fresh: fresh))) }
    phones[phone].launchSession = phones[phone].session
    phones[phone].launchRefusal = phones[phone].refusal(at: now)
    guard unreachable(phone) == nil, let process else { return }
    plan(.launchLands(phone, token: phones[phone].token + 1, process: process), phone, after: lands)
  }

  /// The request has reached the phone, whatever has become of the supervisor.
  mutating func launchLands(_ index: Int) {
    guard phones[index].isThere, phones[index].session == nil, phones[index].refusal(at: now) == nil else { return }
    if case .locks = phones[index].manner { setLock(index, locked: true) }
    switch phones[index].manner {
    case .refusedLocked, .fails, .refusedUntrusted, .crashes, .unanswered:
      if phones[index].manner == .crashes { setApp(index, .dead) }
      return
    case .works, .neverAnswers, .hangs, .halfAnswers, .locks: break
    }
    guard !phones[index].isLocked else {
      if !phones[index].refusesWhenLocked { setApp(index, .behindLock) }
      return
    }
    begin(index)
  }

  /// The app starts in front.
  mutating func begin(_ index: Int) {
    switch phones[index].manner {
    case .works(let after, let diesAfter):
      setApp(index, .starting)
      let turn = phones[index].appTurn
      plan(.appReady(index, turn: turn), index, after: after + .milliseconds(900))
      if let diesAfter { plan(.appDies(index, turn: turn), index, after: after + diesAfter) }
    case .hangs: setApp(index, .hung)
    case .halfAnswers: setApp(index, .halfAnswering)
    case .neverAnswers, .locks, .refusedLocked, .fails, .refusedUntrusted, .unanswered: setApp(index, .starting)
    case .crashes: setApp(index, .dead)
    }
  }

  mutating func setApp(_ index: Int, _ app: Phone.App) {
    phones[index].appTurn += 1
    if phones[index].app != app { phones[index].changed = now }
    phones[index].app = app
  }

  private func launchResult(_ index: Int, _ trouble: PhoneError?) -> PhoneError? {
    if let trouble { return trouble }
    let phone = phones[index]
    if let error = phone.launchSession { return error }
    if phone.session != nil { return .lost(phone.udid, step: "launching") }
    if let refusal = phone.launchRefusal { return .launchRefused(phone.udid, refusal, detail: "") }
    switch phone.manner {
    case .refusedLocked: return .launchRefused(phone.udid, .locked, detail: "Locked")
    case .refusedUntrusted: return .launchRefused(phone.udid, .appUntrusted, detail: "untrusted")
    case .fails: return .launchRefused(phone.udid, .failed, detail: "for no reason")
    case .unanswered: return .silent(phone.udid, step: "launching", limit: .seconds(30))
    case .crashes: return .launchRefused(phone.udid, .appExited, detail: "gone within a second")
    case .works, .neverAnswers, .hangs, .halfAnswers, .locks:
      return phone.isLocked && phone.refusesWhenLocked ? .launchRefused(phone.udid, .locked, detail: "Locked") : nil
    }
  }

  private mutating func mount(_ index: Int) -> MountLook {
    if let trouble = unreachable(index) { return .broken(trouble) }
    let phone = phones[index]
    if let error = phone.session { return .broken(error) }
    if phone.isLocked { return .locked }
    if setting.keepsTrace { trace.append(Trace(at: now, phone: index, what: .mount)) }
    guard !phone.mountFails else { return .failed(detail: "the image does not fit") }
    phones[index].hasImage = true
    phones[index].changed = now
    return .mounted
  }

  // MARK: - Others at the phone

  mutating func letGo(_ index: Int) {
    guard phones[index].lease == .us else { return }
    phones[index].lease = .nobody
    guard let (lease, _) = phones[index].waiting else { return }
    phones[index].waiting = nil
    phones[index].lease = lease
    phones[index].changed = now
  }

  // MARK: - The disk

  private var stampTrouble: HostTrouble? {
    switch disk {
    case .fine, .full: nil
    case .slow: .slowDisk(limit: .seconds(10))
    case .dead: .state(path: "/run/fleetctl", code: 28)
    }
  }

  private mutating func store(_ stamp: LaunchStamp, _ memory: WatchMemory, of phone: Int) {
    phones[phone].stampTrouble = stampTrouble
    guard stampTrouble == nil else { return }
    plan(.stampTaken(phone, stamp, memory), phone, after: .milliseconds(3))
  }

  private mutating func store(_ entry: LedgerEntry) {
    guard let process else { return }
    if record.isDeleted {
      record.isDeleted = false
      supervisor.put(.event(.recordBegunAnew(lastSeq: 0), process: process), at: awake + .milliseconds(4))
      return
    }
    switch disk {
    case .fine:
      world.put(.diskTakes(entry, process: process, generation: record.generation), at: now + .milliseconds(2))
      supervisor.put(.event(.stored, process: process), at: awake + .milliseconds(4))
    case .slow:
      // It arrives in the end, long after it was given up.
      world.put(.diskTakes(entry, process: process, generation: record.generation), at: now + .seconds(330))
      let event = FleetEvent.notStored(.slowDisk(limit: .seconds(10)))
      supervisor.put(.event(event, process: process), at: awake + .seconds(10))
    case .full, .dead:
      let event = FleetEvent.notStored(.state(path: "/var/lib/fleetctl/fleet.sqlite", code: 28))
      supervisor.put(.event(event, process: process), at: awake + .milliseconds(4))
    }
  }

  mutating func diskTakes(_ entry: LedgerEntry) {
    guard !record.isDeleted else { return }
    if let row = entry.row, let seq = row.seq {
      // Its number has a row already: this one, which was taken for lost.
      guard seq > record.lastSeq else { return }
      let was = row.udid.map { record.last[$0] } ?? record.host ?? OutcomeWords(.up)
      let isNew = record.wasDeleted && (row.udid == nil || was == nil)
      witness.stored(row, after: record.lastSeq, was: was, isNew: isNew, row.udid.flatMap { index[$0] }, sight)
      record.lastSeq = seq
      if let udid = row.udid {
        record.last[udid] = row.words
        record.since[udid] = row.at
      } else {
        record.host = row.words
      }
    }
    guard let udid = entry.udid else { return }
    if let memory = entry.memory { remember(memory, of: udid) }
    if let standing = entry.standing, record.last[udid] == nil {
      (record.last[udid], record.since[udid]) = (standing.words, standing.since)
    }
  }

  mutating func stampTaken(_ index: Int, _ stamp: LaunchStamp, _ memory: WatchMemory) {
    record.stamps[phones[index].udid] = stamp
    if disk == .fine, !record.isDeleted { remember(memory, of: phones[index].udid) }
    witness.stamped(index, stamp, sight)
  }

  private mutating func remember(_ memory: WatchMemory, of udid: UDID) {
    record.remember(memory, of: udid)
    guard let index = index[udid], let tried = memory.mountTried, tried.hasPrefix("p\(phones[index].boot)/") else {
      return
    }
    witness.mountRemembered(index)
  }

  // MARK: - Plans

  mutating func plan(_ item: WorldItem, _ phone: Int, after span: Duration) {
    phones[phone].planned += 1
    world.put(item, at: now + span)
  }
}
