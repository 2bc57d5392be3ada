import Wire

/// Holds one value against a matcher.
enum ValueCheck {
  /// The longest text that a pattern is looked for in; a door may send anything.
  static let patternLimit = 64 << 10

  /// - Parameter value: nil where there is none, which is not null.
  static func holds(_ matcher: Matcher, _ value: JSON?) -> Bool {
    switch matcher {
    case .exists(let expected): (value != nil) == expected
    case .equals(let expected): value.map { same($0, expected) } ?? false
    case .oneOf(let expected): value.map { value in expected.contains { same(value, $0) } } ?? false
    case .contains(let part): value.map { contains($0, part) } ?? false
    case .matches(let pattern): value.map { matches($0, pattern) } ?? false
    case .all(let matchers): matchers.allSatisfy { holds($0, value) }
    }
  }

  private static func contains(_ value: JSON, _ part: JSON) -> Bool {
    if let elements = value.array { return elements.contains { same($0, part) } }
    guard let text = value.string else { return false }
    return text.contains(part.string ?? part.line)
  }

  private static func matches(_ value: JSON, _ pattern: String) -> Bool {
    guard let text = value.string, text.utf8.count <= patternLimit, let regex = try? Regex(pattern) else {
      return false
    }
    return text.contains(regex)
  }

  /// Numbers are the same when their values are, however they are written.
  static func same(_ left: JSON, _ right: JSON) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left == right
    case (.integer, .number), (.number, .integer), (.number, .number): left.double == right.double
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
    case (.object(let left), .object(let right)):
      left.count == right.count && left.allSatisfy { key, value in right[key].map { same(value, $0) } ?? false }
    case (.null, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.array, _), (.object, _):
      left == right
    }
  }
}
