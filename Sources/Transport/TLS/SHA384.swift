import COpenSSL

/// SHA-384 of bytes that come in parts, as Apple's image formats use it. OpenSSL's.
public final class SHA384 {
  private static let size = 48

  private let context = EVP_MD_CTX_new()

  public init() { EVP_DigestInit_ex(context, EVP_sha384(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  public func add(_ bytes: [UInt8]) { EVP_DigestUpdate(context, bytes, bytes.count) }

  /// Of all that was added; nothing may be added afterwards.
  public func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.size)
    EVP_DigestFinal_ex(context, &digest, nil)
    return digest
  }

  public static func of(_ bytes: [UInt8]) -> [UInt8] {
    let digest = SHA384()
    digest.add(bytes)
    return digest.finish()
  }
}
