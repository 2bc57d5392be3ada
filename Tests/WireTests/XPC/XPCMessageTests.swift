import Testing
import Wire

@Suite struct `an XPC message` {
  private let messages = [
    XPCMessage(.always, id: 0, body: [:]), XPCMessage(.opening, id: 0),
    XPCMessage([.always, .initHandshake], id: 0),
    XPCMessage(.request, id: 3, body: ["CoreDevice.input": ["a": .data([1, 2, 3])]]),
    XPCMessage(.reply, id: 3, body: ["CoreDevice.output": [true, nil]]),
  ]

  @Test func `has the bytes that were seen`() {
    let first = messages[0].bytes

    #expect(first.count == 44)
    #expect(Array(first.prefix(8)) == [0x92, 0x0B, 0xB0, 0x29, 1, 0, 0, 0])
    #expect(Array(first[24..<32]) == [0x42, 0x37, 0x13, 0x42, 5, 0, 0, 0])
    #expect(messages[1].bytes.count == 24)
    #expect(XPCMessage.Flags.request.rawValue == 0x10101)
    #expect(XPCMessage.Flags.reply.rawValue == 0x20101)
  }

  @Test func `is the same whatever pieces it comes in`() throws {
    let bytes = messages.flatMap(\.bytes)

    for size in 1...bytes.count {
      var reader = XPCMessageReader()
      var read: [XPCMessage] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        read += try reader.feed(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(read == messages)
      #expect(!reader.isInsideMessage)
    }
  }

  @Test func `that claims more than the limit is refused at its header`() {
    var reader = XPCMessageReader(limit: 1_000)
    var header = XPCMessage(.push, id: 1).bytes
    header.replaceSubrange(8..<16, with: [0xE9, 3, 0, 0, 0, 0, 0, 0])

    #expect(throws: XPCError.tooLarge(bytes: 1_001, limit: 1_000)) { try reader.feed(header) }
    var other = XPCMessageReader()
    header.replaceSubrange(8..<16, with: [UInt8](repeating: 0xFF, count: 8))
    #expect(throws: XPCError.tooLarge(bytes: .max, limit: XPCMessageReader.defaultLimit)) { try other.feed(header) }
  }

  @Test func `of another kind is refused`() {
    for place in [0, 24, 28] {
      var reader = XPCMessageReader()
      var bytes = messages[0].bytes
      bytes[place] ^= 0x40

      #expect(throws: XPCError.self) { try reader.feed(bytes) }
    }
  }
}
