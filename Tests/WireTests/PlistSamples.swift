import Wire

/// Values and hostile bytes that several suites use.
enum PlistSamples {
  static let header = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

  static let all: [Plist] = [
    "text", "", "\u{30C6}\u{30B9}\u{30C8} <&>", 0, 4_294_967_296, true, false, .real(1.5), .data([]),
    .data(Array(0...255)), .array([]), .dictionary([:]),
    ["MessageType": "Connect", "DeviceID": 3, "PortNumber": 32498],
    ["Nested": ["List": [1, "two", [3]], "Flag": false]],
  ]

  static func random(depth: Int, _ random: inout SplitMix) -> Plist {
    switch random.next() % (depth == 0 ? 5 : 7) {
    case 0: .string(text(&random))
    case 1: .integer(Int64(random.next() >> 1))
    case 2: .boolean(random.next() % 2 == 0)
    case 3: .data((0..<(random.next() % 40)).map { _ in UInt8(random.next() & 0xFF) })
    case 4: .real(Double(random.next() % 1_000_000) / 8)
    case 5: .array((0..<(random.next() % 5)).map { _ in self.random(depth: depth - 1, &random) })
    default:
      .dictionary(
        Dictionary(
          (0..<(random.next() % 5)).map { ("k\($0)", self.random(depth: depth - 1, &random)) },
          uniquingKeysWith: { $1 }))
    }
  }

  private static func text(_ random: inout SplitMix) -> String {
    let letters = Array("ab <>&\"'\u{E9}\u{30C6}\u{1F698}\n")
    return String((0..<(random.next() % 12)).map { _ in letters[Int(random.next() % UInt64(letters.count))] })
  }

  /// `levels` arrays, each of `width` references to the next one, the last one empty.
  static func binaryBomb(levels: UInt8, width: UInt8) -> [UInt8] {
    let objects = (0..<levels).map { level -> [UInt8] in
      level == levels - 1
        ? [0xA0] : [0xA0 | width] + [UInt8](repeating: level + 1, count: Int(width))
    }
    return binary(objects)
  }

  static let binaryLoop = binary([[0xA1, 1], [0xA1, 0]])

  static func binary(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] {
      for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(number >> shift & 0xFF)) }
    }
    return bytes
  }
}

/// A small seeded generator (SplitMix64), so that a failing run can be repeated.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
