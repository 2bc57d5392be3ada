import Wire

extension DoorRequest {
  /// Why this can't be a request; nil when it can. What a file or a person wrote must not become other header lines.
  public var problem: String? {
    if port == 0 { return "port 0 is no port" }
    if method.isEmpty || !method.utf8.allSatisfy(Self.isToken) { return "\(Self.shown(method)) is no method" }
    if !target.hasPrefix("/") { return "the path \(Self.shown(target)) does not begin with /" }
    if !target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      return "the path \(Self.shown(target)) holds a space, a line break or a character that must be escaped"
    }
    for (name, value) in headers {
      if name.isEmpty || !name.utf8.allSatisfy(Self.isToken) { return "\(Self.shown(name)) is no header's name" }
      if !value.utf8.allSatisfy(Self.isText) { return "the header \(name) holds a line break or a control character" }
      if ["content-length", "transfer-encoding", "connection"].contains(name.lowercased()) {
        return "the header \(name) is set by fleetctl itself"
      }
    }
    if let token, !token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      return "the door's token holds a space, a line break or a control character"
    }
    return nil
  }

  /// The request as it is sent.
  var bytes: [UInt8] {
    var head = "\(method) \(target) HTTP/1.1\r\n"
    func has(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }
    if !has("host") { head += "Host: 127.0.0.1:\(port)\r\n" }
    if !has("accept") { head += "Accept: */*\r\n" }
    if let token, !has("authorization") { head += "Authorization: Bearer \(token)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if !body.isEmpty || !["GET", "HEAD"].contains(method) { head += "Content-Length: \(body.count)\r\n" }
    head += "Connection: \(canKeepConnection ? "keep-alive" : "close")\r\n\r\n"
    return Array(head.utf8) + body
  }

  /// Asked twice does no harm, which may happen on a connection that has just been closed at the far end.
  var canKeepConnection: Bool { keepsConnection && body.isEmpty && ["GET", "HEAD"].contains(method) }

  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func isText(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }

  private static func shown(_ text: String) -> String { "\"\(PhoneText.clean(text))\"" }
}
