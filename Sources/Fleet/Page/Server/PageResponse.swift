import Wire

/// A whole answer of the page.
struct PageResponse: Equatable, Sendable {
  var status: Int
  var type: String
  /// Beside those that every answer has.
  var headers: [String: String] = [:]
  var body: [UInt8]

  init(_ status: Int, type: String, headers: [String: String] = [:], _ text: String) {
    self.status = status
    self.type = type
    self.headers = headers
    body = Array(text.utf8)
  }

  static func json(_ json: JSON, status: Int = 200, headers: [String: String] = [:]) -> PageResponse {
    PageResponse(status, type: "application/json", headers: headers, json.line + "\n")
  }

  /// A refusal: `{"error": sentence}`.
  static func refusal(_ status: Int, _ sentence: String, headers: [String: String] = [:]) -> PageResponse {
    json(["error": .string(sentence)], status: status, headers: headers)
  }

  /// What every answer carries: it is nobody else's to keep, to frame or to guess the type of.
  static let everyHeader: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
  ]
}

/// How a request is answered.
enum PageReply: Sendable {
  case now(PageResponse)
  /// What may wait for a phone or a disk; where it takes longer, the client is told so.
  case later(within: Duration, @Sendable () async -> PageResponse)
  case events(any EventSource)
}

/// What a client of the live page is told.
protocol EventSource: Sendable {
  /// What is new since the last call, as server-sent events; empty where nothing is. It does not block.
  func next() -> [UInt8]
}
