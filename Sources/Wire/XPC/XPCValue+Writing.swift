import FoundationEssentials

extension XPCValue {
  /// The object as it stands in a message. Keys are sorted, so that the same value always gives the same bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return bytes
  }

  func write(into bytes: inout [UInt8]) {
    switch self {
    case .null:
      bytes.append(little: XPCType.null.rawValue)
    case .bool(let value):
      bytes.append(little: XPCType.bool.rawValue)
      bytes.append(little: UInt32(value ? 1 : 0))
    case .int64(let value):
      bytes.append(little: XPCType.int64.rawValue)
      bytes.append(little: value)
    case .uint64(let value):
      bytes.append(little: XPCType.uint64.rawValue)
      bytes.append(little: value)
    case .double(let value):
      bytes.append(little: XPCType.double.rawValue)
      bytes.append(little: value.bitPattern)
    case .date(let nanoseconds):
      bytes.append(little: XPCType.date.rawValue)
      bytes.append(little: nanoseconds)
    case .data(let value):
      bytes.append(little: XPCType.data.rawValue)
      bytes.append(little: UInt32(clamping: value.count))
      bytes += value
      Self.pad(value.count, in: &bytes)
    case .string(let value):
      let text = Array(value.utf8)
      bytes.append(little: XPCType.string.rawValue)
      bytes.append(little: UInt32(clamping: text.count + 1))
      Self.writeText(text, into: &bytes)
    case .uuid(let value):
      bytes.append(little: XPCType.uuid.rawValue)
      Swift.withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    case .array(let values):
      Self.write(.array, count: values.count, into: &bytes) { bytes in
        for value in values { value.write(into: &bytes) }
      }
    case .dictionary(let entries):
      Self.write(.dictionary, count: entries.count, into: &bytes) { bytes in
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
          Self.writeText(Array(key.utf8.prefix { $0 != 0 }), into: &bytes)
          value.write(into: &bytes)
        }
      }
    case .fileTransfer(let id, let size):
      bytes.append(little: XPCType.fileTransfer.rawValue)
      bytes.append(little: id)
      XPCValue.dictionary(["s": .uint64(size)]).write(into: &bytes)
    }
  }

  /// A text, its NUL, and the padding that both need.
  private static func writeText(_ text: [UInt8], into bytes: inout [UInt8]) {
    bytes += text
    bytes.append(0)
    pad(text.count + 1, in: &bytes)
  }

  /// Padding is counted from the start of the value, not of the message.
  private static func pad(_ count: Int, in bytes: inout [UInt8]) {
    for _ in 0..<padding(count) { bytes.append(0) }
  }

  static func padding(_ count: Int) -> Int { (4 - count % 4) % 4 }

  /// A list's or dictionary's head; its length, known only afterwards, counts the number of entries in.
  private static func write(
    _ type: XPCType, count: Int, into bytes: inout [UInt8], _ body: (inout [UInt8]) -> Void
  ) {
    bytes.append(little: type.rawValue)
    let place = bytes.count
    bytes.append(little: UInt32(0))
    bytes.append(little: UInt32(clamping: count))
    body(&bytes)
    let length = UInt32(clamping: bytes.count - place - 4)
    for (offset, shift) in [0, 8, 16, 24].enumerated() {
      bytes[place + offset] = UInt8(truncatingIfNeeded: length >> UInt32(shift))
    }
  }
}
