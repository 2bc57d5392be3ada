import Transport
import Wire

/// Writes a tunnel's packets to the host: one a write, as phones do, or as wrongly as somebody wishes.
final class PacketOutlet: Sendable {
  /// Bytes that begin no packet.
  static let garbage = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }

  private struct State {
    /// What goes wrong now.
    var kind: TunnelFault.Kind?
    /// What begins once so many bytes are out.
    var due: TunnelFault?
    var sent = 0
  }

  private let stream: any ByteStream
  private let own: IPv6Address
  private let host: IPv6Address
  private let state: Guarded<State>

  init(stream: any ByteStream, own: IPv6Address, host: IPv6Address, fault: TunnelFault?) {
    self.stream = stream
    self.own = own
    self.host = host
    let due = fault?.moment == .bytes ? fault : nil
    state = Guarded(State(due: due))
  }

  /// Nothing is sent, and what comes is not looked at.
  var isAsleep: Bool { state.with { $0.kind == .sleep } }

  /// - Parameter kind: nil: all is well again.
  func begin(_ kind: TunnelFault.Kind?) { state.with { $0.kind = kind } }

  /// - Returns: false when the tunnel is over.
  func write(_ packets: [[UInt8]]) -> Bool {
    do throws(StreamError) {
      if state.with({ $0.kind }) == .joined {
        try put(Array(packets.joined()))
        return true
      }
      for packet in packets {
        guard let due = passes(packet.count) else {
          guard try write(packet) else { return false }
          continue
        }
        // In the middle of the packet.
        try put(Array(packet.prefix(due.left)))
        begin(due.kind)
        if due.kind == .drop { return false }
        guard try write(Array(packet.dropFirst(due.left))) else { return false }
      }
      return true
    } catch {
      return false
    }
  }

  /// - Returns: nil while nothing is due; else the bytes that still pass, and what begins behind them.
  private func passes(_ count: Int) -> (left: Int, kind: TunnelFault.Kind)? {
    state.with { state in
      defer { state.sent += count }
      guard let due = state.due, state.sent + count >= due.bytes else { return nil }
      state.due = nil
      return (max(0, due.bytes - state.sent), due.kind)
    }
  }

  private func write(_ packet: [UInt8]) throws(StreamError) -> Bool {
    switch state.with({ $0.kind }) {
    case .sleep: return true
    case .drop: return false
    case .garbage, .shape, .oversized:
      try put(Self.garbage)
      begin(.sleep)
    case .drip:
      for byte in packet { try put([byte]) }
    case .foreign:
      for stranger in strangers { try put(stranger) }
      try put(packet)
    case .joined, nil: try put(packet)
    }
    return true
  }

  // A host that takes nothing holds its own tunnel and nobody else's; the connection's end is the end of it.
  private func put(_ bytes: [UInt8]) throws(StreamError) { try stream.write(bytes, by: .never) }

  /// For an address that is not the host's, and from one that is not the phone's.
  private var strangers: [[UInt8]] {
    guard let other = IPv6Address([0xFD] + [UInt8](repeating: 0xBA, count: 14) + [2]) else { return [] }
    return [
      StrayPacket(from: own, to: other).bytes, StrayPacket(from: other, to: host).bytes,
    ]
  }
}

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
}
