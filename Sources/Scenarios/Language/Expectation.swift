import Wire

/// What must be true of an answer; everything named must hold.
public struct Expectation: Equatable, Sendable {
  public enum Silence: String, Sendable, CaseIterable {
    /// The connect is refused.
    case refused
    /// No byte by the deadline.
    case none
    /// Ended before a complete response.
    case closed
  }

  public var status: Int?
  /// The media type, its parameters aside.
  public var type: String?
  public var json: [PathExpectation] = []
  public var headers: [HeaderExpectation] = []
  /// The whole answer is there by then.
  public var within: Duration?
  /// Bytes of the body.
  public var size: ClosedRange<Int>?
  /// What the picture in the body is.
  public var jpeg: JPEGExpectation?
  /// No response at all, of this kind.
  public var silence: Silence?

  public init() {}

  /// Whether a pattern is looked for, which can take any time.
  var hasPattern: Bool {
    json.contains { $0.matcher.hasPattern } || headers.contains { $0.matcher.hasPattern }
  }
}

/// What a JPEG picture must be; everything named must hold.
public struct JPEGExpectation: Equatable, Sendable {
  public var exif: Bool?
  /// Whether its EXIF names a place.
  public var gps: Bool?
  /// Pixels.
  public var width: ClosedRange<Int>?
  public var height: ClosedRange<Int>?
}

/// A value at a path of the answer's JSON, and what it must be.
public struct PathExpectation: Equatable, Sendable {
  public var path: JSONPath
  public var matcher: Matcher
}

/// A header field and what it must be.
public struct HeaderExpectation: Equatable, Sendable {
  public var name: String
  public var matcher: Matcher
}

/// What one value must be.
public enum Matcher: Equatable, Sendable {
  /// Same value; numbers by value.
  case equals(JSON)
  /// A text that holds this one, or a list that has an equal element.
  case contains(JSON)
  /// A text in which the pattern is found.
  case matches(String)
  case exists(Bool)
  case oneOf([JSON])
  /// Several words in one mapping.
  case all([Matcher])

  var hasPattern: Bool {
    switch self {
    case .matches: true
    case .all(let matchers): matchers.contains { $0.hasPattern }
    case .equals, .contains, .exists, .oneOf: false
    }
  }
}

/// A dotted path into a JSON value, such as `grants.camera` or `cameras[0]`.
public struct JSONPath: Equatable, Sendable, CustomStringConvertible {
  public enum Part: Equatable, Sendable {
    case key(String)
    case index(Int)
  }
  public let parts: [Part]
  public let description: String

  /// - Returns: nil for empty keys, unclosed brackets and indices that are no number.
  public init?(_ text: String) {
    var parts: [Part] = []
    for piece in text.split(separator: ".", omittingEmptySubsequences: false) {
      let brackets = piece.split(separator: "[", omittingEmptySubsequences: false)
      guard let key = brackets.first, !key.isEmpty || (parts.isEmpty && brackets.count > 1) else { return nil }
      if !key.isEmpty { parts.append(.key(String(key))) }
      for bracket in brackets.dropFirst() {
        guard bracket.hasSuffix("]"), let index = Int(bracket.dropLast()), index >= 0 else { return nil }
        parts.append(.index(index))
      }
      if key.contains("]") { return nil }
    }
    self.parts = parts
    description = text
  }

  /// - Returns: nil where the path leads nowhere: absent, which is not null.
  public func value(in root: JSON) -> JSON? {
    var value = root
    for part in parts {
      let next: JSON?
      switch part {
      case .key(let key): next = value[key]
      case .index(let index):
        guard let elements = value.array, elements.indices.contains(index) else { return nil }
        next = elements[index]
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }
}
