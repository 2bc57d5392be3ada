/// A connection that carries bytes both ways: a socket, TLS over one, later a tunnel's stream.
///
/// One thread may read while another writes. Every call ends by its deadline.
public protocol ByteStream: AnyObject, Sendable {
  /// - Returns: at least one byte and at most `max`; empty at the end of the stream.
  func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8]
  /// Writes all of it.
  func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError)
  /// Ends reading and writing, also those under way on other threads. The descriptor stays until `close`.
  func shutdown()
  /// Gives the descriptor back; may be called twice.
  func close()
}

/// Why a read or a write did not happen.
public enum StreamError: Error, Equatable, Sendable {
  case timedOut
  /// The far end has gone: reset, or the end of the stream where more was due.
  case closed
  /// A call of the system failed with this errno.
  case system(Int32)
  /// TLS broke; the library's own words.
  case tls(String)

  public var sentence: String {
    switch self {
    case .timedOut: "no byte came in time"
    case .closed: "the connection was closed"
    case .system(let code): "the system says: \(Errno.text(code))"
    case .tls(let text): "TLS failed: \(text)"
    }
  }
}

extension ByteStream {
  /// Exactly `count` bytes.
  ///
  /// - Throws: `StreamError.closed` when the stream ends before.
  public func read(exactly count: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      // The claim of a length reserves no memory; only what has come does.
      let part = try read(max: min(count - bytes.count, 1 << 16), by: deadline)
      if part.isEmpty { throw .closed }
      bytes += part
    }
    return bytes
  }
}
