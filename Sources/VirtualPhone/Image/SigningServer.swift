import Transport
import Wire

/// A signing server for the virtual phones' images, where Apple's stands for real ones.
///
/// Speaks HTTP on whatever path it is asked; also as a proxy, for clients whose server's address is fixed.
public final class SigningServer: Sendable {
  /// How it answers a request that is right.
  public enum Manner: String, CaseIterable, Sendable {
    case signs
    /// As to a phone that is not eligible.
    case refuses
    /// A ticket, for the phone with the next chip identifier.
    case wrongPhone = "wrong-phone"
    /// An answer that is none.
    case garbage
    /// HTTP's own error.
    case unavailable
    /// Takes the request and says nothing.
    case silent
  }

  /// As bound.
  public let address: SocketAddress
  private let server: SocketServer
  private let desk: SigningDesk

  /// - Parameter address: a TCP port 0 lets the system choose.
  /// - Throws: `StreamError.system` with bind's errno.
  public init(_ address: SocketAddress = .tcp(host: "127.0.0.1", port: 0)) throws(StreamError) {
    let listener = try Listener(address)
    let desk = SigningDesk()
    self.desk = desk
    self.address = listener.address
    server = SocketServer("signing", on: listener) { desk.serve($0) }
  }

  deinit { stop() }

  public var manner: Manner {
    get { desk.state.with { $0.manner } }
    set { desk.state.with { $0.manner = newValue } }
  }

  /// The requests that came, oldest first: at most the last hundred.
  public var requests: [Plist] { desk.state.with { $0.requests } }

  /// Ends every connection and thread. May be called twice.
  public func stop() { server.stop(by: .after(.seconds(1))) }
}

/// What the signing server decides, and what it remembers.
final class SigningDesk: Sendable {
  struct State: Sendable {
    var manner = SigningServer.Manner.signs
    var requests: [Plist] = []
  }

  /// Requests that are remembered.
  private static let limit = 100

  let state = Guarded(State())

  /// Serves one connection to its end.
  func serve(_ socket: Socket) {
    var connection = HTTPConnection(socket)
    while true {
      switch connection.next() {
      case .gone: return
      case .refused(let reply):
        _ = connection.send(reply.bytes(keepAlive: false))
        return
      case .request(let request):
        guard let reply = answer(request) else { return socket.drain() }
        guard connection.send(reply.bytes(keepAlive: request.keepsAlive)), request.keepsAlive else { return }
      }
    }
  }

  /// - Returns: nil for silence.
  private func answer(_ request: HTTPMessage) -> DoorReply? {
    guard request.method == "POST", let wanted = try? Plist(parsing: request.body) else {
      return .refusal(400, "no signing request")
    }
    let manner = state.with {
      $0.requests = $0.requests.suffix(Self.limit - 1) + [wanted]
      return $0.manner
    }
    switch manner {
    case .silent: return nil
    case .unavailable: return .refusal(503, "no signing today")
    case .garbage: return text("STATUS=0&MESSAGE=SUCCESS&REQUEST_STRING=<plist><dict>")
    case .refuses: return text(Self.notEligible)
    case .signs, .wrongPhone:
      guard var ticket = ImageTicket(request: wanted) else { return text(Self.notEligible) }
      if manner == .wrongPhone { ticket.ecid += 1 }
      let xml = String(decoding: Plist.dictionary(["ApImg4Ticket": .data(ticket.bytes)]).xml, as: UTF8.self)
      return text("STATUS=0&MESSAGE=SUCCESS&REQUEST_STRING=\(xml)")
    }
  }

  private func text(_ text: String) -> DoorReply {
    DoorReply(status: 200, type: "text/html", body: Array(text.utf8))
  }

  private static let notEligible = "STATUS=94&MESSAGE=This device isn't eligible for the requested build."
}

extension ImageTicket {
  /// The ticket that a signing request asks for.
  ///
  /// - Returns: nil when the request is not one that would be signed: something is missing, or the restore rules of the
  ///   build manifest were not applied to its components.
  init?(request: Plist) {
    guard request["@ApImg4Ticket"] == true, let ecid = request["ApECID"]?.int, let chip = request["ApChipID"]?.int,
      let board = request["ApBoardID"]?.int, let nonce = request["ApNonce"]?.bytes, !nonce.isEmpty,
      request["ApProductionMode"] == true, request["ApSecurityMode"] == true, request["ApSecurityDomain"] == 1
    else { return nil }
    var digests: [String: [UInt8]] = [:]
    for name in [Self.image, Self.trustCache] {
      guard let component = request[name], let digest = component["Digest"]?.bytes, component["Info"] == nil,
        component["Trusted"] == true, component["EPRO"] == true, component["ESEC"] == true
      else { return nil }
      digests[name] = digest
    }
    self.init(ecid: UInt64(bitPattern: Int64(ecid)), chipID: chip, boardID: board, nonce: nonce, digests: digests)
  }
}
