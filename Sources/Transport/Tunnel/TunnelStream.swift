import CTunnel

/// One TCP connection through a tunnel.
///
/// At most 64 KiB wait in each direction: a writer waits for the peer, and the peer for the reader. It ends with its
/// interface, at once.
public final class TunnelStream: ByteStream, @unchecked Sendable {
  // The stack's own lock guards what is behind it; freed when nobody can be waiting any more.
  private let raw: OpaquePointer

  init(_ raw: OpaquePointer) { self.raw = raw }

  deinit { ctunnel_connection_free(raw) }

  /// The port at our end.
  public var localPort: UInt16 { ctunnel_local_port(raw) }

  /// Whether both ends could still send.
  public var isOpen: Bool { ctunnel_is_open(raw) }

  /// - Throws: `StreamError.closed` after a reset or with the tunnel, once what had come before is read.
  public func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] {
    var code = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: min(max, 1 << 16)) { buffer, count in
      code = ctunnel_read(raw, buffer.baseAddress, buffer.count, deadline.tunnelNanoseconds)
      count = Swift.max(code, 0)
    }
    if code < 0 { throw StreamError(tunnel: Int32(code)) }
    return bytes
  }

  public func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError) {
    var sent = 0
    while sent < bytes.count {
      let code = bytes.withUnsafeBufferPointer {
        ctunnel_write(raw, $0.baseAddress.map { $0 + sent }, $0.count - sent, deadline.tunnelNanoseconds)
      }
      if code < 0 { throw StreamError(tunnel: Int32(code)) }
      sent += code
    }
  }

  /// Ends the sending side; the far end reads to its end.
  public func endSending() { ctunnel_end_sending(raw) }

  /// Ends both directions, in an orderly way unless bytes that came were not read. Reads under way end as at the
  /// end of the stream, writes with `StreamError.closed`.
  public func shutdown() { ctunnel_shutdown(raw) }

  public func close() { ctunnel_shutdown(raw) }

  /// Ends both directions at once with a reset.
  public func reset() { ctunnel_reset(raw) }
}
