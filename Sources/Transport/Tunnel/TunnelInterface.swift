import CTunnel
import Glibc
import Wire

/// One end of one tunnel: an address of ours, the peer's, and TCP between the two.
///
/// Packets go out through the sink and come in through `receive`. Every connection belongs to its interface and to no
/// other, also where two tunnels have the same addresses. The stack is one for the process, with one thread.
public final class TunnelInterface: @unchecked Sendable {
  /// Takes one outgoing packet, to be written on its own: joined packets confuse the phone's forwarder.
  ///
  /// It is called on any thread with the stack's lock held, so it copies and returns, and calls nothing of an interface
  /// or a stream. False refuses the packet: nothing is lost, and `resume` sends it.
  public typealias Sink = @Sendable (UnsafeRawBufferPointer) -> Bool

  /// How many interfaces a process may have at once.
  public static let most = Int(CTUNNEL_MOST_INTERFACES)

  public let address: IPv6Address
  public let peer: IPv6Address
  /// The longest packet that the tunnel carries, in bytes; ours have at most 1520.
  public let mtu: Int
  // The stack's own lock guards what is behind it.
  private let raw: OpaquePointer
  private let outlet: Unmanaged<Outlet>

  /// - Throws: `StreamError.system(ENOBUFS)` when there are too many interfaces.
  public init(address: IPv6Address, peer: IPv6Address, mtu: Int, sink: @escaping Sink) throws(StreamError) {
    self.address = address
    self.peer = peer
    self.mtu = mtu
    outlet = Unmanaged.passRetained(Outlet(sink))
    let raw = ctunnel_interface_new(
      address.bytes, peer.bytes, UInt16(clamping: mtu),
      { context, bytes, count in
        guard let context else { return false }
        let outlet = Unmanaged<Outlet>.fromOpaque(context).takeUnretainedValue()
        return outlet.sink(UnsafeRawBufferPointer(start: bytes, count: count))
      }, outlet.toOpaque())
    guard let raw else {
      outlet.release()
      throw .system(ENOBUFS)
    }
    self.raw = raw
  }

  deinit {
    ctunnel_interface_free(raw)
    outlet.release()
  }

  private final class Outlet: Sendable {
    let sink: Sink
    init(_ sink: @escaping Sink) { self.sink = sink }
  }

  // MARK: - Packets

  /// Takes in the packets that the body hands over, as one batch: readers wake and acknowledgements leave at its end.
  ///
  /// The stack's lock is held all the while, so the body hands over what it has and waits for nothing. A packet that
  /// is not TCP from the peer to us is dropped.
  public func receive<E: Error>(
    _ body: (_ packet: (UnsafeRawBufferPointer) -> Void) throws(E) -> Void
  ) throws(E) {
    ctunnel_interface_begin(raw)
    defer { ctunnel_interface_end(raw) }
    try body { packet in
      ctunnel_interface_input(raw, packet.bindMemory(to: UInt8.self).baseAddress, packet.count)
    }
  }

  /// Takes in one packet.
  public func receive(_ packet: [UInt8]) {
    receive { take in packet.withUnsafeBytes(take) }
  }

  /// Sends what the sink refused; it may refuse again.
  public func resume() { ctunnel_interface_resume(raw) }

  /// Packets that were dropped on their way in.
  public var dropped: Int { Int(ctunnel_interface_dropped(raw)) }

  /// Connections that the stack keeps, with those that still say goodbye.
  public var connections: Int { ctunnel_interface_connections(raw) }

  /// Whether something was written, or ended, that has not left yet.
  public var hasUnsent: Bool { ctunnel_interface_has_unsent(raw) }

  // MARK: - Connections

  /// Connects to a port of the peer.
  ///
  /// - Throws: `StreamError.system(ECONNREFUSED)` when nobody listens there, `.timedOut`, `.closed` with the interface.
  public func connect(port: UInt16, by deadline: Deadline) throws(StreamError) -> TunnelStream {
    var failure: Int32 = 0
    guard let connection = ctunnel_connect(raw, port, &failure) else { throw StreamError(tunnel: failure) }
    let stream = TunnelStream(connection)
    let code = ctunnel_wait_connected(connection, deadline.tunnelNanoseconds)
    guard code == 0 else { throw StreamError(tunnel: code) }
    return stream
  }

  /// From now on `accept` gives what connects to this port of ours; several ports may be open at once.
  ///
  /// - Parameter port: zero takes a free one.
  /// - Returns: the port.
  /// - Throws: `StreamError.system(EADDRINUSE)` when it is open already, or the interface closed.
  @discardableResult
  public func listen(port: UInt16 = 0) throws(StreamError) -> UInt16 {
    var port = port
    let code = ctunnel_listen(raw, &port)
    guard code == 0 else { throw StreamError(tunnel: code) }
    return port
  }

  /// Refuses further connections to the port; those that are open stay.
  public func unlisten(port: UInt16) { ctunnel_unlisten(raw, port) }

  /// The next connection to one of the open ports; its `localPort` tells to which.
  ///
  /// - Returns: nil at the deadline, and once the interface is closed.
  public func accept(by deadline: Deadline) -> TunnelStream? {
    ctunnel_accept(raw, deadline.tunnelNanoseconds).map { TunnelStream($0) }
  }

  // MARK: - Ends

  /// Ends every stream in an orderly way; their last packets go to the sink.
  public func finish() { ctunnel_interface_finish(raw) }

  /// Fails every stream at once and sends nothing more. What had come stays readable.
  public func close() { ctunnel_interface_close(raw) }
}

extension StreamError {
  init(tunnel code: Int32) {
    self =
      switch code {
      case Int32(CTUNNEL_TIMED_OUT): .timedOut
      case Int32(CTUNNEL_REFUSED): .system(ECONNREFUSED)
      case Int32(CTUNNEL_UNAVAILABLE): .system(EADDRINUSE)
      default: .closed
      }
  }
}

extension Deadline {
  /// As the stack counts: nanoseconds of CLOCK_MONOTONIC.
  var tunnelNanoseconds: UInt64 {
    let time = timespec
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
