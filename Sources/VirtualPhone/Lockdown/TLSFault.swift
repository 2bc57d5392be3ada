import Transport

/// A TLS handshake of the phone's that goes wrong, because somebody asked for it.
struct TLSFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// The phone takes what comes and says nothing more.
    case hang
    case close
    /// Refuses the versions that the host offers, as TLS has it.
    case alert
    /// Goes well, in TLS 1.0 and nothing else.
    case tls10
  }

  /// Where a handshake hangs or ends.
  enum Step: String, CaseIterable, Sendable {
    /// The host's ClientHello has come.
    case hello
    /// ServerHello is out, the rest of the flight is not.
    case flight
    /// The host has finished, the phone has not said so; in TLS 1.2, whatever the host can do.
    case finished
    /// The handshake is done.
    case after
  }

  static let session = "session"
  static let services = "services"
  static let everywhere = "all"

  var kind: Kind
  var step: Step
  /// One of the three words above, or a service's name.
  var place: String
  /// So many handshakes more; nil until it is taken away.
  var left: Int?
}

/// What a handshake is for.
enum TLSPlace: Equatable, Sendable {
  case session
  case service(String)

  fileprivate func isMeant(by place: String) -> Bool {
    switch self {
    case .session: place == TLSFault.session || place == TLSFault.everywhere
    case .service(let name): place == name || place == TLSFault.services || place == TLSFault.everywhere
    }
  }
}

extension PhoneState {
  /// The fault in the way of this handshake, counted down.
  mutating func takeTLSFault(at place: TLSPlace) -> TLSFault? {
    guard let index = tlsFaults.firstIndex(where: { place.isMeant(by: $0.place) }) else { return nil }
    let fault = tlsFaults[index]
    if let left = fault.left {
      tlsFaults[index].left = left - 1
      if left <= 1 { tlsFaults.remove(at: index) }
    }
    return fault
  }
}

extension LockdownServer {
  /// Plays a handshake as far as its fault lets it go.
  ///
  /// - Throws: always in the end, but for a fault that only narrows the versions.
  func handshake(
    on socket: Socket, _ pairing: Pairing, sessionTickets: Bool, with fault: TLSFault
  ) throws(StreamError) -> TLSStream {
    let broken = BrokenHandshake(host: socket)
    switch (fault.kind, fault.step) {
    case (.tls10, _):
      let context = try contexts.server(pairing.deviceCertificate, sessionTickets: sessionTickets, newest: .tls10)
      return try handshake(on: socket, pairing, context)
    case (.alert, _): try broken.refuseVersions()
    case (_, .hello): try broken.hearHello()
    case (_, .flight): try broken.stopInFlight(try contexts.server(pairing.deviceCertificate))
    case (_, .finished):
      try broken.withholdFinished(try contexts.server(pairing.deviceCertificate, newest: .tls12))
    case (_, .after):
      let context = try contexts.server(pairing.deviceCertificate, sessionTickets: sessionTickets)
      _ = try handshake(on: socket, pairing, context)
    }
    if fault.kind == .hang { socket.drain() }
    throw .closed
  }
}

/// The phone's side of a handshake that stops on the way: the real one runs behind, and its records are let through
/// one by one.
struct BrokenHandshake {
  private enum Record {
    static let changeCipherSpec: UInt8 = 20
    static let handshake: UInt8 = 22
    static let headerSize = 5
    /// ServerHelloDone: the first flight's end, before TLS 1.3.
    static let helloDone: [UInt8] = [14, 0, 0, 0]
  }

  private static let patience = Duration.seconds(60)
  let host: Socket

  func hearHello() throws(StreamError) { _ = try record(from: host) }

  func refuseVersions() throws(StreamError) {
    try hearHello()
    // A fatal alert: protocol_version.
    try host.write([21, 3, 1, 0, 2, 2, 70], by: .after(Self.patience))
  }

  func stopInFlight(_ context: TLSContext) throws(StreamError) {
    try withPhone(context) { phone throws(StreamError) in
      let part = try record(from: phone) + phone.read(exactly: 3, by: .after(Self.patience))
      try host.write(part, by: .after(Self.patience))
    }
  }

  func withholdFinished(_ context: TLSContext) throws(StreamError) {
    try withPhone(context) { phone throws(StreamError) in
      var part: [UInt8] = []
      repeat {
        part = try record(from: phone)
        try host.write(part, by: .after(Self.patience))
      } while part[0] != Record.handshake || Array(part.suffix(4)) != Record.helloDone
      var isLast = false
      repeat {
        isLast = part[0] == Record.changeCipherSpec
        part = try record(from: host)
        try phone.write(part, by: .after(Self.patience))
      } while !isLast
      // The phone is content; what it says to that stays here.
      _ = try record(from: phone)
    }
  }

  /// Hears the host's first message and lets the real server answer it at the other end of a pair of sockets.
  private func withPhone(
    _ context: TLSContext, _ body: (Socket) throws(StreamError) -> Void
  ) throws(StreamError) {
    let hello = try record(from: host)
    let (near, far) = try Socket.pair()
    let server = Worker(name: "handshake") {
      do throws(StreamError) {
        _ = try TLSStream.accept(on: far, context, by: .after(Self.patience))
      } catch {
        // It was never meant to succeed.
      }
      far.close()
    }
    defer {
      near.shutdown()
      server.join(by: .after(.seconds(1)))
    }
    try near.write(hello, by: .after(Self.patience))
    try body(near)
  }

  private func record(from socket: Socket) throws(StreamError) -> [UInt8] {
    let header = try socket.read(exactly: Record.headerSize, by: .after(Self.patience))
    return try header + socket.read(exactly: Int(header[3]) << 8 | Int(header[4]), by: .after(Self.patience))
  }
}

extension ByteStream {
  /// Takes what comes and drops it, until the far end has left or the connection was ended.
  func drain() {
    do throws(StreamError) {
      while try !read(max: 4096, by: .never).isEmpty {}
    } catch {
      return
    }
  }
}
