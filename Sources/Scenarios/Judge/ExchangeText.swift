import DeviceBridge
import Fleet
import Wire

/// An answer in words. Pictures and clips are described by type and size; their bytes are never shown.
enum AnswerText {
  private static let excerpt = 300

  static func of(_ ending: DoorAnswer.Ending) -> String {
    switch ending {
    case .response(let message): of(message)
    case .refused: "refused: nothing listens on the door's port"
    case .silent(_, let detail): "no answer (\(detail))"
    case .badReply(let detail): "bad reply (\(detail))"
    case .unreachable(let error): error.sentence
    }
  }

  private static func of(_ message: HTTPMessage) -> String {
    let type = message.header("Content-Type").map { Self.visible(String($0.prefix(100))) } ?? "no type"
    let size = message.body.count
    guard let shown = text(message) else { return "status \(message.status), \(type), \(size) bytes," }
    return shown.isEmpty ? "status \(message.status), \(type), empty," : "status \(message.status), \(type), \(shown),"
  }

  /// - Returns: nil for a body that is no text.
  private static func text(_ message: HTTPMessage) -> String? {
    if message.body.isEmpty { return "" }
    let type = (message.header("Content-Type") ?? "").lowercased()
    guard type.hasPrefix("text/") || type.contains("json") else { return nil }
    // A picture under a false name is still no text: neither zero bytes nor much of anything unreadable.
    guard !message.body.prefix(4_096).contains(0), String(validating: message.body, as: UTF8.self) != nil else {
      return nil
    }
    let text = String(decoding: message.body.prefix(4 * excerpt), as: UTF8.self)
    return visible(text.count > excerpt ? "\(text.prefix(excerpt))…" : text)
  }

  /// So that no answer can paint on a terminal.
  static func visible(_ text: String) -> String { text.oneLine(limit: .max) }
}

/// Expectations in words.
enum ExpectationText {
  static func of(_ expectation: Expectation) -> String {
    var parts: [String] = []
    if let silence = expectation.silence { parts.append(of(silence)) }
    if let status = expectation.status { parts.append("status \(status)") }
    if let type = expectation.type { parts.append("type \(type)") }
    parts += expectation.json.map { "\($0.path) \(of($0.matcher))" }
    parts += expectation.headers.map { "header \($0.name) \(of($0.matcher))" }
    if let size = expectation.size { parts.append(of(size)) }
    if let jpeg = expectation.jpeg { parts.append(of(jpeg)) }
    if let within = expectation.within { parts.append("the whole answer within \(within.shown)") }
    return parts.isEmpty ? "a complete answer" : parts.joined(separator: ", ")
  }

  static func of(_ silence: Expectation.Silence) -> String {
    switch silence {
    case .refused: "the connect refused"
    case .none: "no answer"
    case .closed: "the connection closed before a complete answer"
    }
  }

  static func of(_ jpeg: JPEGExpectation) -> String {
    let parts = [
      jpeg.exif.map { "exif \($0)" }, jpeg.gps.map { "gps \($0)" }, jpeg.width.map { "width \(pixels($0))" },
      jpeg.height.map { "height \(pixels($0))" },
    ]
    return "a JPEG with \(parts.compactMap { $0 }.joined(separator: ", "))"
  }

  static func pixels(_ range: ClosedRange<Int>) -> String {
    range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }

  static func of(_ size: ClosedRange<Int>) -> String {
    if size.upperBound == Int.max { return "at least \(size.lowerBound) bytes" }
    return size.lowerBound == 0 ? "at most \(size.upperBound) bytes" : "\(size.lowerBound) to \(size.upperBound) bytes"
  }

  static func of(_ matcher: Matcher) -> String {
    switch matcher {
    case .equals(let value): "= \(of(value))"
    case .contains(let value): "contains \(of(value))"
    case .matches(let pattern): "matches /\(pattern)/"
    case .exists(true): "exists"
    case .exists(false): "is absent"
    case .oneOf(let values): "is one of \(values.map { of($0) }.joined(separator: ", "))"
    case .all(let matchers): matchers.map(of).joined(separator: " and ")
    }
  }

  static func of(_ value: JSON?) -> String {
    guard let value else { return "absent" }
    let line = AnswerText.visible(value.line)
    return line.count > 120 ? "\(line.prefix(120))…" : line
  }
}
