/// A property list: the value format of usbmux, lockdownd and most services.
///
/// Plain data, safe to hand between threads; the C library's trees never leave this folder.
public indirect enum Plist: Equatable, Sendable {
  case string(String)
  case integer(Int64)
  /// Only for numbers above `Int64.max`, such as some chip identifiers.
  case unsigned(UInt64)
  case real(Double)
  case boolean(Bool)
  case data([UInt8])
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case uid(UInt64)
  case array([Plist])
  case dictionary([String: Plist])
}

extension Plist {
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  public var bytes: [UInt8]? { if case .data(let value) = self { value } else { nil } }
  public var array: [Plist]? { if case .array(let value) = self { value } else { nil } }
  public var dictionary: [String: Plist]? { if case .dictionary(let value) = self { value } else { nil } }

  /// The number as an `Int`, or nil when it is no integer or does not fit.
  public var int: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .string, .real, .boolean, .data, .date, .uid, .array, .dictionary: nil
    }
  }

  /// A dictionary's value; nil for other kinds and absent keys.
  public subscript(key: String) -> Plist? { dictionary?[key] }
}

extension Plist: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByFloatLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(arrayLiteral elements: Plist...) { self = .array(elements) }

  public init(dictionaryLiteral elements: (String, Plist)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
