import Transport
import Wire

/// What the mux's connections ask of the bus.
extension MuxBus {
  /// The device list's elements.
  var devices: [Plist] {
    state.with {
      $0.slots.flatMap { slot -> [Plist] in
        guard let slot, slot.isListed else { return [] }
        return slot.entries.map { $0.attached(slot.phone.identity) }
      }
    }
  }

  /// The phone that has this number now, and what opens when it has it no more.
  func phone(_ id: Int) -> (phone: VirtualPhone, gone: Latch)? {
    state.with {
      for case .some(let slot) in $0.slots where slot.entries.contains(where: { Int($0.id) == id }) {
        return (slot.phone, slot.gone)
      }
      return nil
    }
  }

  /// The phone listed under that spelling, with its first entry.
  func entry(spelled serial: String) -> (phone: VirtualPhone, entry: MuxEntry)? {
    state.with {
      for case .some(let slot) in $0.slots {
        if let entry = slot.entries.first(where: { $0.serial == serial }) { return (slot.phone, entry) }
      }
      return nil
    }
  }

  var manners: MuxManners { state.with { $0.manners } }

  /// Counts one Connect to a phone that accepts and closes at once.
  ///
  /// - Returns: whether the answer to it is lost; with real manners every fourth is.
  func losesShortConnect() -> Bool {
    state.with {
      guard $0.manners == .real else { return false }
      $0.shortConnects += 1
      return $0.shortConnects.isMultiple(of: 4)
    }
  }

  // MARK: - Listening

  /// Answers Listen, replays what is listed, and tells of every change from then on.
  func subscribe(_ listener: MuxListener, tag: UInt32) {
    let late = state.with {
      let phones = $0.awaitingListen
      $0.awaitingListen = []
      return phones
    }
    for phone in late { attach(phone) }
    state.with { state in
      listener.enqueue(MuxReply.result(.ok), tag: tag)
      for case .some(let slot) in state.slots where slot.isListed {
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
}
