import COpenSSL

/// The three certificates of a pair record, shaped as libimobiledevice makes them: X.509 v3, serial 0, empty names.
///
/// - Source: the pair records that libimobiledevice and others make. Signed with SHA-256, as newer hosts do; SHA-1 is forbidden on some of them.
enum Certificate {
  enum Role {
    case root
    case host
    case device

    fileprivate var extensions: [(Int32, String)] {
      let leaf = (NID_key_usage, "critical,digitalSignature,keyEncipherment")
      switch self {
      case .root: return [(NID_basic_constraints, "critical,CA:TRUE")]
      case .host: return [(NID_basic_constraints, "critical,CA:FALSE"), leaf]
      case .device:
        return [(NID_basic_constraints, "critical,CA:FALSE"), (NID_subject_key_identifier, "hash"), leaf]
      }
    }
  }

  private static let tenYears = 10 * 365 * 24 * 3600

  /// - Parameters:
  ///   - subject: the key that the certificate speaks for.
  ///   - signer: the root's key.
  /// - Returns: PEM.
  static func pem(_ role: Role, of subject: RSAKey, signedBy signer: RSAKey) throws(OpenSSLFailure) -> [UInt8] {
    guard let certificate = X509_new() else { throw .latest() }
    defer { X509_free(certificate) }
    // A minute back: the other end's clock may be a little behind.
    guard X509_set_version(certificate, 2) == 1, ASN1_INTEGER_set(X509_get_serialNumber(certificate), 0) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -60) != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), tenYears) != nil,
      X509_set_pubkey(certificate, subject.raw) == 1
    else { throw .latest() }
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
    for (kind, text) in role.extensions {
      let entry = X509V3_EXT_conf_nid(nil, &context, kind, text)
      defer { X509_EXTENSION_free(entry) }
      guard entry != nil, X509_add_ext(certificate, entry, -1) == 1 else { throw .latest() }
    }
    guard X509_sign(certificate, signer.raw, EVP_sha256()) > 0 else { throw .latest() }
    return try PEM.bytes { PEM_write_bio_X509($0, certificate) }
  }
}
