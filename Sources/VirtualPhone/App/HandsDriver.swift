import Transport
import Wire

/// The hands' driver: a test runner on device port 8100 that answers `GET /status` while somebody uses the phone.
public final class HandsDriver: Sendable {
  public enum Mode: String, CaseIterable, Sendable {
    case answers
    /// Accepts and never answers.
    case mute
  }

  static let port: UInt16 = 8100
  static let executable = "WebDriverAgentRunner-Runner"

  private struct State {
    var runs = false
    var connections: [ObjectIdentifier: Socket] = [:]
  }

  private let surroundings: AppSurroundings
  private let state = Guarded(State())

  init(in surroundings: AppSurroundings) { self.surroundings = surroundings }

  deinit { stop() }

  public var isRunning: Bool { state.with { $0.runs } }

  public func start(_ mode: Mode = .answers) {
    stop()
    state.with { $0.runs = true }
    surroundings.listen(Self.port) { [weak self] socket in self?.serve(socket, mode) }
  }

  /// Ends it with its connections.
  public func stop() {
    state.with { state in
      guard state.runs else { return }
      state.runs = false
      surroundings.close(Self.port)
      for socket in state.connections.values { socket.shutdown() }
    }
  }

  private func serve(_ socket: Socket, _ mode: Mode) {
    let runs = state.with { state -> Bool in
      if state.runs { state.connections[ObjectIdentifier(socket)] = socket }
      return state.runs
    }
    guard runs else { return }
    defer { state.with { $0.connections[ObjectIdentifier(socket)] = nil } }
    var connection = HTTPConnection(socket)
    while true {
      switch connection.next() {
      case .gone: return
      case .refused(let reply):
        _ = connection.send(reply.bytes(keepAlive: false))
        return
      case .request(let request):
        if mode == .mute { continue }
        let reply =
          DoorTarget(request.target).path == "/status"
          ? DoorReply.json(Self.status) : .refusal(404, "the hands' driver has /status only")
        guard connection.send(reply.bytes(keepAlive: request.keepsAlive)), request.keepsAlive else { return }
      }
    }
  }

  private static let status: JSON = [
    "sessionId": nil,
    "value": ["message": "WebDriverAgent is ready to accept commands", "ready": true, "state": "success"],
  ]
}
