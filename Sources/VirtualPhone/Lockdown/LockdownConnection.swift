import Transport
import Wire

/// One connection to lockdownd, on its own thread: requests in clear, then a session inside TLS.
final class LockdownConnection {
  /// The largest request of any host is a pair record, a few kilobytes.
  static let messageLimit = 1 << 20
  private static let patience = Duration.seconds(30)

  /// A session that is open on this connection.
  struct Session {
    let id: String
    let hostID: String
    let pairing: Pairing
  }

  let server: LockdownServer
  let socket: Socket
  var session: Session?
  private var stream: any ByteStream
  private var tls: TLSStream?

  var phone: VirtualPhone { server.phone }

  init(server: LockdownServer, socket: Socket) {
    self.server = server
    self.socket = socket
    stream = socket
  }

  /// Serves the connection to its end; the caller closes the socket.
  func serve() {
    while let message = receive() {
      guard let request = Self.plist(message), request.dictionary != nil else { return }
      let name = request["Request"]?.string ?? ""
      guard pretend(before: name) else { return }
      let answer = answer(name, request)
      note(name, request, answer)
      guard send(answer.bytes), carryOn(after: answer) else { return }
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
    let first = try stream.read(max: ServiceFrame.headerSize, by: .never)
    if first.isEmpty, tls != nil, session == nil {
      // After StopSession the host says goodbye to TLS and may go on in clear.
      tls = nil
      stream = socket
      return try socket.read(exactly: ServiceFrame.headerSize, by: .never)
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
      guard pretend(before: "TLS") else { return false }
      do throws(StreamError) {
        let stream = try server.handshake(on: socket, session.pairing)
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

  /// Plays a fault that somebody has put in the way of this request.
  ///
  /// - Returns: false when the connection is over.
  private func pretend(before request: String) -> Bool {
    guard let fault = phone.state.with({ $0.takeFault(for: request) }) else { return true }
    switch fault.kind {
    case .error: return true
    case .close: return false
    case .hang:
      // Only a cable, a reboot or the fleet's end finishes this.
      while true {
        do throws(StreamError) {
          if try socket.read(max: 4096, by: .never).isEmpty { return false }
        } catch {
          return false
        }
      }
    case .garbage:
      return send(Array("<plist><dict><key>no".utf8)) && false
    case .half:
      do throws(StreamError) { try stream.write([0, 0], by: .after(Self.patience)) } catch { return false }
      return false
    }
  }

  private func note(_ name: String, _ request: Plist, _ answer: LockdownAnswer) {
    var details: [String: JSON] = ["request": .string(String(name.prefix(64)))]
    for (key, field) in [("domain", "Domain"), ("key", "Key"), ("service", "Service")] {
      if let text = request[field]?.string { details[key] = .string(String(text.prefix(128))) }
    }
    if let error = answer.error { details["error"] = .string(error) }
    phone.record("lockdown-request", details)
  }
}
