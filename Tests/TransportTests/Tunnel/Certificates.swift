import COpenSSL
import Glibc
import Testing
import Transport

/// Two ends of a TLS connection, with a certificate made for the moment.
enum Certificates {
  static func pair() throws -> (TLSStream, TLSStream) {
    // OpenSSL writes without MSG_NOSIGNAL; fleetctl ignores the signal as a whole.
    signal(SIGPIPE, SIG_IGN)
    let (certificate, key) = try make()
    let client = try TLSContext.client(certificatePEM: certificate, keyPEM: key)
    let server = try TLSContext.server(certificatePEM: certificate, keyPEM: key)
    let (near, far) = try Socket.pair()
    let accepting = onThread { try TLSStream.accept(on: far, server, by: .after(.seconds(5))) }
    let stream = try TLSStream.connect(on: near, client, by: .after(.seconds(5)))
    return (stream, try accepting.get())
  }

  private static func make() throws -> (certificate: [UInt8], key: [UInt8]) {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(context)
    EVP_PKEY_keygen(context, &key)
    defer { EVP_PKEY_free(key) }
    let certificate = try #require(X509_new())
    defer { X509_free(certificate) }
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600)
    X509_set_pubkey(certificate, key)
    try #require(X509_sign(certificate, key, nil) > 0)
    return (
      try pem { PEM_write_bio_X509($0, certificate) },
      try pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    )
  }

  private static func pem(_ write: (OpaquePointer?) -> Int32) throws -> [UInt8] {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free(memory) }
    try #require(write(memory) == 1)
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = BIO_read(memory, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(Int(max(count, 0))))
  }
}
