import Transport
import Wire

/// One request to the door.
public struct DoorRequest: Sendable {
  public var port: UInt16
  public var method: String
  /// Path and query.
  public var target: String
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// Sent as a bearer token; never printed.
  public var token: String?
  /// The whole answer must be there by then.
  public var deadline: Deadline
  /// The connection is kept for the next such request to this port, and one that is there is used; for GET and HEAD.
  public var keepsConnection = false
  /// So many bytes of the answer's body are kept, the first; nil for all.
  public var keptBody: Int?
  public init(
    port: UInt16, method: String, target: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = [], token: String? = nil, deadline: Deadline
  ) {
    self.port = port
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.token = token
    self.deadline = deadline
  }
}

/// How a request to the door ended.
public struct DoorAnswer: Sendable {
  public enum Ending: Sendable {
    /// A complete, well-formed response of any status: the only thing that counts as an answer.
    case response(HTTPMessage)
    /// The connect was refused: nothing listens on the port.
    case refused
    /// Nothing, or not everything, by the deadline: `received` bytes had come, and `detail` says what they were.
    case silent(received: Int, detail: String)
    /// Ended before a complete response, or not HTTP.
    case badReply(detail: String)
    /// The phone or the mux could not be reached: not the app's doing.
    case unreachable(PhoneError)
  }
  public var ending: Ending
  /// From the connect to the last byte, or to the failure.
  public var took: Duration
  public init(ending: Ending, took: Duration) {
    self.ending = ending
    self.took = took
  }
  public var response: HTTPMessage? { if case .response(let message) = ending { message } else { nil } }
}
