import Transport
import Wire

/// The bus behind the mux: which phones are plugged in, what the daemon knows of them, and who listens for changes.
final class MuxBus: Sendable {
  /// A phone that the daemon has found on the bus.
  struct Slot {
    let phone: VirtualPhone
    var entries: [MuxEntry]
    /// False while the daemon keeps the phone to itself.
    var isListed: Bool
    /// Opens when the phone leaves, or the daemon.
    let gone = Latch()
    var preflight: MuxPreflight?
  }

  struct State {
    /// In the order of the bus, whether a daemon runs or not.
    var plugged: [VirtualPhone] = []
    /// The daemon's own table; with real manners the first free place is taken again.
    var slots: [Slot?] = []
    /// Numbers rise and are not used again while the daemon lives.
    var lastID: UInt32 = 0
    var isUp = true
    var manners = MuxManners.plain
    var listeners: [ObjectIdentifier: MuxListener] = [:]
    /// Plugged in by the next Listen, just before it is answered.
    var awaitingListen: [VirtualPhone] = []
    var daemon: MuxDaemon?
    var silence = MuxSilence.none
    /// Connects to a phone that accepts and closes at once.
    var shortConnects = 0
  }

  let records = PairRecords()
  let pacing = ReplyPacing()
  /// The host's own identifier, as ReadBUID gives it.
  let buid = Fresh.uuid()
  let state: Guarded<State>

  init(manners: MuxManners = .plain) {
    var start = State()
    start.manners = manners
    state = Guarded(start)
  }

  // MARK: - Plugging

  /// Plugs the phone in under a new number; nothing happens to one that is in.
  ///
  /// - Parameter isHidden: the daemon finds it and never lists it, as after a preflight that failed.
  func attach(_ phone: VirtualPhone, isHidden: Bool = false) {
    let isNew = state.with { state in
      guard !state.plugged.contains(where: { $0 === phone }) else { return false }
      state.plugged.append(phone)
      phone.state.with { $0.attached = true }
      return true
    }
    if isNew { discover(phone, isHidden: isHidden) }
  }

  /// The daemon finds a phone that is plugged in: it has a number from now on, and is listed now or after preflight.
  func discover(_ phone: VirtualPhone, isHidden: Bool = false) {
    let preflight = state.with { state -> MuxPreflight? in
      guard state.isUp, state.plugged.contains(where: { $0 === phone }),
        !state.slots.contains(where: { $0?.phone === phone })
      else { return nil }
      var slot = Slot(phone: phone, entries: Self.number(phone, in: &state), isListed: false)
      switch state.manners {
      case _ where isHidden: break
      case .plain: slot.isListed = true
      case .real: slot.preflight = MuxPreflight(of: phone, as: slot.entries.first, on: self, until: slot.gone)
      }
      let place = state.manners == .real ? state.slots.firstIndex { $0 == nil } : nil
      if let place { state.slots[place] = slot } else { state.slots.append(slot) }
      if slot.isListed { Self.announce(slot, in: &state) }
      return slot.preflight
    }
    flush()
    preflight?.start()
  }

  /// Preflight is over: the phone is listed from now on, unless it has left in the meantime.
  func list(_ phone: VirtualPhone) {
    state.with { state in
      guard let index = state.index(of: phone), var slot = state.slots[index], !slot.isListed else { return }
      slot.isListed = true
      state.slots[index] = slot
      Self.announce(slot, in: &state)
    }
    flush()
  }

  /// Pulls the cable: every connection to the phone ends.
  func detach(_ phone: VirtualPhone) {
    let gone = state.with { state -> Latch? in
      state.awaitingListen.removeAll { $0 === phone }
      state.plugged.removeAll { $0 === phone }
      phone.state.with {
        $0.attached = false
        $0.deviceID = 0
      }
      guard let index = state.index(of: phone), let slot = state.slots[index] else { return nil }
      switch state.manners {
      case .plain: state.slots.remove(at: index)
      case .real: state.slots[index] = nil
      }
      if slot.isListed {
        for entry in slot.entries { Self.announce(entry.detached, in: &state) }
      }
      return slot.gone
    }
    gone?.open()
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
      guard let index = state.index(of: phone), var slot = state.slots[index] else { return }
      let old = slot.entries
      var fresh: [MuxEntry] = []
      slot.entries = state.manners.links(of: listing).map { link in
        let kept = old.first { $0.link == link && (link != .network || $0.address == listing.address) }
        if let kept { return kept }
        fresh.append(Self.entry(link, of: phone, in: &state))
        return fresh[fresh.count - 1]
      }
      state.slots[index] = slot
      guard slot.isListed else { return }
      for entry in old where !slot.entries.contains(entry) { Self.announce(entry.detached, in: &state) }
      for entry in fresh { Self.announce(entry.attached(phone.identity), in: &state) }
    }
    flush()
  }

  // MARK: - Numbers and events

  private static func number(_ phone: VirtualPhone, in state: inout State) -> [MuxEntry] {
    let links = state.manners.links(of: phone.state.with { $0.listing })
    let entries = links.map { entry($0, of: phone, in: &state) }
    phone.state.with { $0.deviceID = entries.first { $0.link == .usb }?.id ?? entries.first?.id ?? 0 }
    return entries
  }

  private static func entry(_ link: MuxEntry.Link, of phone: VirtualPhone, in state: inout State) -> MuxEntry {
    let listing = phone.state.with { $0.listing }
    state.lastID += 1
    return MuxEntry(
      id: state.lastID, link: link, serial: listing.spelling(of: phone.udid), address: listing.address)
  }

  static func announce(_ slot: Slot, in state: inout State) {
    for entry in slot.entries { announce(entry.attached(slot.phone.identity), in: &state) }
  }

  static func announce(_ event: Plist, in state: inout State) {
    for listener in state.listeners.values { listener.enqueue(event) }
  }

  /// Sends what waits for the listeners; never with the lock held.
  func flush() {
    for listener in state.with({ Array($0.listeners.values) }) { listener.flush() }
  }
}

extension MuxBus.State {
  func index(of phone: VirtualPhone) -> Int? { slots.firstIndex { $0?.phone === phone } }
}
