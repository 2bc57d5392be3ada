/// One HTTP/1.x message, request or response, as it was received.
public struct HTTPMessage: Equatable, Sendable {
  /// Empty for responses.
  public var method = ""
  /// Path and query; empty for responses.
  public var target = ""
  /// 0 for requests.
  public var status = 0
  /// Names as they came; several fields of one name stay several.
  public var headers: [(name: String, value: String)] = []
  public var body: [UInt8] = []
  /// Whether the connection may carry another message after this one.
  public var keepsAlive = false

  public init() {}

  /// The first field of that name, letter case aside.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  public static func == (left: HTTPMessage, right: HTTPMessage) -> Bool {
    left.method == right.method && left.target == right.target && left.status == right.status
      && left.body == right.body && left.keepsAlive == right.keepsAlive
      && left.headers.elementsEqual(right.headers, by: ==)
  }
}

/// Why bytes are no HTTP message that we take.
public enum HTTPError: Error, Equatable, Sendable {
  /// `detail` is the parser's own word for what it met.
  case malformed(detail: String)
  /// The connection ended before any byte.
  case empty
  /// The connection ended inside the head.
  case headCut
  /// The connection ended inside the body; `promised` is nil for chunked bodies.
  case bodyCut(promised: Int?, received: Int)
  case tooLarge(limit: Int)

  public var sentence: String {
    switch self {
    case .malformed(let detail): "not HTTP: \(detail)"
    case .empty: "empty reply"
    case .headCut: "the reply ended inside its head"
    case .bodyCut(let promised?, let received): "promised \(promised) bytes, got \(received)"
    case .bodyCut(nil, let received): "the reply ended inside its chunks, after \(received) bytes"
    case .tooLarge(let limit): "the reply is larger than \(limit) bytes"
    }
  }
}
