import Transport
import Wire

/// The door's side of its connections.
extension KioskApp {
  /// Serves one connection to its end on the calling thread; the caller closes it.
  func serveDoor(_ socket: Socket, for process: AppProcess) {
    guard process.adopt(socket) else { return }
    defer { process.release(socket) }
    var connection = HTTPConnection(socket)
    while true {
      if model.with({ $0.door.fault?.kind == .reset }) {
        // Bytes that are still unread turn the close into a reset, on every kind of socket.
        try? socket.wait(for: Self.readable, by: .never)
        return socket.reset()
      }
      switch connection.next() {
      case .gone: return
      case .refused(let reply):
        if process.awaitRunning(with: socket) { _ = connection.send(reply.bytes(keepAlive: false)) }
        return
      case .request(let request):
        // A stopped process's kernel takes the bytes; nobody answers them.
        guard process.awaitRunning(with: socket), serve(request, on: connection, of: process) else { return }
      }
    }
  }

  /// `POLLIN`.
  private static let readable: Int16 = 1

  /// - Returns: whether the connection goes on.
  private func serve(_ request: HTTPMessage, on connection: HTTPConnection, of process: AppProcess) -> Bool {
    let began = surroundings.clock.now
    let path = DoorTarget(request.target).path
    if process.wasStopped, model.with({ $0.door.broken.contains(.deafAfterStop) }) {
      misbehave(DoorFault(kind: .silent), on: connection, of: process)
      return false
    }
    if let fault = model.with({ $0.door.fault }), fault.concerns(path) {
      noteRequest(request, ["fault": .string(fault.kind.rawValue)], since: began)
      misbehave(fault, on: connection, of: process)
      return false
    }
    guard let reply = answer(request, of: process), process.awaitRunning(with: connection.socket) else { return false }
    noteRequest(request, ["status": .integer(Int64(reply.status))], since: began)
    logReply(reply, to: request.method, path, by: process)
    let bytes = reply.bytes(keepAlive: request.keepsAlive, withBody: request.method != "HEAD")
    return connection.send(bytes) && request.keepsAlive
  }

  private func noteRequest(_ request: HTTPMessage, _ outcome: [String: JSON], since began: Duration) {
    var details = outcome
    details["method"] = .string(request.method)
    details["path"] = .string(String(withoutToken(request.target).prefix(200)))
    details["phone_seconds_taken"] = .number((surroundings.clock.now - began).inSeconds)
    surroundings.note("door-request", details)
  }

  /// A token has no place in a target, but a caller may have put it there.
  private func withoutToken(_ target: String) -> String {
    guard let token = model.with({ $0.door.token }), !token.isEmpty else { return target }
    return target.split(separator: token, omittingEmptySubsequences: false).joined(separator: "***")
  }
}
