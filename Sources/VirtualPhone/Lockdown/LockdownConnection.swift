import Transport
import Wire

/// One connection to lockdownd, on its own thread: requests in clear, then a session inside TLS.
///
/// Through a tunnel there is neither: who has a tunnel was trusted before.
final class LockdownConnection {
  /// The largest request of any host is a pair record, a few kilobytes.
  static let messageLimit = 1 << 20
  private static let patience = Duration.seconds(30)
  /// A host that has no session and says nothing for so long, in phone time, is hung up on.
  ///
  /// - Source: public reports: seen after 30 to 60 s; the exact value is assumed.
  static let idleLimit = Duration.seconds(45)

  /// A session that is open on this connection.
  struct Session {
    let id: String
    let hostID: String
    let pairing: Pairing
  }

  let server: LockdownServer
  /// nil: it came through a tunnel.
  let socket: Socket?
  var session: Session?
  private let clear: any ByteStream
  private var stream: any ByteStream
  private var tls: TLSStream?

  var phone: VirtualPhone { server.phone }
  /// Whether the host may have what strangers may not.
  var isTrusted: Bool { session != nil || socket == nil }

  init(server: LockdownServer, socket: Socket) {
    self.server = server
    self.socket = socket
    clear = socket
    stream = socket
  }

  init(server: LockdownServer, tunnelled stream: any ByteStream) {
    self.server = server
    socket = nil
    clear = stream
    self.stream = stream
  }

  /// Serves the connection to its end; the caller closes the socket.
  func serve() {
    while let message = receive() {
      guard let request = Self.plist(message), request.dictionary != nil else { return }
      let name = request["Request"]?.string ?? ""
      let fault = phone.state.with { $0.takeFault(for: name) }
      if let fault, !fault.fault.isLate, fault.kind == .hang || fault.kind == .close {
        // The request is not even looked at.
        if fault.kind == .hang { clear.drain() }
        return
      }
      let answer = answer(name, request)
      note(name, request, answer)
      guard deliver(answer, fault), carryOn(after: answer) else { return }
    }
  }

  // MARK: - Bytes

  private func receive() -> [UInt8]? {
    do {
      let header = try header()
      let size = try ServiceFrame.payloadSize(header, limit: Self.messageLimit)
      return try stream.read(exactly: size, by: .after(Self.patience))
    } catch {
      return nil
    }
  }

  private func header() throws(StreamError) -> [UInt8] {
    let limit =
      !isTrusted ? max(phone.clock.deadline(after: Self.idleLimit), .after(server.idleFloor)) : .never
    let first = try stream.read(max: ServiceFrame.headerSize, by: limit)
    if first.isEmpty, tls != nil, session == nil {
      // After StopSession the host says goodbye to TLS and may go on in clear.
      tls = nil
      stream = clear
      return try clear.read(exactly: ServiceFrame.headerSize, by: limit)
    }
    if first.isEmpty { throw .closed }
    return first + (try stream.read(exactly: ServiceFrame.headerSize - first.count, by: .after(Self.patience)))
  }

  private func send(_ payload: [UInt8]) -> Bool {
    do throws(StreamError) {
      try stream.write(ServiceFrame.bytes(payload), by: .after(Self.patience))
      return true
    } catch {
      return false
    }
  }

  private static func plist(_ bytes: [UInt8]) -> Plist? {
    do throws(PlistError) { return try Plist(parsing: bytes) } catch { return nil }
  }

  // MARK: - After an answer

  private func carryOn(after answer: LockdownAnswer) -> Bool {
    switch answer.next {
    case .goOn: return true
    case .close: return false
    case .endTLS:
      session = nil
      tls?.endSending()
      return true
    case .startTLS(let session):
      guard let socket, pretendBeforeTLS() else { return false }
      do throws(StreamError) {
        let stream = try server.handshake(on: socket, session.pairing, for: .session)
        self.session = session
        tls = stream
        self.stream = stream
        return true
      } catch {
        phone.record("tls-failed", ["reason": .string(error.sentence)])
        return false
      }
    }
  }

  // MARK: - Faults

  /// - Returns: false when the connection is over.
  private func deliver(
    _ answer: LockdownAnswer, _ fault: (kind: LockdownFault.Kind, fault: LockdownFault)?
  ) -> Bool {
    guard let fault else { return send(answer.bytes) }
    let spoilt = SpoiltAnswer(
      kind: fault.kind, fault: fault.fault, stream: stream, socket: socket, clock: phone.clock)
    switch spoilt.send(answer) {
    case .goOn: return true
    case .close: return false
    case .hang:
      // Only the host, a cable, a reboot or the fleet's end finishes this.
      clear.drain()
      return false
    }
  }

  /// Plays a fault that stands in the place of the session's handshake.
  ///
  /// - Returns: false when the connection is over.
  private func pretendBeforeTLS() -> Bool {
    guard let fault = phone.state.with({ $0.takeFault(for: LockdownFault.tls) }) else { return true }
    return deliver(LockdownAnswer(body: [:]), fault) && false
  }

  private func note(_ name: String, _ request: Plist, _ answer: LockdownAnswer) {
    var details: [String: JSON] = ["request": .string(String(name.prefix(64)))]
    for (key, field) in [("domain", "Domain"), ("key", "Key"), ("service", "Service"), ("label", "Label")] {
      if let text = request[field]?.string { details[key] = .string(String(text.prefix(128))) }
    }
    if socket == nil { details["through"] = "tunnel" }
    if let error = answer.error { details["error"] = .string(error) }
    phone.record("lockdown-request", details)
  }
}
