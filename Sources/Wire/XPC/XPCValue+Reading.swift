import FoundationEssentials

extension XPCValue {
  /// Real messages stay under twenty levels.
  public static let maximumDepth = 128
  /// Objects of one message; a list of ten thousand processes has about forty thousand.
  public static let maximumObjects = 1_000_000

  /// Reads exactly one object.
  ///
  /// - Throws: `XPCError`; no input crashes or takes memory beyond a small multiple of its own size.
  public init(decoding bytes: some Collection<UInt8>) throws(XPCError) {
    var decoder = XPCDecoder(ArraySlice(bytes))
    self = try decoder.value(depth: 1)
    guard decoder.reader.remaining == 0 else { throw .wrongLength }
  }
}

private struct XPCDecoder {
  var reader: ByteReader
  private var objects = 0

  init(_ bytes: ArraySlice<UInt8>) { reader = ByteReader(bytes) }

  mutating func value(depth: Int) throws(XPCError) -> XPCValue {
    objects += 1
    guard depth <= XPCValue.maximumDepth else { throw .tooDeep }
    guard objects <= XPCValue.maximumObjects else { throw .tooManyObjects }
    let number = try number(UInt32.self)
    guard let type = XPCType(rawValue: number) else { throw .unknownType(number) }
    switch type {
    case .null: return .null
    // Only the lowest byte counts.
    case .bool: return .bool(try self.number(UInt32.self) & 0xFF != 0)
    case .int64: return .int64(try self.number())
    case .uint64: return .uint64(try self.number())
    case .double: return .double(Double(bitPattern: try self.number()))
    case .date: return .date(nanoseconds: try self.number())
    case .data: return .data(Array(try padded()))
    case .string: return .string(text(try padded()))
    case .uuid: return .uuid(try uuid())
    case .array: return .array(try array(depth: depth))
    case .dictionary: return .dictionary(try dictionary(depth: depth))
    case .fileTransfer: return try fileTransfer(depth: depth)
    }
  }

  private mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(XPCError) -> Number {
    guard let number = reader.little(Number.self) else { throw .cutShort }
    return number
  }

  private mutating func take(_ count: Int) throws(XPCError) -> ArraySlice<UInt8> {
    guard let bytes = reader.take(count) else { throw .cutShort }
    return bytes
  }

  /// A length, so many bytes, and their padding.
  private mutating func padded() throws(XPCError) -> ArraySlice<UInt8> {
    let count = Int(try number(UInt32.self))
    let bytes = try take(count)
    _ = try take(XPCValue.padding(count))
    return bytes
  }

  /// The length counts the NUL; a text without one is taken as well.
  private func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.last == 0 ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  private mutating func uuid() throws(XPCError) -> UUID {
    let bytes = try take(16)
    var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    Swift.withUnsafeMutableBytes(of: &raw) { $0.copyBytes(from: bytes) }
    return UUID(uuid: raw)
  }

  private mutating func array(depth: Int) throws(XPCError) -> [XPCValue] {
    let (length, start) = try container()
    var values: [XPCValue] = []
    // The claimed count is no reason to take memory: each entry has at least a type of four bytes.
    let count = Int(try number(UInt32.self))
    guard count <= reader.remaining / 4 else { throw .cutShort }
    for _ in 0..<count { values.append(try value(depth: depth + 1)) }
    // go-ios leaves the count out of an array's length, everybody else counts it in.
    guard reader.index - start == length || reader.index - start == length + 4 else { throw .wrongLength }
    return values
  }

  private mutating func dictionary(depth: Int) throws(XPCError) -> [String: XPCValue] {
    let (length, start) = try container()
    var entries: [String: XPCValue] = [:]
    let count = Int(try number(UInt32.self))
    guard count <= reader.remaining / 8 else { throw .cutShort }
    for _ in 0..<count {
      guard let key = reader.untilNUL() else { throw .cutShort }
      _ = try take(XPCValue.padding(key.count + 1))
      entries[String(decoding: key, as: UTF8.self)] = try value(depth: depth + 1)
    }
    guard reader.index - start == length else { throw .wrongLength }
    return entries
  }

  /// The length of what follows, and where that begins.
  private mutating func container() throws(XPCError) -> (length: Int, start: Int) {
    let length = Int(try number(UInt32.self))
    guard length <= reader.remaining else { throw .cutShort }
    return (length, reader.index)
  }

  private mutating func fileTransfer(depth: Int) throws(XPCError) -> XPCValue {
    let id = try number(UInt64.self)
    guard case .dictionary(let entries) = try value(depth: depth + 1), let size = entries["s"]?.unsigned else {
      throw .wrongLength
    }
    return .fileTransfer(id: id, size: size)
  }
}
