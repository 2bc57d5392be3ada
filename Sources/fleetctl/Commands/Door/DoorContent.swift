import Wire

/// The body of a door's answer as it may be shown: text as text, a picture or clip only described.
struct DoorContent: Sendable {
  /// The content type without its parameters.
  var type: String?
  var text: String?
  var json: JSON?
  /// {kind, size} of a picture or clip; its bytes go nowhere.
  var picture: JSON?
  /// A few words about what the body is.
  var summary: String
  /// The text, for a terminal.
  var lines: [String]

  init(_ message: HTTPMessage) {
    let bytes = message.body
    let type = message.header("Content-Type").map { $0.prefix { $0 != ";" }.lowercased() }
      .map { $0.trimmed }
    self.type = type
    if bytes.isEmpty {
      summary = "empty"
    } else if let kind = Self.medium(type, bytes) {
      summary = "\(kind), \(bytes.count) bytes, not shown"
      picture = ["kind": .string(kind), "size": .integer(Int64(bytes.count))]
    } else if Self.isText(type, bytes) {
      summary = "\(bytes.count) bytes"
      text = String(decoding: bytes, as: UTF8.self)
      json = JSON(parsing: bytes)
      if json != nil { text = nil }
    } else {
      summary = "\(bytes.count) bytes, not text, not shown"
    }
    lines = json.map { [$0.line.printable] } ?? Self.split(text)
  }

  /// The app's own sentence, where it refused with one.
  var reason: String { json?["error"]?.string.map { ": \($0.printable)" } ?? "" }

  private static func split(_ text: String?) -> [String] {
    guard let text else { return [] }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// What kind of picture, clip or sound it is; the bytes decide as well as the label, since none may get out.
  private static func medium(_ type: String?, _ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "JPEG picture" }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "PNG picture" }
    if bytes.starts(with: Array("GIF8".utf8)) { return "GIF picture" }
    if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
      return "TIFF picture"
    }
    if bytes.dropFirst(4).starts(with: Array("ftyp".utf8)) {
      return bytes.dropFirst(8).starts(with: Array("hei".utf8)) ? "HEIF picture" : "clip"
    }
    switch type?.prefix(while: { $0 != "/" }) {
    case "image": return "picture"
    case "video": return "clip"
    case "audio": return "sound"
    default: return nil
    }
  }

  private static func isText(_ type: String?, _ bytes: [UInt8]) -> Bool {
    if bytes.contains(0) { return false }
    if let type, type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml") { return true }
    return String(validating: bytes, as: UTF8.self) != nil
  }
}

extension String {
  /// Without blanks at either end.
  fileprivate var trimmed: String {
    var part = self[...]
    while part.first == " " { part.removeFirst() }
    while part.last == " " { part.removeLast() }
    return String(part)
  }
}
