import Glibc

/// An IPv6 address of either end of a tunnel.
public struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
  /// Sixteen bytes in the order of the wire.
  public let bytes: [UInt8]

  /// - Returns: nil unless there are sixteen.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// Reads the text form; one with a zone is refused.
  public init?(_ text: String) {
    guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    self.bytes = bytes
  }

  /// The shortest form, in small letters.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
