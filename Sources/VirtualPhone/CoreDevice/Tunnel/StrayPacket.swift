import Wire

/// A packet that begins a TCP connection, well formed, between any two addresses.
struct StrayPacket {
  let from: IPv6Address
  let to: IPv6Address
  var source: UInt16 = 50_000
  var destination: UInt16 = 50_001

  var bytes: [UInt8] {
    func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
    // Five words of header, SYN, a window.
    var segment = big(source) + big(destination) + [0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0xFF, 0xFF, 0, 0, 0, 0]
    let pseudo = from.bytes + to.bytes + [0, 0, 0, UInt8(segment.count), 0, 0, 0, 6]
    segment.replaceSubrange(16..<18, with: big(Self.checksum(pseudo + segment)))
    return IPv6Header(source: from, destination: to, payloadSize: segment.count).bytes + segment
  }

  /// The Internet's: of an even number of bytes.
  private static func checksum(_ bytes: [UInt8]) -> UInt16 {
    var sum: UInt32 = 0
    for index in stride(from: 0, to: bytes.count, by: 2) { sum += UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1]) }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    return ~UInt16(sum)
  }

  /// Bytes that begin no packet at all.
  static let garbage = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
}
