/// Why bytes are no handshake or packet of a tunnel.
public enum TunnelError: Error, Equatable, Sendable {
  /// What came does not begin with the handshake's eight letters.
  case notAHandshake
  /// The handshake's body is no JSON, or lacks this key.
  case malformed(String)
  /// A packet that is not IPv6: the two ends no longer agree where packets begin.
  case outOfStep(UInt8)
  case tooLarge(bytes: Int, limit: Int)

  public var sentence: String {
    switch self {
    case .notAHandshake: "what came is no handshake of a tunnel"
    case .malformed(let key): "the tunnel's handshake has no sensible \(key)"
    case .outOfStep(let byte): "0x\(String(byte, radix: 16)) begins no IPv6 packet, the tunnel is out of step"
    case .tooLarge(let bytes, let limit): "\(bytes) bytes came in the tunnel where \(limit) are allowed"
    }
  }
}
