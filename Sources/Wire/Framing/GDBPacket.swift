/// The gdb-remote protocol's packets, `$payload#xx`, as debugserver speaks it.
public enum GDBPacket {
  /// - Parameter payload: ASCII; none of ours needs escaping.
  public static func encode(_ payload: String) -> [UInt8] {
    let bytes = Array(payload.utf8)
    let sum = bytes.reduce(UInt8(0)) { $0 &+ $1 }
    return [UInt8(ascii: "$")] + bytes + [UInt8(ascii: "#")] + Array(Hex.encode([sum], uppercase: false).utf8)
  }

  /// What arrived on the wire.
  public enum Item: Equatable, Sendable {
    case packet([UInt8])
    /// The bytes between `$` and `#` do not sum up to the two digits behind them.
    case corrupt
    case acknowledge
    case resend
    /// The unframed byte 0x03: stop the process.
    case interrupt
  }

  /// Takes bytes as they arrive and gives the items that are complete.
  public struct Decoder: Sendable {
    /// No packet of the dialogue that we hold comes near it.
    public static let limit = 1 << 20
    private var pending: [UInt8] = []

    public init() {}

    /// - Throws: `FrameError.tooLarge` once a packet passes `limit`; the decoder is then of no more use.
    public mutating func feed(_ bytes: [UInt8]) throws(FrameError) -> [Item] {
      var items: [Item] = []
      for byte in bytes {
        if pending.isEmpty {
          switch byte {
          case UInt8(ascii: "$"): pending = [byte]
          case UInt8(ascii: "+"): items.append(.acknowledge)
          case UInt8(ascii: "-"): items.append(.resend)
          case 0x03: items.append(.interrupt)
          default: break
          }
          continue
        }
        pending.append(byte)
        if pending.count > Self.limit { throw .tooLarge(bytes: pending.count, limit: Self.limit) }
        if pending.count >= 4, pending[pending.count - 3] == UInt8(ascii: "#") {
          items.append(Self.item(pending))
          pending = []
        }
      }
      return items
    }

    private static func item(_ frame: [UInt8]) -> Item {
      let payload = Array(frame[1..<(frame.count - 3)])
      let digits = String(decoding: frame.suffix(2), as: UTF8.self)
      let sum = payload.reduce(UInt8(0)) { $0 &+ $1 }
      return Hex.decode(digits) == [sum] ? .packet(payload) : .corrupt
    }
  }
}
