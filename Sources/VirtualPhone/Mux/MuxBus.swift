import Transport
import Wire

/// The bus behind the mux: which phones are plugged in, under which numbers, and who listens for changes.
final class MuxBus: Sendable {
  private struct Slot {
    let phone: VirtualPhone
    var entries: [MuxEntry]
  }

  private struct State {
    var slots: [Slot] = []
    /// Numbers rise and are not used again while the daemon lives.
    var lastID: UInt32 = 0
    var listeners: [ObjectIdentifier: MuxListener] = [:]
    /// Plugged in by the next Listen, just before it is answered.
    var awaitingListen: [VirtualPhone] = []
    var daemon: MuxDaemon?
    var isSilent = false
  }

  let records = PairRecords()
  let pacing = ReplyPacing()
  /// The host's own identifier, as ReadBUID gives it.
  let buid = Fresh.uuid()
  private let state = Guarded(State())

  // MARK: - Plugging

  /// Plugs the phone in under a new number; nothing happens to one that is in.
  func attach(_ phone: VirtualPhone) {
    state.with { state in
      guard !state.slots.contains(where: { $0.phone === phone }) else { return }
      let entries = Self.number(phone, in: &state)
      state.slots.append(Slot(phone: phone, entries: entries))
      for entry in entries { Self.announce(entry.attached(phone.identity), in: &state) }
    }
    flush()
  }

  /// Pulls the cable: every connection to the phone ends.
  func detach(_ phone: VirtualPhone) {
    state.with { state in
      state.awaitingListen.removeAll { $0 === phone }
      guard let index = state.slots.firstIndex(where: { $0.phone === phone }) else { return }
      phone.state.with {
        $0.attached = false
        $0.deviceID = 0
      }
      for entry in state.slots.remove(at: index).entries { Self.announce(entry.detached, in: &state) }
    }
    phone.ports.endConnections()
    flush()
  }

  /// Plugs the phone in when the next host says Listen, in the gap between its questions.
  func attachOnListen(_ phone: VirtualPhone) {
    state.with { if !$0.awaitingListen.contains(where: { $0 === phone }) { $0.awaitingListen.append(phone) } }
  }

  /// Lists the phone in another way from now on: entries come and go with their events; a new spelling is a replug.
  func relist(_ phone: VirtualPhone, as listing: MuxListing) {
    let before = phone.state.with {
      let before = $0.listing
      $0.listing = listing
      return before
    }
    guard before.serial == listing.serial, before.network != .only, listing.network != .only else {
      guard phone.state.with({ $0.attached }) else { return }
      detach(phone)
      attach(phone)
      return
    }
    state.with { state in
      guard let index = state.slots.firstIndex(where: { $0.phone === phone }) else { return }
      let old = state.slots[index].entries
      let serial = listing.spelling(of: phone.udid)
      var fresh: [MuxEntry] = []
      state.slots[index].entries = listing.links.map { link in
        if let kept = old.first(where: { $0.link == link }) { return kept }
        state.lastID += 1
        fresh.append(MuxEntry(id: state.lastID, link: link, serial: serial))
        return fresh[fresh.count - 1]
      }
      let kept = state.slots[index].entries
      for entry in old where !kept.contains(entry) { Self.announce(entry.detached, in: &state) }
      for entry in fresh { Self.announce(entry.attached(phone.identity), in: &state) }
    }
    flush()
  }

  /// The daemon has started anew: numbers begin at 1 again, in the order of the bus.
  func renumber() {
    state.with { state in
      state.lastID = 0
      for index in state.slots.indices {
        state.slots[index].entries = Self.number(state.slots[index].phone, in: &state)
      }
    }
  }

  private static func number(_ phone: VirtualPhone, in state: inout State) -> [MuxEntry] {
    let listing = phone.state.with { $0.listing }
    let serial = listing.spelling(of: phone.udid)
    let entries = listing.links.map { link in
      state.lastID += 1
      return MuxEntry(id: state.lastID, link: link, serial: serial)
    }
    phone.state.with {
      $0.attached = true
      $0.deviceID = entries.first { $0.link == .usb }?.id ?? entries.first?.id ?? 0
    }
    return entries
  }

  // MARK: - The daemon's own troubles

  var daemon: MuxDaemon? { state.with { $0.daemon } }

  func connect(_ daemon: MuxDaemon) { state.with { $0.daemon = daemon } }

  /// Whether requests are taken and never answered.
  var isSilent: Bool { state.with { $0.isSilent } }

  func setSilent(_ isSilent: Bool) { state.with { $0.isSilent = isSilent } }

  /// Ends the connections of all who listen; nothing else changes.
  func dropListeners() {
    for listener in state.with({ Array($0.listeners.values) }) { listener.end() }
  }

  // MARK: - Questions

  /// The device list's elements.
  var devices: [Plist] {
    state.with { $0.slots.flatMap { slot in slot.entries.map { $0.attached(slot.phone.identity) } } }
  }

  /// The phone that has this number now.
  func phone(_ id: Int) -> VirtualPhone? {
    state.with { $0.slots.first { $0.entries.contains { Int($0.id) == id } }?.phone }
  }

  /// The phone listed under that spelling, with its first entry.
  func entry(spelled serial: String) -> (phone: VirtualPhone, entry: MuxEntry)? {
    state.with {
      for slot in $0.slots {
        if let entry = slot.entries.first(where: { $0.serial == serial }) { return (slot.phone, entry) }
      }
      return nil
    }
  }

  // MARK: - Listening

  /// Answers Listen, replays what is plugged in, and tells of every change from then on.
  func subscribe(_ listener: MuxListener, tag: UInt32) {
    let late = state.with {
      let phones = $0.awaitingListen
      $0.awaitingListen = []
      return phones
    }
    for phone in late { attach(phone) }
    state.with { state in
      listener.enqueue(MuxReply.result(.ok), tag: tag)
      for slot in state.slots {
        for entry in slot.entries { listener.enqueue(entry.attached(slot.phone.identity)) }
      }
      state.listeners[ObjectIdentifier(listener)] = listener
    }
    listener.flush()
  }

  func unsubscribe(_ listener: MuxListener) {
    state.with { $0.listeners[ObjectIdentifier(listener)] = nil }
  }

  /// The Listen requests of those who listen.
  var listenRequests: [Plist] { state.with { $0.listeners.values.map(\.request) } }

  /// A record was stored for the entry: listeners hear of it.
  func announcePaired(_ entry: MuxEntry) {
    state.with { Self.announce(entry.paired, in: &$0) }
    flush()
  }

  /// Lets go of everything; the bus is of no more use.
  func end() {
    pacing.end()
    state.with { $0 = State() }
  }

  private static func announce(_ event: Plist, in state: inout State) {
    for listener in state.listeners.values { listener.enqueue(event) }
  }

  private func flush() {
    for listener in state.with({ Array($0.listeners.values) }) { listener.flush() }
  }
}
