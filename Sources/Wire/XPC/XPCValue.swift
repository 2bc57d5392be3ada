import FoundationEssentials

/// An XPC object: the value format of RSD and of the CoreDevice services.
///
/// The two integer kinds are kept apart, since the phone's decoders take only the one they expect.
public indirect enum XPCValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  /// Nanoseconds since 1970-01-01 00:00:00 UTC.
  case date(nanoseconds: Int64)
  case data([UInt8])
  /// On the wire it ends with a NUL; what is not UTF-8 is replaced when it is read.
  case string(String)
  case uuid(UUID)
  case array([XPCValue])
  /// A key ends at its first NUL, if it has one.
  case dictionary([String: XPCValue])
  /// Announces a file whose bytes go over a stream of their own; the size is in bytes.
  case fileTransfer(id: UInt64, size: UInt64)
}

extension XPCValue {
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var bytes: [UInt8]? { if case .data(let value) = self { value } else { nil } }
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
  public var array: [XPCValue]? { if case .array(let value) = self { value } else { nil } }
  public var dictionary: [String: XPCValue]? { if case .dictionary(let value) = self { value } else { nil } }

  /// Either kind of integer; nil for other kinds and for what does not fit.
  public var int: Int? {
    switch self {
    case .int64(let value): Int(exactly: value)
    case .uint64(let value): Int(exactly: value)
    case .null, .bool, .double, .date, .data, .string, .uuid, .array, .dictionary, .fileTransfer: nil
    }
  }

  /// Either kind of integer; nil for other kinds and for negative numbers.
  public var unsigned: UInt64? {
    switch self {
    case .int64(let value): UInt64(exactly: value)
    case .uint64(let value): value
    case .null, .bool, .double, .date, .data, .string, .uuid, .array, .dictionary, .fileTransfer: nil
    }
  }

  /// A dictionary's value; nil for other kinds and absent keys.
  public subscript(key: String) -> XPCValue? { dictionary?[key] }

  /// A dictionary of texts.
  public static func texts(_ texts: [String: String]) -> XPCValue { .dictionary(texts.mapValues(XPCValue.string)) }

  /// A list of texts.
  public static func texts(_ texts: [String]) -> XPCValue { .array(texts.map(XPCValue.string)) }
}

extension XPCValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: XPCValue...) { self = .array(elements) }
  public init(nilLiteral: ()) { self = .null }

  public init(dictionaryLiteral elements: (String, XPCValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
