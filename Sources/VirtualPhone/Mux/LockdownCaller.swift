import Transport
import Wire

/// The daemon's own conversation with a phone's lockdownd, or with a service of it.
final class LockdownCaller: Sendable {
  private static let limit = 1 << 20
  private let socket: Socket
  private let stream: Guarded<any ByteStream>

  init(_ socket: Socket) {
    self.socket = socket
    stream = Guarded(socket)
  }

  deinit { socket.close() }

  /// - Returns: nil when the phone has gone or talks nonsense.
  func ask(_ request: String, _ more: [String: Plist] = [:]) -> Plist? {
    var body = more
    body["Request"] = .string(request)
    body["Label"] = "usbmuxd"
    return send(.dictionary(body)) ? receive() : nil
  }

  func send(_ plist: Plist) -> Bool {
    do throws(StreamError) {
      try stream.with { $0 }.write(ServiceFrame.bytes(plist.xml), by: .after(.seconds(30)))
      return true
    } catch {
      return false
    }
  }

  /// Waits as long as the phone pleases; a pulled cable ends it.
  func receive() -> Plist? {
    let stream = stream.with { $0 }
    do {
      let header = try stream.read(exactly: ServiceFrame.headerSize, by: .never)
      let size = try ServiceFrame.payloadSize(header, limit: Self.limit)
      return try Plist(parsing: stream.read(exactly: size, by: .never))
    } catch {
      return nil
    }
  }

  /// Goes on in TLS, with the record's certificate.
  ///
  /// - Source: usbmuxd 1.1.1: the daemon does not know the phone's version and offers TLS 1.0 only.
  func startTLS(_ record: Plist) throws(StreamError) {
    guard let certificate = record["RootCertificate"]?.bytes, let key = record["RootPrivateKey"]?.bytes else {
      throw .tls("the record holds no certificate")
    }
    let context = try TLSContext.client(certificatePEM: certificate, keyPEM: key, newest: .tls10)
    let secured: any ByteStream = try TLSStream.connect(on: socket, context, by: .never)
    stream.with { $0 = secured }
  }

  func shutdown() { socket.shutdown() }
}
