import Glibc
import Transport
import Wire

/// A connection to the door that has carried an answer and can carry another.
struct KeptConnection {
  let socket: Socket
  /// Under the number that it was made to.
  let phone: ListedPhone
  private let opened = ContinuousClock.now

  init(_ socket: Socket, _ phone: ListedPhone) {
    self.socket = Self.outOfTheWay(socket)
    self.phone = phone
  }

  /// Low descriptors are left to libimobiledevice, which waits with select and so can't use any beyond its sets.
  private static func outOfTheWay(_ socket: Socket) -> Socket {
    let low = socket.release()
    let high = fcntl(low, F_DUPFD_CLOEXEC, FD_SETSIZE)
    // Where the process may not have so many, it stays where it is.
    guard high >= 0 else { return Socket(adopting: low) }
    Glibc.close(low)
    return Socket(adopting: high)
  }

  /// A door whose listener is gone may go on to answer over a connection from before; nobody else gets in then, and that
  /// is noticed when it is made anew.
  static let longest = Duration.seconds(60)

  var isOld: Bool { .now - opened >= Self.longest }
}

/// The kept connections of one lane, at most one a port.
final class KeptConnections: Sendable {
  private struct State {
    var connections: [UInt16: KeptConnection] = [:]
    var isClosed = false
  }
  private let state = Guarded(State())

  /// - Returns: nil where there is none that is still good; whoever takes it owns it.
  func take(_ port: UInt16) -> KeptConnection? {
    guard let found = state.with({ $0.connections.removeValue(forKey: port) }) else { return nil }
    if !found.isOld { return found }
    found.socket.close()
    return nil
  }

  func put(_ connection: KeptConnection, for port: UInt16) {
    let surplus: KeptConnection? = state.with { state in
      guard !state.isClosed, state.connections[port] == nil else { return connection }
      state.connections[port] = connection
      return nil
    }
    surplus?.socket.close()
  }

  /// Closes what is kept now: the phone has gone.
  func drop() {
    let all = state.with { state in
      defer { state.connections = [:] }
      return Array(state.connections.values)
    }
    for connection in all { connection.socket.close() }
  }

  /// Nothing is kept any more.
  func close() {
    state.with { $0.isClosed = true }
    drop()
  }
}
