import Testing
import Wire

@Suite struct `a mux frame` {
  @Test func `carries its fields through the header`() throws {
    let frame = MuxFrame(["MessageType": "ListDevices"], tag: 77)

    let (head, size) = try MuxFrame.header(Array(frame.bytes.prefix(16)), limit: 1 << 16)

    #expect(head.version == 1 && head.message == 8 && head.tag == 77)
    #expect(size == frame.payload.count)
  }

  @Test func `that claims less than its header or more than the limit is refused`() {
    var small = MuxFrame(tag: 1, payload: []).bytes
    small[0] = 15
    var large = small
    large[3] = 0xFF

    #expect(throws: FrameError.short) { try MuxFrame.header(small, limit: 1 << 16) }
    #expect(throws: FrameError.self) { try MuxFrame.header(large, limit: 1 << 16) }
  }
}

@Suite struct `a gdb packet` {
  @Test(arguments: ["", "OK", "qLaunchSuccess", "E;0123456789"])
  func `survives the wire whole or byte by byte`(_ payload: String) throws {
    var whole = GDBPacket.Decoder()
    var single = GDBPacket.Decoder()
    let bytes = GDBPacket.encode(payload)

    let items = try bytes.flatMap { try single.feed([$0]) }

    #expect(items == [.packet(Array(payload.utf8))])
    #expect(try whole.feed(bytes) == items)
  }

  @Test func `with a wrong checksum is called corrupt`() throws {
    var decoder = GDBPacket.Decoder()

    #expect(try decoder.feed(Array("$OK#00".utf8)) == [.corrupt])
  }

  @Test func `stands among acknowledgements and interrupts`() throws {
    var decoder = GDBPacket.Decoder()

    let items = try decoder.feed(Array("+".utf8) + GDBPacket.encode("D") + [0x03] + Array("-".utf8))

    #expect(items == [.acknowledge, .packet(Array("D".utf8)), .interrupt, .resend])
  }

  @Test func `without an end is refused before it fills memory`() throws {
    var decoder = GDBPacket.Decoder()
    _ = try decoder.feed(Array("$".utf8))

    #expect(throws: FrameError.self) {
      for _ in 0..<20 { _ = try decoder.feed([UInt8](repeating: 0x61, count: 1 << 16)) }
    }
  }
}

@Suite struct `a phone's identifier` {
  @Test(arguments: [
    ("00008101000A1B2C3D4E001E", "00008101-000A1B2C3D4E001E"),
    ("00008101-000a1b2c3d4e001e", "00008101-000A1B2C3D4E001E"),
    ("0123456789ABCDEF0123456789ABCDEF01234567", "0123456789abcdef0123456789abcdef01234567"),
  ])
  func `H02 H03: is the same with or without hyphen, in any letter case`(_ one: String, _ other: String) {
    #expect(UDID(one) == UDID(other))
    #expect(Set([UDID(one), UDID(other)]).count == 1)
  }

  @Test func `H02: is shown with the hyphen that the mux left out`() {
    #expect(UDID("00008101000A1B2C3D4E001E").description == "00008101-000A1B2C3D4E001E")
  }

  @Test(arguments: ["", "hall", "00008101", "00008101-000A1B2C3D4E001G", "0-0008101000A1B2C3D4E001E-"])
  func `is well formed only in its two forms`(_ text: String) {
    #expect(UDID(wellFormed: text) == nil)
  }
}
