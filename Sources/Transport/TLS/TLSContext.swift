import COpenSSL

/// A certificate and its key, and how TLS is to be spoken with them. Shared by any number of connections.
public final class TLSContext: @unchecked Sendable {
  // SSL_CTX is made once here, only read afterwards, and counts its references under its own lock.
  let raw: OpaquePointer

  /// Versions of TLS, as OpenSSL numbers them.
  public enum Version: Int, Sendable {
    case tls10 = 0x0301
    case tls12 = 0x0303
    case tls13 = 0x0304
  }

  /// The phone's side: presents the certificate, asks for the host's without demanding one.
  ///
  /// - Parameters:
  ///   - sessionTickets: false for services that go on in clear text after the handshake, where a late ticket would be
  ///     read as data.
  /// - Throws: `StreamError.tls` when certificate and key are unreadable or do not belong together.
  public static func server(
    certificatePEM: [UInt8], keyPEM: [UInt8], oldest: Version = .tls10, newest: Version = .tls13,
    sessionTickets: Bool = true
  ) throws(StreamError) -> TLSContext {
    let context = try TLSContext(method: TLS_server_method(), oldest: oldest, newest: newest)
    try context.use(certificatePEM: certificatePEM, keyPEM: keyPEM)
    if !sessionTickets { SSL_CTX_set_num_tickets(context.raw, 0) }
    // Path validation would refuse every host: both names of its certificates are empty. The peer's bytes are
    // compared with the pair record instead, by whoever accepted the connection.
    SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER) { _, _ in 1 }
    return context
  }

  /// The host's side: presents the pair record's certificate, checks none.
  public static func client(
    certificatePEM: [UInt8], keyPEM: [UInt8], oldest: Version = .tls10, newest: Version = .tls13
  ) throws(StreamError) -> TLSContext {
    let context = try TLSContext(method: TLS_client_method(), oldest: oldest, newest: newest)
    try context.use(certificatePEM: certificatePEM, keyPEM: keyPEM)
    return context
  }

  private init(method: OpaquePointer?, oldest: Version, newest: Version) throws(StreamError) {
    guard let raw = SSL_CTX_new(method) else { throw .tls(TLSError.last()) }
    self.raw = raw
    SSL_CTX_ctrl(raw, SSL_CTRL_SET_MIN_PROTO_VERSION, oldest.rawValue, nil)
    SSL_CTX_ctrl(raw, SSL_CTRL_SET_MAX_PROTO_VERSION, newest.rawValue, nil)
    // Old hosts sign with SHA-1 and speak TLS 1.0; OpenSSL allows both at level 0 only.
    SSL_CTX_set_security_level(raw, 0)
    SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    SSL_CTX_ctrl(raw, SSL_CTRL_MODE, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
  }

  deinit { SSL_CTX_free(raw) }

  private func use(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(StreamError) {
    let certificate = Self.reading(certificatePEM) { PEM_read_bio_X509($0, nil, nil, nil) }
    let key = Self.reading(keyPEM) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
    defer {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    guard let certificate, let key, SSL_CTX_use_certificate(raw, certificate) == 1,
      SSL_CTX_use_PrivateKey(raw, key) == 1, SSL_CTX_check_private_key(raw) == 1
    else { throw .tls(TLSError.last()) }
  }

  private static func reading(_ pem: [UInt8], _ body: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
    pem.withUnsafeBytes {
      let memory = BIO_new_mem_buf($0.baseAddress, Int32($0.count))
      defer { BIO_free(memory) }
      return body(memory)
    }
  }
}

enum TLSError {
  /// The newest entry of this thread's error queue in OpenSSL's words; empties the queue.
  static func last() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return "the peer ended the connection" }
    return String(cString: reason)
  }
}
