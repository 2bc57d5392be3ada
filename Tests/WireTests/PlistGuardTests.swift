import Testing
import Wire

@Suite struct `a binary property list that grows when it is written out` {
  private static func number(_ value: Int, _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// A list whose objects begin at these places of the body.
  private static func list(_ body: [UInt8], _ offsets: [Int], references: Int) -> [UInt8] {
    Array("bplist00".utf8) + body + offsets.flatMap { number($0 + 8, 4) } + [0, 0, 0, 0, 0, 0, 4, UInt8(references)]
      + number(offsets.count, 8) + number(0, 8) + number(8 + body.count, 8)
  }

  private static func counted(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind << 4 | 0xF, 0x12] + number(count, 4) }

  @Test func `is refused for one text at a million places`() {
    let names = Self.counted(0xA, 1_000_000) + [UInt8](repeating: 1, count: 1_000_000)
    let text = Self.counted(0x5, 1_000_000) + [UInt8](repeating: 0x61, count: 1_000_000)

    #expect(throws: PlistError.tooLarge) {
      try Plist(parsing: Self.list(names + text, [0, names.count], references: 1))
    }
  }

  @Test func `is refused in a moment when thousands of objects lie over each other`() {
    let count = 20_000
    let names = Self.counted(0xA, count) + (0..<count).flatMap { Self.number($0, 2) }
    let start = ContinuousClock.now

    #expect(throws: PlistError.malformed) {
      try Plist(parsing: Self.list(names, [Int](repeating: 0, count: count), references: 2))
    }
    let texts = Self.counted(0x5, 100_000) + [UInt8](repeating: 0x61, count: 100_000)
    #expect(throws: PlistError.malformed) {
      try Plist(
        parsing: Self.list(
          Self.counted(0xA, 999) + (1..<1000).flatMap { Self.number($0, 2) } + texts,
          [0] + [Int](repeating: 6 + 999 * 2, count: 999), references: 2))
    }
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `is taken when its texts are shared a few times`() throws {
    let names = Self.counted(0xA, 3) + [1, 1, 1]
    let text: [UInt8] = [0x52, 0x68, 0x69]

    let plist = try Plist(parsing: Self.list(names + text, [0, names.count], references: 1))

    #expect(plist == ["hi", "hi", "hi"])
  }

  @Test func `is taken with large data`() throws {
    let data = Plist.dictionary(["Data": .data([UInt8](repeating: 7, count: 8 << 20))])

    #expect(try Plist(parsing: data.binary) == data)
  }
}
