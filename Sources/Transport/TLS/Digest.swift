import COpenSSL
import Wire

/// Digests of bytes, by OpenSSL.
public enum Digest {
  /// SHA-256 in lower-case hexadecimal.
  public static func sha256(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var size: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &size, EVP_sha256(), nil)
    return Hex.encode(digest.prefix(Int(size)), uppercase: false)
  }
}
