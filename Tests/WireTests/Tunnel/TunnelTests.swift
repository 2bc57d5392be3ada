import Testing
import Wire

@Suite struct `a tunnel's handshake` {
  private func offer() throws -> TunnelOffer {
    TunnelOffer(
      client: try #require(IPv6Address("fd12:3456:789a::2")), server: try #require(IPv6Address("fd12:3456:789a::1")),
      mtu: 16_000, rsdPort: 50_123)
  }

  @Test func `is the same after the wire, whatever pieces it comes in`() throws {
    let offer = try offer()
    let packet: [UInt8] = [0x60, 0, 0, 0]
    let bytes = try #require(TunnelFrame.bytes(offer.body)) + packet

    for size in 1...bytes.count {
      var reader = TunnelFrameReader()
      var rest = bytes[...]
      var result: (body: JSON, rest: [UInt8])?
      while result == nil, !rest.isEmpty {
        result = try reader.feed(rest.prefix(size))
        rest = rest.dropFirst(size)
      }

      let (body, behind) = try #require(result)
      #expect(try TunnelOffer(body) == offer)
      #expect(behind + rest == packet)
    }
  }

  @Test func `asks as other hosts do`() throws {
    let request = TunnelRequest(mtu: 16_000)

    let bytes = try #require(TunnelFrame.bytes(request.body))

    #expect(bytes == Array("CDTunnel".utf8) + [0, 45] + Array(#"{"mtu":16000,"type":"clientHandshakeRequest"}"#.utf8))
    #expect(try TunnelRequest(request.body) == request)
  }

  @Test func `leaves room for readers of one length byte in its reply`() throws {
    let longest = try #require(IPv6Address("fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
    let other = try #require(IPv6Address("fdff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"))
    let offer = TunnelOffer(client: longest, server: other, mtu: 65_535, rsdPort: 65_535)

    #expect(try #require(TunnelFrame.bytes(offer.body)).count - TunnelFrame.headerSize <= TunnelFrame.longestReply)
  }

  @Test func `may be longer than one byte can count`() throws {
    let body: JSON = ["note": .string(String(repeating: "x", count: 1_000))]
    var reader = TunnelFrameReader()

    #expect(try reader.feed(try #require(TunnelFrame.bytes(body)))?.body == body)
    #expect(TunnelFrame.bytes(["note": .string(String(repeating: "x", count: 70_000))]) == nil)
  }

  @Test func `takes the usual length for a phone that names none`() throws {
    guard case .object(var body) = try offer().body else { return }
    body["clientParameters"] = ["address": "fd00::2"]

    #expect(try TunnelOffer(.object(body)).mtu == 1500)
  }

  @Test(
    arguments: [
      ("serverAddress", "nonsense"), ("serverRSDPort", 0), ("serverRSDPort", 65_536), ("serverRSDPort", "1"),
      ("type", "clientHandshakeRequest"), ("clientParameters", nil), ("serverAddress", "fd12:3456:789a::2"),
    ] as [(String, JSON)])
  func `names what makes no sense in it`(_ key: String, _ value: JSON) throws {
    guard case .object(var body) = try offer().body else { return }
    body[key] = value

    let error = #expect(throws: TunnelError.self) { try TunnelOffer(.object(body)) }

    #expect(error == .malformed(key == "clientParameters" ? "clientParameters.address" : key))
  }

  @Test func `is refused at the first wrong letter`() {
    var reader = TunnelFrameReader()

    #expect(throws: TunnelError.notAHandshake) { try reader.feed(Array("CDX".utf8)) }
    var other = TunnelFrameReader()
    #expect(throws: TunnelError.malformed("JSON")) { try other.feed(Array("CDTunnel".utf8) + [0, 1, 0x7B]) }
  }

  @Test(arguments: [0, 1279, 65_536])
  func `takes no length that IPv6 forbids`(_ mtu: Int) {
    #expect(throws: TunnelError.malformed("mtu")) { try TunnelRequest(TunnelRequest(mtu: mtu).body) }
  }
}

@Suite struct `an IPv6 address` {
  @Test(arguments: ["::1", "fd12:3456:789a::2", "fe80::1:2:3:4", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"])
  func `reads as it is written`(_ text: String) throws {
    let address = try #require(IPv6Address(text))

    #expect(address.description == text)
    #expect(IPv6Address(address.bytes) == address)
  }

  @Test(arguments: ["", "1.2.3.4", "fe80::1%eth0", "1:2", "g::", "::1\0", ":::"])
  func `is not what is none`(_ text: String) {
    #expect(IPv6Address(text) == nil)
  }
}
