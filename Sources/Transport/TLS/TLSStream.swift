import COpenSSL
import Glibc

/// TLS over a connected socket, without a thread of its own.
///
/// OpenSSL's object is used by one thread at a time (the lock); nobody waits while holding it, so a reader
/// and a writer on two threads do not stop each other.
public final class TLSStream: ByteStream, @unchecked Sendable {
  private let session: Guarded<OpaquePointer>
  private let socket: Socket

  /// The phone's side of the handshake.
  public static func accept(
    on socket: Socket, _ context: TLSContext, by deadline: Deadline
  ) throws(StreamError) -> TLSStream {
    try TLSStream(socket, context, handshake: SSL_accept, by: deadline)
  }

  /// The host's side of the handshake.
  public static func connect(
    on socket: Socket, _ context: TLSContext, by deadline: Deadline
  ) throws(StreamError) -> TLSStream {
    try TLSStream(socket, context, handshake: SSL_connect, by: deadline)
  }

  private init(
    _ socket: Socket, _ context: TLSContext, handshake: (OpaquePointer?) -> Int32, by deadline: Deadline
  ) throws(StreamError) {
    guard let raw = SSL_new(context.raw) else { throw .tls(TLSError.last()) }
    self.socket = socket
    SSL_set_fd(raw, socket.fd)
    do throws(StreamError) {
      while true {
        let code = handshake(raw)
        if code == 1 { break }
        try Self.wait(for: socket, after: SSL_get_error(raw, code), by: deadline)
      }
    } catch {
      SSL_free(raw)
      throw error
    }
    session = Guarded(raw)
  }

  deinit { session.with { SSL_free($0) } }

  /// The peer's certificate in DER; nil when it sent none.
  public var peerCertificate: [UInt8]? {
    session.with { raw in
      guard let certificate = SSL_get1_peer_certificate(raw) else { return nil }
      defer { X509_free(certificate) }
      let size = i2d_X509(certificate, nil)
      guard size > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: Int(size))
      bytes.withUnsafeMutableBufferPointer {
        var cursor = $0.baseAddress
        i2d_X509(certificate, &cursor)
      }
      return bytes
    }
  }

  /// The negotiated version, such as `TLSv1.3`.
  public var version: String { session.with { SSL_get_version($0).map { String(cString: $0) } ?? "" } }

  public func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] {
    while true {
      var failure: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
        (count, failure) = take(into: UnsafeMutableRawBufferPointer(buffer))
      }
      if !bytes.isEmpty || max == 0 { return bytes }
      if Self.isEnd(failure) { return [] }
      try Self.wait(for: socket, after: failure, by: deadline)
    }
  }

  /// Takes a record, and those behind it that have come with it.
  private func take(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, failure: Int32) {
    // As a number: the compiler takes the pointer for something that might stay with the session.
    let place = UInt(bitPattern: buffer.baseAddress)
    let room = buffer.count
    return session.with { raw in
      var count = 0
      repeat {
        ERR_clear_error()
        let got = SSL_read(raw, UnsafeMutableRawPointer(bitPattern: place + UInt(count)), Int32(clamping: room - count))
        // An end, or a fault, that comes behind something comes again with the next read.
        if got <= 0 { return (count, SSL_get_error(raw, got)) }
        count += Int(got)
      } while count < room && SSL_has_pending(raw) == 1
      return (count, SSL_ERROR_NONE)
    }
  }

  public func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError) {
    var sent = 0
    while sent < bytes.count {
      var failure: Int32 = 0
      session.with { raw in
        bytes.withUnsafeBytes {
          ERR_clear_error()
          let count = SSL_write(raw, $0.baseAddress.map { $0 + sent }, Int32(clamping: $0.count - sent))
          failure = count > 0 ? SSL_ERROR_NONE : SSL_get_error(raw, count)
          sent += Swift.max(Int(count), 0)
        }
      }
      if failure != SSL_ERROR_NONE { try Self.wait(for: socket, after: failure, by: deadline) }
    }
  }

  /// Says goodbye (close_notify) as far as the socket takes it at once.
  public func endSending() { session.with { _ = SSL_shutdown($0) } }

  public func shutdown() { socket.shutdown() }

  public func close() {
    session.with { raw in
      // The number is soon another descriptor's, to which a late goodbye would go.
      SSL_set_fd(raw, -1)
      socket.close()
    }
  }

  // MARK: - For a thread that waits on many descriptors at once

  public var fd: Int32 { socket.fd }

  /// From now on takes off the socket what is there, not record by record in two reads each. What follows must be TLS to
  /// the end: bytes that are read here are lost to whoever would go on in clear.
  public func readAhead() { session.with { SSL_set_read_ahead($0, 1) } }

  /// - Returns: how many bytes came; zero at the end of the stream, nil when there are none yet. Bytes may be waiting
  ///   here while the descriptor has none, until this has given nil.
  public func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
    let (count, failure) = take(into: buffer)
    if count > 0 { return count }
    switch failure {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
    default:
      if Self.isEnd(failure) { return 0 }
      throw Self.error(failure)
    }
  }

  /// Writes in a record of its own what fits one.
  ///
  /// - Returns: how many of the bytes were taken; zero when the socket is full. The same bytes are offered again then.
  public func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int {
    var count: Int32 = 0
    var failure: Int32 = 0
    session.with { raw in
      ERR_clear_error()
      count = bytes.withUnsafeBytes { SSL_write(raw, $0.baseAddress, Int32(clamping: $0.count)) }
      failure = count > 0 ? SSL_ERROR_NONE : SSL_get_error(raw, count)
    }
    switch failure {
    case SSL_ERROR_NONE: return Int(count)
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return 0
    default: throw Self.error(failure)
    }
  }

  /// Whether the peer ended; some hosts close without saying so, which is the end of the stream all the same.
  private static func isEnd(_ failure: Int32) -> Bool {
    switch failure {
    case SSL_ERROR_ZERO_RETURN: return true
    case SSL_ERROR_SYSCALL: return errno == 0
    case SSL_ERROR_SSL:
      guard ERR_peek_last_error() & 0x7F_FFFF == UInt(SSL_R_UNEXPECTED_EOF_WHILE_READING) else { return false }
      ERR_clear_error()
      return true
    default: return false
    }
  }

  private static func error(_ failure: Int32) -> StreamError {
    failure == SSL_ERROR_SYSCALL ? .closed : .tls(TLSError.last())
  }

  private static func wait(
    for socket: Socket, after failure: Int32, by deadline: Deadline
  ) throws(StreamError) {
    switch failure {
    case SSL_ERROR_WANT_READ: try socket.wait(for: Int16(POLLIN), by: deadline)
    case SSL_ERROR_WANT_WRITE: try socket.wait(for: Int16(POLLOUT), by: deadline)
    default: throw error(failure)
    }
  }
}
