import COpenSSL

/// One RSA-2048 key.
///
/// OpenSSL counts the key's references under its own lock; nothing here changes it after it was made.
final class RSAKey: @unchecked Sendable {
  let raw: OpaquePointer

  /// Makes a new key: about a quarter of a second of one core.
  init() throws(OpenSSLFailure) {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw .latest() }
    raw = key
  }

  deinit { EVP_PKEY_free(raw) }

  /// PKCS#8 PEM, as libimobiledevice stores the host's keys.
  func privatePEM() throws(OpenSSLFailure) -> [UInt8] {
    try PEM.bytes { PEM_write_bio_PrivateKey($0, raw, nil, nil, 0, nil, nil) }
  }

  /// PEM of the type `RSA PUBLIC KEY` (PKCS#1), the only one that libimobiledevice reads as DevicePublicKey.
  func publicPEM() throws(OpenSSLFailure) -> [UInt8] {
    var der: UnsafeMutablePointer<UInt8>?
    let size = i2d_PublicKey(raw, &der)
    guard size > 0, let der else { throw .latest() }
    defer { CRYPTO_free(der, nil, 0) }
    return try PEM.bytes { PEM_write_bio($0, "RSA PUBLIC KEY", "", der, Int(size)) }
  }
}

/// What OpenSSL said when it refused.
struct OpenSSLFailure: Error, Equatable {
  let text: String

  /// The newest entry of this thread's error queue; empties the queue.
  static func latest() -> OpenSSLFailure {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    return OpenSSLFailure(text: ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given")
  }
}

/// Text armour around keys and certificates.
enum PEM {
  /// What `write` puts into a memory buffer.
  static func bytes(_ write: (OpaquePointer?) -> Int32) throws(OpenSSLFailure) -> [UInt8] {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free(memory) }
    guard write(memory) > 0 else { throw .latest() }
    let size = BIO_ctrl_pending(memory)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, Int(BIO_read(memory, buffer.baseAddress, Int32(clamping: size))))
    }
  }

  /// The DER form of a certificate's PEM; nil when it is none.
  static func certificateDER(_ pem: [UInt8]) -> [UInt8]? {
    let certificate = pem.withUnsafeBytes {
      let memory = BIO_new_mem_buf($0.baseAddress, Int32(clamping: $0.count))
      defer { BIO_free(memory) }
      return PEM_read_bio_X509(memory, nil, nil, nil)
    }
    defer { X509_free(certificate) }
    guard let certificate else {
      ERR_clear_error()
      return nil
    }
    var der: UnsafeMutablePointer<UInt8>?
    let size = i2d_X509(certificate, &der)
    guard size > 0, let der else { return nil }
    defer { CRYPTO_free(der, nil, 0) }
    return Array(UnsafeBufferPointer(start: der, count: Int(size)))
  }
}
