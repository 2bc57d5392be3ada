import FoundationEssentials
import Transport
import Wire

/// The tunnel to one phone: its packets, and the list of what the phone offers in it.
///
/// One connection stays with the list, as phones end a host's older one whenever it opens another.
final class PhoneTunnel: Sendable {
  private struct State {
    var list: RemoteXPCConnection?
    var services: [String: RSDService] = [:]
  }
  private let pump: TunnelPump
  private let port: UInt16
  private let identity: UUID
  private let state = Guarded(State())

  init(_ pump: TunnelPump, rsdPort: UInt16, identity: UUID) {
    self.pump = pump
    port = rsdPort
    self.identity = identity
  }

  deinit { pump.stop() }

  /// Whether nothing has ended it so far.
  var isAlive: Bool { pump.end == nil }

  /// What came instead of a packet, where that ended it.
  var fault: TunnelError? { if case .outOfStep(let error)? = pump.end { error } else { nil } }

  /// Connections that are open or saying goodbye.
  var connections: Int { pump.interface.connections }

  /// Ends it; goodbyes still leave. Never blocks.
  func stop() { pump.stop() }

  /// - Returns: nil for a service that the phone did not list when it was asked last.
  func service(_ service: CoreDeviceService) -> RSDService? { state.with { $0.services[service.rawValue] } }

  /// Reads what the phone offers, anew: ports change with every tunnel and whenever an image is mounted.
  func readServices(by deadline: Deadline) throws(TunnelFailure) {
    let old = state.with { state in
      defer { state.list = nil }
      return state.list
    }
    old?.close()
    let list = try open(port, by: deadline)
    let body = try greeting(over: list, by: deadline)
    do throws(ShapeError) {
      let services = try RSDHandshake(body).services
      state.with { $0 = State(list: list, services: services) }
    } catch {
      throw .shape(error)
    }
  }

  /// What the phone says of itself first.
  private func greeting(over list: RemoteXPCConnection, by deadline: Deadline) throws(TunnelFailure) -> XPCValue {
    do throws(RemoteXPCError) {
      try list.send(RSDHandshake.host(identity).body, by: deadline)
      while let message = try list.receive(by: deadline) {
        if let body = message.body, body["MessageType"] == "Handshake" { return body }
      }
    } catch {
      throw .connection(error)
    }
    throw .connection(.stream(.closed))
  }

  /// A connection to any port.
  func connect(_ port: UInt16, by deadline: Deadline) throws(TunnelFailure) -> TunnelStream {
    do { return try pump.interface.connect(port: port, by: deadline) } catch { throw .connect(error) }
  }

  /// A connection to a listed port.
  func open(_ port: UInt16, by deadline: Deadline) throws(TunnelFailure) -> RemoteXPCConnection {
    let stream = try connect(port, by: deadline)
    do { return try RemoteXPCConnection.open(on: stream, by: deadline) } catch { throw .connection(error) }
  }
}

/// Why something in a tunnel did not come about.
enum TunnelFailure: Error, Equatable {
  case connect(StreamError)
  case connection(RemoteXPCError)
  /// What came whole, and is not what was to come.
  case shape(ShapeError)

  var sentence: String {
    switch self {
    case .connect(let error): error.sentence
    case .connection(let error): error.sentence
    case .shape(let error): error.sentence
    }
  }
}
