import FoundationEssentials
import Wire

/// XPC values, made up at random from a seed.
enum XPCSamples {
  static let all: [XPCValue] = [
    nil, true, false, .int64(.min), .uint64(.max), .double(-0.5), .date(nanoseconds: -1), .data([]),
    .data([1, 2, 3, 4]),
    "", "abc", "\u{30C6}\u{30B9}", .uuid(UUID()), [], [:], .fileTransfer(id: 7, size: 1 << 40),
    ["MessageType": "Handshake", "Services": [:], "List": [.int64(1), [.uint64(2)], nil]],
  ]

  static func random(depth: Int, _ random: inout SplitMix) -> XPCValue {
    switch random.next() % (depth == 0 ? 10 : 12) {
    case 0: .null
    case 1: .bool(random.next() % 2 == 0)
    case 2: .int64(Int64(bitPattern: random.next()))
    case 3: .uint64(random.next())
    case 4: .double(Double(Int64(bitPattern: random.next())) / 256)
    case 5: .date(nanoseconds: Int64(bitPattern: random.next()))
    case 6: .data((0..<(random.next() % 9)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case 7: .string(text(&random))
    case 8: .uuid(UUID())
    case 9: .fileTransfer(id: random.next(), size: random.next())
    case 10: .array((0..<(random.next() % 5)).map { _ in self.random(depth: depth - 1, &random) })
    default:
      .dictionary(
        Dictionary(
          (0..<(random.next() % 5)).map { _ in (text(&random), self.random(depth: depth - 1, &random)) },
          uniquingKeysWith: { $1 }))
    }
  }

  private static func text(_ random: inout SplitMix) -> String {
    let letters = Array("ab.\u{E9}\u{30C6}\u{1F698}\n")
    return String((0..<(random.next() % 9)).map { _ in letters[Int(random.next() % UInt64(letters.count))] })
  }
}
