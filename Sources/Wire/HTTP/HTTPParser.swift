import CHTTPParser

/// Takes the bytes of one HTTP/1.x message as they arrive; the grammar is Debian's http-parser's.
///
/// One parser reads one message; a new message takes a new parser, fed with `surplus` first.
public final class HTTPParser {
  public enum Kind: Sendable { case request, response }

  /// The message so far; whole once `isComplete`.
  public private(set) var message = HTTPMessage()
  public private(set) var headIsComplete = false
  public private(set) var isComplete = false
  /// Bytes behind the message, belonging to the next one.
  public private(set) var surplus: [UInt8] = []
  /// What Content-Length promised, once the head is read.
  public private(set) var promised: Int?

  private let parser: UnsafeMutablePointer<http_parser>
  private let bodyLimit: Int
  private let keptBody: Int
  /// Bytes of body that have come, kept or not.
  public private(set) var bodyBytes = 0
  private let answersHead: Bool
  private let kind: Kind
  private var sawBytes = false
  private var overflowed = false
  // Kept as bytes until the head is whole: a piece may end inside a character.
  private var target: [UInt8] = []
  private var fields: [(name: [UInt8], value: [UInt8])] = []
  private var lastWasValue = true

  /// - Parameters:
  ///   - bodyLimit: bytes of body that are taken before `HTTPError.tooLarge`.
  ///   - keptBody: so many of them, the first, are kept; nil for all.
  ///   - answersHead: the response is to a HEAD request, so no body follows whatever its fields say.
  public init(_ kind: Kind, bodyLimit: Int, keptBody: Int? = nil, answersHead: Bool = false) {
    self.kind = kind
    self.bodyLimit = bodyLimit
    self.keptBody = keptBody ?? bodyLimit
    self.answersHead = answersHead
    parser = .allocate(capacity: 1)
    parser.initialize(to: http_parser())
    http_parser_init(parser, kind == .request ? HTTP_REQUEST : HTTP_RESPONSE)
    parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { parser.deallocate() }

  /// - Throws: `HTTPError.malformed` or `.tooLarge`; the parser is then of no more use.
  public func feed(_ bytes: [UInt8]) throws(HTTPError) {
    if isComplete {
      surplus += bytes
      return
    }
    if bytes.isEmpty { return }
    sawBytes = true
    let taken = run(bytes)
    if isComplete {
      surplus = Array(bytes[min(taken, bytes.count)...])
    } else if overflowed {
      throw .tooLarge(limit: bodyLimit)
    } else if errno != HPE_OK {
      throw .malformed(detail: Self.description(errno))
    }
  }

  /// The connection has ended: completes a body that ends by closing, or says what is missing.
  public func finish() throws(HTTPError) {
    if isComplete { return }
    guard sawBytes else { throw .empty }
    _ = run([])
    if isComplete { return }
    guard headIsComplete else { throw .headCut }
    throw .bodyCut(promised: promised, received: bodyBytes)
  }

  private var errno: http_errno { http_errno(UInt32(parser.pointee.http_errno)) }

  private static func description(_ errno: http_errno) -> String {
    String(cString: http_errno_description(errno))
  }

  private func run(_ bytes: [UInt8]) -> Int {
    var settings = Self.settings
    return bytes.withUnsafeBytes {
      http_parser_execute(parser, &settings, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
    }
  }

  // MARK: - What the C parser calls

  private static func owner(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTPParser? {
    guard let data = parser?.pointee.data else { return nil }
    return Unmanaged<HTTPParser>.fromOpaque(data).takeUnretainedValue()
  }

  private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: count)
  }

  private static var settings: http_parser_settings {
    var settings = http_parser_settings()
    settings.on_url = { parser, start, count in
      HTTPParser.owner(parser)?.target += HTTPParser.bytes(start, count)
      return 0
    }
    settings.on_header_field = { parser, start, count in
      HTTPParser.owner(parser)?.takeName(HTTPParser.bytes(start, count))
      return 0
    }
    settings.on_header_value = { parser, start, count in
      HTTPParser.owner(parser)?.takeValue(HTTPParser.bytes(start, count))
      return 0
    }
    settings.on_headers_complete = { parser in HTTPParser.owner(parser)?.headEnds() ?? -1 }
    settings.on_body = { parser, start, count in
      HTTPParser.owner(parser)?.takeBody(HTTPParser.bytes(start, count)) ?? -1
    }
    settings.on_message_complete = { parser in
      HTTPParser.owner(parser)?.messageEnds()
      return 0
    }
    return settings
  }

  private func takeName(_ bytes: UnsafeRawBufferPointer) {
    // Trailer fields behind the last chunk are read and dropped.
    guard !headIsComplete else { return }
    if lastWasValue { fields.append(([], [])) }
    fields[fields.count - 1].name += bytes
    lastWasValue = false
  }

  private func takeValue(_ bytes: UnsafeRawBufferPointer) {
    guard !headIsComplete, !fields.isEmpty else { return }
    fields[fields.count - 1].value += bytes
    lastWasValue = true
  }

  private func headEnds() -> Int32 {
    headIsComplete = true
    message.target = String(decoding: target, as: UTF8.self)
    message.headers = fields.map {
      (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
    }
    let head = parser.pointee
    if kind == .request {
      message.method = String(cString: http_method_str(http_method(head.method)))
    } else {
      message.status = Int(head.status_code)
    }
    // The C parser says "no length" with all bits set.
    promised = head.content_length == UInt64.max ? nil : Int(exactly: head.content_length)
    return answersHead ? 1 : 0
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard bodyBytes + bytes.count <= bodyLimit else {
      overflowed = true
      return -1
    }
    bodyBytes += bytes.count
    message.body += bytes.prefix(max(0, keptBody - message.body.count))
    return 0
  }

  private func messageEnds() {
    // An interim answer (100 Continue) only announces the real one.
    if kind == .response, (100..<200).contains(message.status), message.status != 101 {
      message = HTTPMessage()
      bodyBytes = 0
      headIsComplete = false
      fields = []
      lastWasValue = true
      return
    }
    message.keepsAlive = http_should_keep_alive(parser) != 0
    isComplete = true
    // Stops here, so that what follows stays with the caller.
    http_parser_pause(parser, 1)
  }
}
