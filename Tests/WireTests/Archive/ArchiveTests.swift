import Testing
import Wire

@Suite struct `an archive of objects` {
  @Test func `is the same after the wire, whatever it holds`() throws {
    var random = SplitMix(seed: 21)
    for _ in 0..<300 {
      let value = Self.value(depth: 4, &random)

      #expect(try KeyedArchive.decode(KeyedArchive.encode(value)) == value)
    }
  }

  @Test func `is read in the forms of mutable objects, addresses and identifiers`() throws {
    let archive = Self.archive([
      "$null", ["NS.objects": [.uid(2), .uid(3), .uid(4), .uid(5), .uid(6), .uid(0)]], ["NS.string": "text"],
      ["NS.base": .uid(0), "NS.relative": .uid(7)], ["NS.data": .data([1])], ["NS.uuidbytes": .data([2])],
      ["$class": .uid(8)], "file:///x", ["$classname": "FBThing"],
    ])

    #expect(
      try KeyedArchive.decode(archive)
        == .array([.string("text"), .string("file:///x"), .data([1]), .data([2]), .other("FBThing"), .null]))
  }

  @Test func `whose objects hold one another is refused`() {
    #expect(throws: ArchiveError.tooDeep) {
      try KeyedArchive.decode(Self.archive(["$null", ["NS.objects": [.uid(1)]]]))
    }
    #expect(throws: ArchiveError.tooDeep) { try KeyedArchive.decode(Self.archive(["$null", .uid(1)])) }
    let error: Plist = ["NSDomain": .uid(2), "NSCode": 1, "NSUserInfo": .uid(3)]
    let info: Plist = ["NS.keys": [.uid(4)], "NS.objects": [.uid(1)]]
    #expect(throws: ArchiveError.tooDeep) {
      try KeyedArchive.decode(Self.archive(["$null", error, "domain", info, "NSUnderlyingError"]))
    }
  }

  @Test func `of ten thousand levels is refused`() {
    let objects: [Plist] = ["$null"] + (1...10_000).map { ["NS.objects": [.uid(UInt64($0) + 1)]] } + ["end"]

    #expect(throws: ArchiveError.tooDeep) { try KeyedArchive.decode(Self.archive(objects)) }
  }

  @Test func `that grows without bounds as it is followed is refused`() {
    let levels: [Plist] = (1...40).map { level in
      ["NS.objects": .array([Plist](repeating: .uid(UInt64(level) + 1), count: 10))]
    }

    #expect(throws: ArchiveError.tooManyObjects) { try KeyedArchive.decode(Self.archive(["$null"] + levels + ["end"])) }
  }

  @Test func `that refers to nothing is refused`() {
    #expect(throws: ArchiveError.badReference(9)) {
      try KeyedArchive.decode(Self.archive(["$null", ["NS.objects": [.uid(9)]]]))
    }
    #expect(throws: ArchiveError.badReference(1)) { try KeyedArchive.decode(Self.archive(["$null"])) }
  }

  @Test(
    arguments: [
      ["NS.keys": [.uid(0)], "NS.objects": []], ["NSCode": 1], ["NSDomain": "x"], ["NSDomain": .uid(0), "NSCode": 1],
      ["NS.objects": "x"], ["NS.objects": [[]]],
    ] as [Plist])
  func `with an object of wrong parts is refused`(_ object: Plist) {
    #expect(throws: ArchiveError.notAnArchive) { try KeyedArchive.decode(Self.archive(["$null", object])) }
  }

  @Test func `is none without an archive's parts`() {
    #expect(throws: ArchiveError.notAnArchive) { try KeyedArchive.decode((["a": 1] as Plist).binary) }
    #expect(throws: ArchiveError.notAPlist(.malformed)) { try KeyedArchive.decode([1, 2, 3]) }
  }

  private static func archive(_ objects: [Plist]) -> [UInt8] {
    (["$top": ["root": .uid(1)], "$objects": .array(objects)] as Plist).binary
  }

  private static func value(depth: Int, _ random: inout SplitMix) -> Archived {
    switch random.next() % (depth == 0 ? 7 : 10) {
    case 0: .null
    case 1: .string("s\(random.next() % 100)")
    case 2: .integer(Int64(random.next() >> 1))
    case 3: .real(Double(random.next() % 1_000) / 8)
    case 4: .boolean(random.next() % 2 == 0)
    case 5: .data((0..<(random.next() % 9)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case 6: .date(Double(random.next() % 1_000_000) + 0.5)
    case 7: .array((0..<(random.next() % 4)).map { _ in value(depth: depth - 1, &random) })
    case 8: .dictionary(entries(depth: depth, &random))
    default: .error(domain: "d", code: Int64(random.next() % 100), userInfo: entries(depth: depth, &random))
    }
  }

  private static func entries(depth: Int, _ random: inout SplitMix) -> [String: Archived] {
    Dictionary(
      (0..<(random.next() % 4)).map { ("k\($0)", value(depth: depth - 1, &random)) }, uniquingKeysWith: { $1 })
  }
}
