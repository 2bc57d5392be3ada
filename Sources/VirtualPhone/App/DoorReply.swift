import Wire

/// One answer of the door.
struct DoorReply: Equatable, Sendable {
  var status: Int
  var type = "application/json"
  var body: [UInt8]
  /// Further header lines, without their ends.
  var fields: [String] = []

  static func json(_ value: JSON) -> DoorReply { DoorReply(status: 200, body: Array(value.line.utf8)) }

  /// - Parameter sentence: what a caller reads; the number only sorts it.
  static func refusal(_ status: Int, _ sentence: String) -> DoorReply {
    DoorReply(status: status, body: Array(JSON.object(["error": .string(sentence)]).line.utf8))
  }

  /// The whole response in HTTP/1.1.
  ///
  /// - Parameter withBody: false for the answer to HEAD, which only says how long the body would be.
  func bytes(keepAlive: Bool, withBody: Bool = true) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(Self.reason(status))", "Content-Type: \(type)", "Content-Length: \(body.count)"]
    lines += fields + ["Connection: \(keepAlive ? "keep-alive" : "close")", "", ""]
    return Array(lines.joined(separator: "\r\n").utf8) + (withBody ? body : [])
  }

  static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 423: "Locked"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Status \(status)"
    }
  }
}

/// A request's target, taken apart.
struct DoorTarget: Equatable, Sendable {
  let path: String
  let query: [String: String]

  init(_ target: String) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts.first ?? "")
    var query: [String: String] = [:]
    for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      query[Self.plain(sides[0])] = sides.count > 1 ? Self.plain(sides[1]) : ""
    }
    self.query = query
  }

  /// Undoes the percent and plus escapes of a form.
  private static func plain(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
        code.count == 1
      {
        bytes += code
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
