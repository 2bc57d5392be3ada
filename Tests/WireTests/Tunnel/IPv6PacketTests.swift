import Testing
import Wire

@Suite struct `the packets of a tunnel` {
  private func packet(_ payload: Int) throws -> [UInt8] {
    let source = try #require(IPv6Address("fd00::1"))
    let destination = try #require(IPv6Address("fd00::2"))
    return IPv6Header(source: source, destination: destination, payloadSize: payload).bytes
      + (0..<payload).map { UInt8(truncatingIfNeeded: $0) }
  }

  @Test func `are the same whatever pieces they come in`() throws {
    let packets = try [0, 1, 20, 300, 0, 7].map(packet)
    let bytes = packets.flatMap { $0 }

    for size in 1...bytes.count {
      var splitter = IPv6PacketSplitter()
      var read: [[UInt8]] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        read += try splitter.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(read == packets)
      #expect(!splitter.isInsidePacket)
    }
  }

  @Test func `are out of step at the first byte that begins none`() throws {
    var splitter = IPv6PacketSplitter()
    let first = try packet(9)

    #expect(throws: TunnelError.outOfStep(0x45)) { try splitter.feed(first + [0x45]) }
    var other = IPv6PacketSplitter()
    #expect(try other.feed(Array(first.prefix(48))) == [])
    #expect(throws: TunnelError.outOfStep(0)) { try other.feed(Array(first.suffix(1)) + [0]) }
  }

  @Test func `have a longest one`() throws {
    var splitter = IPv6PacketSplitter(limit: 1_500)

    #expect(try splitter.feed(packet(1_460)).count == 1)
    #expect(throws: TunnelError.tooLarge(bytes: 1_501, limit: 1_500)) { try splitter.feed(packet(1_461)) }
    var usual = IPv6PacketSplitter()
    #expect(try usual.feed(packet(65_535)).first?.count == IPv6PacketSplitter.longest)
  }

  @Test func `tell whose they are`() throws {
    let bytes = try packet(300)

    let header = try #require(bytes.withUnsafeBytes(IPv6Header.init))

    #expect(header.source.description == "fd00::1" && header.destination.description == "fd00::2")
    #expect(header.nextHeader == 6 && header.payloadSize == 300)
    #expect(header.bytes == Array(bytes.prefix(40)))
    #expect(bytes.prefix(39).withUnsafeBytes(IPv6Header.init) == nil)
  }
}
