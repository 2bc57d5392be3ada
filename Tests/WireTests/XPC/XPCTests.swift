import Testing
import Wire

@Suite struct `an XPC value` {
  @Test(arguments: XPCSamples.all)
  func `is the same after the wire`(_ value: XPCValue) throws {
    #expect(try XPCValue(decoding: value.encoded) == value)
  }

  @Test func `is the same after the wire, whatever it holds`() throws {
    var random = SplitMix(seed: 11)
    for _ in 0..<2_000 {
      let value = XPCSamples.random(depth: 5, &random)

      let bytes = value.encoded

      #expect(try XPCValue(decoding: bytes) == value)
      #expect(bytes.count.isMultiple(of: 4))
    }
  }

  @Test func `has the bytes that a phone expects`() {
    #expect(XPCValue.dictionary([:]).encoded == [0, 0xF0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0])
    #expect(XPCValue.string("abc").encoded == [0, 0x90, 0, 0, 4, 0, 0, 0, 0x61, 0x62, 0x63, 0])
    #expect(XPCValue.data([9]).encoded == [0, 0x80, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0])
    #expect(
      XPCValue.dictionary(["ab": .bool(true)]).encoded
        == [0, 0xF0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0x61, 0x62, 0, 0, 0, 0x20, 0, 0, 1, 0, 0, 0])
    #expect(
      XPCValue.fileTransfer(id: 3, size: 5).encoded
        == [0, 0xA0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0] + XPCValue.dictionary(["s": .uint64(5)]).encoded)
  }

  @Test func `keeps the two kinds of integers apart`() throws {
    #expect(try XPCValue(decoding: XPCValue.int64(5).encoded) != .uint64(5))
    #expect(XPCValue.int64(5).int == 5 && XPCValue.uint64(5).int == 5)
    #expect(XPCValue.uint64(.max).int == nil && XPCValue.int64(-1).unsigned == nil)
  }

  @Test func `is taken with the array length that go-ios writes`() throws {
    var bytes = XPCValue.array([.bool(true), "x"]).encoded
    bytes[4] -= 4

    #expect(try XPCValue(decoding: bytes) == [true, "x"])
  }

  @Test func `is taken with a text that has no NUL, or is not UTF-8`() throws {
    #expect(try XPCValue(decoding: [0, 0x90, 0, 0, 0, 0, 0, 0]) == "")
    #expect(try XPCValue(decoding: [0, 0x90, 0, 0, 4, 0, 0, 0, 0x61, 0x62, 0x63, 0x64]) == "abcd")
    #expect(try XPCValue(decoding: [0, 0x90, 0, 0, 2, 0, 0, 0, 0xFF, 0, 0, 0]) == "\u{FFFD}")
  }
}

@Suite struct `hostile XPC bytes` {
  @Test func `nested ten thousand deep are refused`() {
    var list = [UInt8]()
    var dictionary = [UInt8]()
    for level in (0..<10_000).reversed() {
      list.append(contentsOf: [0, 0xE0, 0, 0] + Self.word(level * 12 + 4) + Self.word(level == 0 ? 0 : 1))
      dictionary.append(
        contentsOf: [0, 0xF0, 0, 0] + Self.word(level * 16 + 4) + Self.word(level == 0 ? 0 : 1)
          + [0x61, 0, 0, 0])
    }

    #expect(throws: XPCError.tooDeep) { try XPCValue(decoding: list) }
    #expect(throws: XPCError.tooDeep) { try XPCValue(decoding: dictionary) }
  }

  @Test(arguments: [0x8000, 0x9000, 0xE000, 0xF000] as [UInt32])
  func `that claim four gibibytes are refused`(_ type: UInt32) {
    let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]

    #expect(throws: XPCError.cutShort) { try XPCValue(decoding: Self.word(Int(type)) + most + most) }
    guard type >= 0xE000 else { return }
    #expect(throws: XPCError.cutShort) { try XPCValue(decoding: Self.word(Int(type)) + Self.word(4) + most) }
  }

  @Test func `are refused wherever they end`() {
    let bytes = XPCValue.array(XPCSamples.all).encoded

    for count in 0..<bytes.count {
      #expect(throws: XPCError.self) { try XPCValue(decoding: bytes.prefix(count)) }
    }
    #expect(throws: XPCError.wrongLength) { try XPCValue(decoding: bytes + [0, 0, 0, 0]) }
  }

  @Test func `of a type nobody knows are refused by its number`() {
    #expect(throws: XPCError.unknownType(0xB000)) { try XPCValue(decoding: [0, 0xB0, 0, 0, 1, 0, 0, 0]) }
  }

  @Test func `with a dictionary of another length than it says are refused`() {
    var bytes = XPCValue.dictionary(["a": .int64(1), "b": .int64(2)]).encoded
    bytes[4] -= 4

    #expect(throws: XPCError.wrongLength) { try XPCValue(decoding: bytes) }
  }

  @Test func `with more objects than any phone sends are refused`() {
    let count = XPCValue.maximumObjects + 1
    let nulls = [UInt8](unsafeUninitializedCapacity: count * 4) { buffer, initialized in
      for index in 0..<(count * 4) { buffer[index] = index % 4 == 1 ? 0x10 : 0 }
      initialized = count * 4
    }

    #expect(throws: XPCError.tooManyObjects) {
      try XPCValue(decoding: [0, 0xE0, 0, 0] + Self.word(count * 4 + 4) + Self.word(count) + nulls)
    }
  }

  @Test func `at random are read or refused`() {
    var random = SplitMix(seed: 12)
    for _ in 0..<2_000 {
      var bytes = XPCSamples.random(depth: 4, &random).encoded
      for _ in 0...(random.next() % 4) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }

      if let value = try? XPCValue(decoding: bytes) {
        #expect((try? XPCValue(decoding: value.encoded)) != nil)
      }
    }
  }

  private static func word(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
