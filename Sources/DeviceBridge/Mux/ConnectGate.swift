import Transport

/// Lets a few through at a time: usbmuxd's backlog is five, and a burst of connects loses some of them.
///
/// - Source: usbmuxd 1.1.1 under 64 connects at once; about half got EAGAIN or a reset.
final class ConnectGate: Sendable {
  private struct State {
    var free: Int
    var waiting: [Latch] = []
  }
  private let state: Guarded<State>

  init(slots: Int) { state = Guarded(State(free: slots)) }

  /// - Returns: false at the deadline; then nothing was taken.
  func enter(by deadline: Deadline) -> Bool {
    let turn: Latch? = state.with { state in
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      let latch = Latch()
      state.waiting.append(latch)
      return latch
    }
    guard let turn else { return true }
    if turn.wait(until: deadline) { return true }
    return state.with { state in
      guard let place = state.waiting.firstIndex(where: { $0 === turn }) else {
        // The turn came in the same moment: it is given on, since the caller's time is up.
        Self.pass(&state)
        return false
      }
      state.waiting.remove(at: place)
      return false
    }
  }

  func leave() { state.with { Self.pass(&$0) } }

  private static func pass(_ state: inout State) {
    if state.waiting.isEmpty { state.free += 1 } else { state.waiting.removeFirst().open() }
  }
}
