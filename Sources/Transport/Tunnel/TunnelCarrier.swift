import Glibc

/// What carries a tunnel's packets: the service connection, plain or in TLS. Read and written by one thread.
public protocol TunnelCarrier: AnyObject, Sendable {
  /// For waiting until it can be read or written.
  var fd: Int32 { get }
  /// Called once, before anything is read: nothing but packets follows.
  func readAhead()
  /// - Returns: how many bytes came; zero at the end of the stream, nil when there are none yet.
  func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int?
  /// - Returns: how many of the bytes were taken; zero when it is full. The same bytes are offered again then.
  func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int
  func close()
}

extension TunnelCarrier {
  /// Nothing, where a read takes what is there anyway.
  public func readAhead() {}
}

extension Socket: TunnelCarrier {
  public func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
    while true {
      let count = recv(fd, buffer.baseAddress, buffer.count, 0)
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(errno)
      }
    }
  }
}

extension TLSStream: TunnelCarrier {}
