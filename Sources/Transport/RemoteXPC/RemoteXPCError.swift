import Wire

/// Why a RemoteXPC connection did not do what it was asked.
public enum RemoteXPCError: Error, Equatable, Sendable {
  /// Nothing came in time; the connection is still good.
  case timedOut
  /// The connection underneath ended or failed.
  case stream(StreamError)
  /// The peer does not speak HTTP/2 as it should; the library's words.
  case http2(String)
  /// The peer ended the connection with this code of HTTP/2.
  case goneAway(UInt32)
  /// The peer ended one of the two streams with this code of HTTP/2; 5 where another connection took its place.
  case reset(stream: Int32, code: UInt32)
  /// What came is no message.
  case message(XPCError)
  /// More came unasked than is kept.
  case flooded

  public var sentence: String {
    switch self {
    case .timedOut: "no answer came in time"
    case .stream(let error): error.sentence
    case .http2(let text): "HTTP/2 is broken: \(text)"
    case .goneAway(let code): "the far end ended the connection with HTTP/2 code \(code)"
    case .reset(let stream, let code): "the far end ended stream \(stream) with HTTP/2 code \(code)"
    case .message(let error): error.sentence
    case .flooded: "the far end sent more than was asked for"
    }
  }

  init(_ error: HTTP2Error) {
    self =
      switch error {
      case .broken(let text), .library(let text): .http2(text.isEmpty ? "the connection was ended" : text)
      }
  }
}
