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

/// Takes secret values out of texts, wherever they came from.
public struct Mask: Sendable {
  private let values: [String]

  /// Empty values hide nothing.
  public init(_ secrets: [Secret]) {
    // The longest first, so that one that holds another leaves no rest.
    values = secrets.map(\.value).filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
  }

  public func callAsFunction(_ text: String) -> String {
    values.reduce(text) { $0.contains($1) ? $0.replacing($1, with: "•••") : $0 }
  }
}

extension DoorSettings {
  /// The door's token, read now; nil where fleet.yaml names no file for it.
  ///
  /// - Throws: a `Problem` of the token file: unreadable, empty, of several lines or with characters that no header can carry.
  public func token(_ files: Files = .host) throws(Problem) -> Secret? {
    guard let tokenFile else { return nil }
    let bytes = try files.read(tokenFile, 4_096)
    var text = String(decoding: bytes, as: UTF8.self)
    while text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty else { throw Problem(file: tokenFile, sentence: "holds no token") }
    guard text.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw Problem(
        file: tokenFile,
        sentence: "holds characters that a bearer token cannot have; one line of visible ASCII is expected")
    }
    return Secret(text)
  }
}
