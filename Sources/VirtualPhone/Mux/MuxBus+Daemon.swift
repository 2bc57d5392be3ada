import Transport
import Wire

/// How much of what it is asked the mux leaves unanswered.
struct MuxSilence: Equatable, Sendable {
  static let none = MuxSilence(answersLeft: nil)

  /// So many requests are answered yet; nil for all of them.
  var answersLeft: Int?
}

/// The daemon's own life and troubles, as far as the bus is concerned.
extension MuxBus {
  var daemon: MuxDaemon? { state.with { $0.daemon } }

  func connect(_ daemon: MuxDaemon) { state.with { $0.daemon = daemon } }

  /// The daemon is gone, and what it knew.
  func daemonEnded() {
    let slots = state.with { state in
      state.isUp = false
      let slots = state.slots.compactMap { $0 }
      state.slots = []
      return slots
    }
    for slot in slots {
      slot.phone.state.with { $0.deviceID = 0 }
      slot.preflight?.abandon()
      slot.gone.open()
    }
  }

  /// A daemon begins, with numbers from 1.
  ///
  /// - Returns: the phones that it will find, in the order of the bus.
  func daemonStarted() -> [VirtualPhone] {
    state.with {
      $0.isUp = true
      $0.lastID = 0
      return $0.plugged
    }
  }

  /// From now on the daemon behaves so; a phone that it kept to itself is listed when it has no more reason to.
  func setManners(_ manners: MuxManners) {
    let (daemon, hidden) = state.with { state in
      state.manners = manners
      if manners == .plain { state.slots.removeAll { $0 == nil } }
      let hidden = state.slots.compactMap { $0 }.filter { !$0.isListed }.map(\.phone)
      return (state.daemon, manners == .plain ? hidden : [])
    }
    daemon?.setBacklog(manners.backlog)
    for phone in hidden { list(phone) }
  }

  func setSilence(_ silence: MuxSilence) { state.with { $0.silence = silence } }

  /// Counts one request.
  ///
  /// - Returns: false when it is to be left unanswered.
  func answersNext() -> Bool {
    state.with {
      guard let left = $0.silence.answersLeft else { return true }
      $0.silence.answersLeft = max(0, left - 1)
      return left > 0
    }
  }

  /// Ends the connections of all who listen; nothing else changes.
  func dropListeners() {
    for listener in state.with({ Array($0.listeners.values) }) { listener.end() }
  }

  /// Lets go of everything; the bus is of no more use.
  func end() {
    pacing.end()
    daemonEnded()
    state.with {
      $0 = State()
      $0.isUp = false
    }
  }
}
