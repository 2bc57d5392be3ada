import DeviceBridge
import Fleet
import Wire

/// What the world does: the script, and what follows from it.
extension Simulation {
  mutating func happen(_ item: WorldItem) {
    switch item {
    case .start: start()
    case .hostLine(let number):
      nextHostLine = number + 1
      if nextHostLine < hostLines.count { world.put(.hostLine(nextHostLine), at: hostLines[nextHostLine].at) }
      look()
      happen(toHost: hostLines[number])
    case .phoneLine(let phone, let number):
      phones[phone].nextLine = number + 1
      let lines = phoneLines[phone]
      if number + 1 < lines.count { world.put(.phoneLine(phone, number + 1), at: lines[number + 1].at) }
      if process != nil {
        witness.look(at: phones[phone], outcome: fleet.outcome(of: phones[phone].udid), sight)
      }
      phones[phone].changed = now
      happen(to: phone, lines[number])
    case .appReady(let phone, let turn):
      phones[phone].planned -= 1
      if phones[phone].appTurn == turn, phones[phone].app == .starting {
        phones[phone].app = .answering
        phones[phone].changed = now
      }
    case .appDies(let phone, let turn):
      phones[phone].planned -= 1
      if phones[phone].appTurn == turn, phones[phone].app != .missing { setApp(phone, .dead) }
    case .launchLands(let phone, _, _):
      phones[phone].planned -= 1
      launchLands(phone)
    case .plugged(let phone):
      phones[phone].planned -= 1
      phones[phone].changed = now
      plug(phone)
    case .reviverLetsGo(let phone):
      phones[phone].planned -= 1
      phones[phone].changed = now
      if phones[phone].lease == .reviver { phones[phone].lease = .nobody }
    case .diskTakes(let entry, let process, let generation):
      // What is written to a deleted file is nowhere.
      if process == self.process, generation == record.generation { diskTakes(entry) }
    case .stampTaken(let phone, let stamp, let memory):
      phones[phone].planned -= 1
      // Handed to the disk, whatever has become of the process.
      stampTaken(phone, stamp, memory)
    }
  }

  private mutating func look() {
    guard process != nil else { return }
    witness.look(
      atHost: fleet.host.outcome, isHubOff: phones.contains { !$0.hasPower }, unstored: fleet.unstored, mux: mux, sight)
  }

  // MARK: - The supervisor's process

  mutating func start() {
    guard process == nil else { return }
    guard now - slept >= awakeAtSleep else {
      world.put(.start, at: awakeAtSleep + slept)
      return
    }
    processes += 1
    process = processes
    if setting.keepsTrace { trace.append(Trace(at: now, phone: nil, what: .start)) }
    fleet = FleetWatch(setting.rules, past: record.hostPast, boot: boot, at: time)
    witness.started(sight)
    for index in phones.indices {
      endPause(index)
      if phones[index].isBody { add(index) }
    }
    lastHostChange = max(lastHostChange, now)
    for phone in phones.indices { scheduleWakes(phone) }
    tellMux()
  }

  /// Over a boot of the host's only the wall clocks tell how long a pause has gone on.
  mutating func endPause(_ index: Int) {
    guard let pause = record.pauses[phones[index].udid], pause.began.boot != boot else { return }
    phones[index].pausedUntil = now + pause.length - max(time.wall - pause.began.wall, .zero)
  }

  private mutating func add(_ index: Int) {
    let phone = phones[index]
    fleet.add(phone.udid, name: phone.name, phone.rules, past: record.past(of: phone.udid), at: time)
    witness.begins(index, outcome: fleet.outcome(of: phone.udid), revivals: fleet.revivals(of: phone.udid), sight)
  }

  mutating func kill(down: Duration) {
    guard process != nil else { return }
    process = nil
    killAfter = nil
    supervisor.removeAll()
    fleetWake = nil
    for index in phones.indices {
      phones[index].scheduledWake = nil
      phones[index].underway = 0
      letGo(index)
    }
    witness.killed(keepsMemory: disk == .fine && fleet.unstored == 0 && !record.isDeleted)
    world.put(.start, at: now + down)
  }

  /// The daemon's first words, or its silence.
  private mutating func tellMux() {
    switch mux {
    case .there:
      send(.muxConnected)
      for phone in phones { for device in phone.devices { sendAttached(phone.index, device) } }
      for phone in phones { if let device = phone.networkDevice { sendNetwork(phone.index, device) } }
    case .gone: send(.muxLost(.noMux(.system)))
    case .silent: send(.muxLost(.muxSilent(.system, detail: "no reply")))
    }
  }

  private mutating func send(_ event: FleetEvent) {
    guard let process else { return }
    supervisor.put(.event(event, process: process), at: awake + .milliseconds(20))
  }

  mutating func send(_ event: BodyEvent, _ phone: Int) {
    guard process != nil else { return }
    phones[phone].underway += 1
    send(.body(phones[phone].udid, event))
  }

  mutating func sendAttached(_ phone: Int, _ device: Int) {
    send(.attached(device: device, .usb, port: phones[phone].port), phone)
  }

  private mutating func sendNetwork(_ phone: Int, _ device: Int) {
    send(.attached(device: device, .network, port: nil), phone)
  }

  // MARK: - The host

  private mutating func happen(toHost line: ScriptLine) {
    lastHostChange = max(lastHostChange, now)
    guard case .host(let verb) = line.verb else { return }
    let span = line.span ?? .zero
    switch verb {
    case .muxGone: changeMux(.gone)
    case .muxSilent: changeMux(.silent)
    case .muxBack: changeMux(.there)
    case .diskFull: disk = .full
    case .diskSlow: disk = .slow
    case .diskDead: disk = .dead
    case .diskFine: disk = .fine
    case .recordDeleted: if process != nil { record.delete() }
    case .descriptorsOut: hasDescriptors = false
    case .descriptorsBack: hasDescriptors = true
    case .sleep:
      guard isRunning else { return }
      awakeAtSleep = awake
      slept += span
      witness.slept(sight)
      // The world goes on meanwhile; the supervisor's clock has not moved.
      lastHostChange = max(lastHostChange, now + span, stalledUntil + slept)
    case .stall:
      witness.stalled(max(awake + span - max(stalledUntil, awake), .zero), sight)
      stalledUntil = max(stalledUntil, awake + span)
      lastHostChange = max(lastHostChange, now + span, stalledUntil + slept)
    case .wallBack: wallShift -= span
    case .wallForward: wallShift += span
    case .kill: kill(down: span)
    case .killAfter: killAfter = (Int(span.components.seconds), .seconds(3))
    case .hostReboot:
      kill(down: max(span, .seconds(20)))
      boots += 1
      bootedAt = now
    case .hubOff: setHub(of: line.phone, hasPower: false)
    case .hubOn: setHub(of: line.phone, hasPower: true)
    case .end: break
    }
  }

  private mutating func changeMux(_ state: MuxState) {
    guard state != mux else { return }
    mux = state
    for index in phones.indices { phones[index].changed = now }
    tellMux()
  }

  private mutating func setHub(of phone: Int, hasPower: Bool) {
    let hub = phones.indices.filter { $0 / 5 == phone / 5 }
    let isCalm = hub.allSatisfy { phones[$0].isBody && phones[$0].isThere && now - phones[$0].changed > .seconds(60) }
    if hasPower { witness.hubBack(hub, sight) } else if isCalm, process != nil { witness.hubLost(hub, sight) }
    for index in hub where phones[index].hasPower != hasPower {
      let wasThere = phones[index].isThere
      phones[index].hasPower = hasPower
      phones[index].changed = now
      if hasPower, phones[index].isThere { appear(index) } else if wasThere, !hasPower { vanish(index) }
    }
  }

  // MARK: - Presence

  mutating func plug(_ index: Int) {
    guard !phones[index].isPlugged else { return }
    phones[index].isPlugged = true
    if phones[index].isThere { appear(index) }
  }

  mutating func unplug(_ index: Int) {
    guard phones[index].isPlugged else { return }
    let wasThere = phones[index].isThere
    phones[index].isPlugged = false
    if wasThere { vanish(index) }
  }

  private mutating func appear(_ index: Int) {
    nextDevice += 1
    phones[index].devices = [nextDevice]
    if mux == .there { sendAttached(index, nextDevice) }
  }

  private mutating func vanish(_ index: Int) {
    for device in phones[index].devices where mux == .there { send(.detached(device: device), index) }
    phones[index].devices = []
  }

  mutating func setTwin(_ index: Int, _ isThere: Bool) {
    guard phones[index].isThere else { return }
    if isThere, phones[index].devices.count == 1 {
      nextDevice += 1
      phones[index].devices.append(nextDevice)
      if mux == .there { sendAttached(index, nextDevice) }
    } else if !isThere, phones[index].devices.count == 2 {
      let old = phones[index].devices.removeFirst()
      if mux == .there { send(.detached(device: old), index) }
    }
  }

  mutating func setNetwork(_ index: Int, _ isOn: Bool) {
    guard (phones[index].networkDevice != nil) != isOn else { return }
    if isOn {
      nextDevice += 1
      phones[index].networkDevice = nextDevice
      if mux == .there { sendNetwork(index, nextDevice) }
    } else if let device = phones[index].networkDevice {
      phones[index].networkDevice = nil
      if mux == .there { send(.detached(device: device), index) }
    }
  }

  // MARK: - The lock

  mutating func setLock(_ index: Int, locked: Bool) {
    guard phones[index].isLocked != locked || phones[index].isBeforeFirstUnlock else { return }
    phones[index].isLocked = locked
    if !locked { phones[index].isBeforeFirstUnlock = false }
    phones[index].changed = now
    if !locked, phones[index].app == .behindLock { begin(index) }
    guard phones[index].tellsLock, phones[index].isThere, mux == .there, let process else { return }
    phones[index].underway += 1
    supervisor.put(.lockNotice(index, process: process), at: awake + .milliseconds(150))
  }
}
