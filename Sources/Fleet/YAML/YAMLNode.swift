/// One value of a YAML document and where it stands; scalars stay text until their field gives them a type.
public struct YAMLNode: Equatable, Sendable {
  public enum Value: Equatable, Sendable {
    /// `plain` is false for text in quotes and for block text, which are always text.
    case scalar(String, plain: Bool)
    case sequence([YAMLNode])
    /// In the order of the file; no key twice.
    case mapping([Entry])
  }

  public struct Entry: Equatable, Sendable {
    public var key: String
    public var keyLine: Int
    public var keyColumn: Int
    public var value: YAMLNode
  }

  public var value: Value
  /// Counted from 1.
  public var line: Int
  /// In characters, counted from 1.
  public var column: Int
  /// Written with brackets or braces.
  public var isFlow = false

  /// The value of a mapping's key.
  public subscript(key: String) -> YAMLNode? {
    guard case .mapping(let entries) = value else { return nil }
    return entries.first { $0.key == key }?.value
  }

  /// A plain `null`, `~` or nothing at all.
  public var isNull: Bool {
    guard case .scalar(let text, plain: true) = value else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// What kind of value it is, for sentences.
  public var kind: String {
    switch value {
    case .scalar(let text, plain: true) where text.isEmpty: "nothing"
    case .scalar: "a text"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
