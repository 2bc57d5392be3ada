import Wire

/// A value that no output shows: printing it prints dots.
public struct Secret: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// For the one place that sends it.
  public let value: String
  public init(_ value: String) { self.value = value }
  public var description: String { "•••" }
  public var debugDescription: String { "•••" }
}

extension Secret: CustomReflectable {
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Takes secret values out of texts, wherever they came from: as they are, as JSON or an address writes them, and what is
/// left of one where a text was cut off in its middle.
public struct Mask: Sendable {
  private static let dots = "•••"
  /// What a text that was cut off ends with.
  private static let cut = "…"
  /// So many characters of a value's beginning give it away; fewer are in any text.
  private static let telling = 4

  private let values: [String]

  /// Empty values hide nothing.
  public init(_ secrets: [Secret]) {
    let forms = secrets.map(\.value).filter { !$0.isEmpty }.flatMap { [$0, Self.inJSON($0), Self.inAddress($0)] }
    // The longest first, so that one that holds another leaves no rest.
    values = Set(forms).sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  public func callAsFunction(_ text: String) -> String {
    let masked = values.reduce(text) { $0.contains($1) ? $0.replacing($1, with: Self.dots) : $0 }
    return masked.contains(Self.cut) ? withoutBeginnings(masked) : masked
  }

  private func withoutBeginnings(_ text: String) -> String {
    var parts = text.split(separator: Self.cut, omittingEmptySubsequences: false).map(String.init)
    for index in parts.indices.dropLast() {
      for value in values {
        var count = value.count - 1
        while count >= Self.telling, !parts[index].hasSuffix(value.prefix(count)) { count -= 1 }
        guard count >= Self.telling else { continue }
        parts[index] = parts[index].dropLast(count) + Self.dots
      }
    }
    return parts.joined(separator: Self.cut)
  }

  private static func inJSON(_ text: String) -> String { String(JSON.string(text).line.dropFirst().dropLast()) }

  private static func inAddress(_ text: String) -> String {
    text.utf8.reduce(into: "") { escaped, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default: escaped += "%" + Hex.encode([byte])
      }
    }
  }
}

extension Secret {
  /// A token's file, read now.
  ///
  /// - Throws: a `Problem` of the file: unreadable, empty, of several lines or with characters that no header can carry.
  static func read(_ path: String, _ files: Files) throws(Problem) -> Secret {
    let bytes = try files.read(path, 4_096)
    var text = String(decoding: bytes, as: UTF8.self)
    while text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty else { throw Problem(file: path, sentence: "holds no token") }
    guard text.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw Problem(
        file: path,
        sentence: "holds characters that a bearer token cannot have; one line of visible ASCII is expected")
    }
    return Secret(text)
  }
}

extension DoorSettings {
  /// The door's token, read now; nil where fleet.yaml names no file for it.
  ///
  /// - Throws: see `Secret.read`.
  public func token(_ files: Files = .host) throws(Problem) -> Secret? {
    try tokenFile.map { path throws(Problem) in try Secret.read(path, files) }
  }
}
