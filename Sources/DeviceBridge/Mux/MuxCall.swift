import Glibc
import Transport
import Wire

/// One connection to the daemon, one request on it, one reply.
struct MuxCall: Sendable {
  /// Before the reply's first byte a reset may be the full backlog's doing.
  private static let attempts = 6
  private static let gate = ConnectGate(slots: 4)
  /// How long an unanswered request keeps others waiting: the daemon's own answers take half a millisecond.
  private static let gateTime = Duration.milliseconds(5)

  let address: MuxAddress
  var leash: Leash?

  /// The reply, and the connection it came on.
  func exchange(_ request: [String: Plist], by deadline: Deadline) throws(MuxFailure) -> (Plist, Socket) {
    let message = MuxFrame(.dictionary(Self.signed(request)), tag: 1).bytes
    var attempt = 1
    while true {
      do {
        let socket = try open(message, by: deadline)
        return (try MuxMessage.receive(on: socket, by: deadline), socket)
      } catch  where leash?.isCut == true {
        // Ended from here: the end of the connection is no word of the daemon's.
        throw .stream(.timedOut)
      } catch .stream(.closed) where attempt < Self.attempts {
        attempt += 1
        let pause = Deadline.after(.milliseconds(Int.random(in: 5...(25 * attempt))))
        _ = Latch().wait(until: min(pause, deadline))
      }
    }
  }

  private func open(_ message: [UInt8], by deadline: Deadline) throws(MuxFailure) -> Socket {
    let targets = address.targets(by: deadline)
    guard !targets.isEmpty else { throw .noTarget }
    guard Self.gate.enter(by: deadline) else { throw .stream(.timedOut) }
    defer { Self.gate.leave() }
    do throws(StreamError) {
      let socket = try Self.connect(to: targets, by: deadline)
      leash?.hold(socket)
      try socket.write(message, by: deadline)
      // Until something comes back the daemon may not have taken the connection out of its backlog.
      do { try socket.wait(for: Int16(POLLIN), by: min(deadline, .after(Self.gateTime))) } catch .timedOut {}
      return socket
    } catch {
      throw .stream(error)
    }
  }

  /// The first of the targets that takes the connection.
  private static func connect(to targets: [SocketAddress], by deadline: Deadline) throws(StreamError) -> Socket {
    var failure = StreamError.timedOut
    for target in targets {
      do { return try Socket.connect(to: target, by: deadline) } catch { failure = error }
    }
    throw failure
  }

  /// The keys by which the daemon knows its clients.
  static func signed(_ request: [String: Plist]) -> [String: Plist] {
    request.merging([
      "ClientVersionString": "fleetctl", "ProgName": "fleetctl", "kLibUSBMuxVersion": 3,
    ]) { own, _ in own }
  }
}

/// Why there is no reply of the daemon's.
enum MuxFailure: Error, Equatable {
  case stream(StreamError)
  /// Bytes came that are no message.
  case nonsense(String)
  /// The address leads nowhere: a name that nobody knows, a path that is too long.
  case noTarget

  func error(at address: MuxAddress) -> PhoneError {
    switch self {
    case .stream(.system(let code)): MuxTrouble.error(code, at: address)
    case .stream(.timedOut): .muxSilent(address, detail: "no reply in time")
    case .stream(.closed): .muxSilent(address, detail: "it closes the connection without a reply")
    case .stream(.tls(let text)), .nonsense(let text): .muxSilent(address, detail: text)
    case .noTarget: .notASocket(address)
    }
  }
}

/// Messages of the daemon, as they come off a connection.
enum MuxMessage {
  /// Nothing a daemon sends comes near it; a list of 500 phones has about 300 kB.
  static let limit = 16 << 20

  /// The next one; its header says when it is whole, whatever the reads return.
  static func receive(on socket: Socket, by deadline: Deadline) throws(MuxFailure) -> Plist {
    let header = try read(MuxFrame.headerSize, on: socket, by: deadline)
    let size: Int
    do { size = try MuxFrame.header(header, limit: limit).payloadSize } catch { throw .nonsense(error.sentence) }
    let payload = try read(size, on: socket, by: deadline)
    do { return try Plist(parsing: payload) } catch { throw .nonsense(error.sentence) }
  }

  private static func read(_ count: Int, on socket: Socket, by deadline: Deadline) throws(MuxFailure) -> [UInt8] {
    do { return try socket.read(exactly: count, by: deadline) } catch { throw .stream(error) }
  }
}
