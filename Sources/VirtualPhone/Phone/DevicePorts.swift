import Transport

/// The phone's own TCP ports: what the mux's Connect finds.
///
/// Nothing is bound on the host. A connection is handed to the port's server on the thread that asked for it, so an
/// idle port costs no thread.
public final class DevicePorts: Sendable {
  public typealias Server = @Sendable (Socket) -> Void

  private struct Entry {
    let serve: Server
    let service: String?
  }

  private struct Ports {
    var entries: [UInt16: Entry] = [:]
    var connections: [ObjectIdentifier: Socket] = [:]
  }

  private let ports = Guarded(Ports())

  public init() {}

  /// - Parameter serve: serves one connection to its end on that connection's own thread; returning closes it.
  public func listen(_ port: UInt16, _ serve: @escaping Server) {
    listen(port, for: nil, serve)
  }

  /// - Parameter service: the name under which the port was given out, if it was.
  func listen(_ port: UInt16, for service: String?, _ serve: @escaping Server) {
    ports.with { $0.entries[port] = Entry(serve: serve, service: service) }
  }

  /// Refuses new connections; those open stay.
  public func close(_ port: UInt16) {
    ports.with { $0.entries[port] = nil }
  }

  /// - Returns: nil when nothing listens on the port: the mux answers Result 3.
  func server(_ port: UInt16) -> Server? {
    ports.with { $0.entries[port]?.serve }
  }

  /// The name of the service that has the port.
  func service(_ port: UInt16) -> String? {
    ports.with { $0.entries[port]?.service }
  }

  /// Serves one accepted connection on the calling thread, then closes it.
  ///
  /// - Parameter isPluggedIn: asked once the connection can be ended from outside, so that none outlives a cable
  ///   pulled just before.
  func serve(_ socket: Socket, with server: Server, while isPluggedIn: () -> Bool = { true }) {
    let id = ObjectIdentifier(socket)
    ports.with { $0.connections[id] = socket }
    defer {
      ports.with { $0.connections[id] = nil }
      socket.close()
    }
    if isPluggedIn() { server(socket) }
  }

  /// Refuses everything from now on and ends every connection.
  func closeAll() {
    ports.with { $0.entries.removeAll() }
    endConnections()
  }

  /// The cable is out or the phone reboots: every connection ends.
  func endConnections() {
    for socket in ports.with({ Array($0.connections.values) }) { socket.shutdown() }
  }
}
