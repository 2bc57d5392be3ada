import Transport

/// Holds the socket that a call waits on, so that somebody else can end the wait.
final class Leash: Sendable {
  private struct State {
    var socket: Socket?
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

  func letGo() { state.with { $0.socket = nil } }

  /// Ends the wait under way and every later one.
  func cut() {
    state.with {
      $0.isCut = true
      $0.socket?.shutdown()
    }
  }
}
