/// The fields of a packet's header that decide whether it may go on.
public struct IPv6Header: Equatable, Sendable {
  public static let size = 40

  public var source: IPv6Address
  public var destination: IPv6Address
  /// The protocol behind the header; 6 is TCP.
  public var nextHeader: UInt8
  public var payloadSize: Int

  public init(source: IPv6Address, destination: IPv6Address, nextHeader: UInt8 = 6, payloadSize: Int) {
    self.source = source
    self.destination = destination
    self.nextHeader = nextHeader
    self.payloadSize = payloadSize
  }

  /// - Returns: nil for what is shorter than a header or not IPv6.
  public init?(_ packet: UnsafeRawBufferPointer) {
    guard packet.count >= Self.size, packet[0] >> 4 == 6, let source = IPv6Address(packet[8..<24]),
      let destination = IPv6Address(packet[24..<40])
    else { return nil }
    self.init(
      source: source, destination: destination, nextHeader: packet[6],
      payloadSize: Int(packet[4]) << 8 | Int(packet[5]))
  }

  /// A header with the usual hop limit.
  public var bytes: [UInt8] {
    let size = UInt16(clamping: payloadSize)
    return [0x60, 0, 0, 0, UInt8(size >> 8), UInt8(size & 0xFF), nextHeader, 64] + source.bytes + destination.bytes
  }
}

/// Takes a tunnel's stream apart into IPv6 packets, which follow one another without any framing.
///
/// A read may end anywhere inside a packet, also inside its header.
public struct IPv6PacketSplitter: Sendable {
  /// The longest packet that IPv6 can say.
  public static let longest = IPv6Header.size + 65_535

  private let limit: Int
  private var pending: [UInt8] = []

  /// - Parameter limit: bytes that a packet may have; more than this ends the tunnel.
  public init(limit: Int = Self.longest) { self.limit = limit }

  /// Whether bytes of a packet that is not whole have come.
  public var isInsidePacket: Bool { !pending.isEmpty }

  /// Hands over every packet that these bytes end, without copying those that lie in them whole.
  ///
  /// - Throws: `TunnelError` when the stream is out of step; nothing sensible can follow.
  public mutating func feed(
    _ bytes: UnsafeRawBufferPointer, _ packet: (UnsafeRawBufferPointer) -> Void
  ) throws(TunnelError) {
    var rest = bytes
    if !pending.isEmpty {
      try complete(IPv6Header.size, from: &rest)
      guard pending.count >= IPv6Header.size else { return }
      let size = try size(pending[4], pending[5])
      try complete(size, from: &rest)
      guard pending.count == size else { return }
      pending.withUnsafeBytes(packet)
      pending.removeAll(keepingCapacity: true)
    }
    while !rest.isEmpty {
      guard rest[0] >> 4 == 6 else { throw .outOfStep(rest[0]) }
      guard rest.count >= IPv6Header.size else { break }
      let size = try size(rest[4], rest[5])
      guard rest.count >= size else { break }
      packet(UnsafeRawBufferPointer(rebasing: rest[..<size]))
      rest = UnsafeRawBufferPointer(rebasing: rest[size...])
    }
    pending += rest
  }

  /// The packets that these bytes end.
  public mutating func feed(_ bytes: [UInt8]) throws(TunnelError) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    let outcome = bytes.withUnsafeBytes { bytes in
      Result { () throws(TunnelError) in try feed(bytes) { packets.append(Array($0)) } }
    }
    try outcome.get()
    return packets
  }

  /// Moves bytes over until so many are pending.
  private mutating func complete(_ count: Int, from rest: inout UnsafeRawBufferPointer) throws(TunnelError) {
    let missing = min(max(0, count - pending.count), rest.count)
    pending += rest.prefix(missing)
    rest = UnsafeRawBufferPointer(rebasing: rest[missing...])
  }

  /// The whole size of the packet whose header has these two bytes of length.
  private func size(_ high: UInt8, _ low: UInt8) throws(TunnelError) -> Int {
    let size = IPv6Header.size + Int(high) << 8 + Int(low)
    guard size <= limit else { throw .tooLarge(bytes: size, limit: limit) }
    return size
  }
}
