import Transport

/// Holds what a call waits on, so that somebody else can end the wait.
final class Leash: Sendable {
  private struct State {
    var socket: Socket?
    var latch: Latch?
    var isCut = false
  }
  private let state = Guarded(State())

  var isCut: Bool { state.with { $0.isCut } }

  /// From now on this socket is the one that the call waits on.
  func hold(_ socket: Socket) {
    state.with {
      $0.socket = socket
      if $0.isCut { socket.shutdown() }
    }
  }

  /// Waits for the latch, which nobody else waits for, unless it is cut.
  ///
  /// - Returns: whether it opened by itself in time.
  func wait(for latch: Latch, until deadline: Deadline) -> Bool {
    let isCut = state.with {
      $0.latch = latch
      return $0.isCut
    }
    defer { state.with { $0.latch = nil } }
    return !isCut && latch.wait(until: deadline) && !self.isCut
  }

  func letGo() { state.with { $0.socket = nil } }

  /// Ends the wait under way and every later one.
  func cut() {
    state.with {
      $0.isCut = true
      $0.socket?.shutdown()
      $0.latch?.open()
    }
  }
}
