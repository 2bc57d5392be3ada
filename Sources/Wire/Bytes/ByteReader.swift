/// Walks over bytes that nobody vouches for; every step says when there is less than asked for.
struct ByteReader {
  let bytes: ArraySlice<UInt8>
  private(set) var index: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  var remaining: Int { bytes.endIndex - index }

  /// The next bytes; nil, and nothing is taken, where there are fewer.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= remaining else { return nil }
    defer { index += count }
    return bytes[index..<(index + count)]
  }

  /// A number, its lowest byte first.
  mutating func little<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    take(Number.bitWidth / 8).map { $0.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) } }
  }

  /// The bytes up to a NUL, which is taken as well; nil where there is none.
  mutating func untilNUL() -> ArraySlice<UInt8>? {
    guard let end = bytes[index...].firstIndex(of: 0) else { return nil }
    defer { index = end + 1 }
    return bytes[index..<end]
  }
}

extension [UInt8] {
  /// Appends a number, its lowest byte first.
  mutating func append(little number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
