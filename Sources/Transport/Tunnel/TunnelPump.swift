import Glibc
import Wire

/// Why a tunnel carries nothing any more.
public enum TunnelEnd: Error, Equatable, Sendable {
  /// It was closed from here.
  case closed
  /// The far end ended the connection underneath.
  case peerEnded
  /// What came are no packets.
  case outOfStep(TunnelError)
  /// The connection underneath failed.
  case failed(StreamError)

  public var sentence: String {
    switch self {
    case .closed: "the tunnel was closed"
    case .peerEnded: "the far end ended the tunnel"
    case .outOfStep(let error): error.sentence
    case .failed(let error): "the tunnel broke: \(error.sentence)"
    }
  }
}

/// A tunnel in use: the connection that carries it, its interface, and the one thread between the two.
///
/// The thread alone reads and writes the connection. With the connection every stream of the interface ends at once.
public final class TunnelPump: Sendable {
  public let interface: TunnelInterface
  private let loop: TunnelLoop

  /// Takes over the connection, whose next bytes are packets.
  ///
  /// - Parameters:
  ///   - early: bytes of packets that were read together with the handshake.
  ///   - name: of the thread, as `top -H` shows it.
  ///   - onEnd: called once, on the thread, after every stream has failed.
  /// - Throws: `StreamError.system` when no descriptor or no further interface is to be had; the connection is closed.
  public init(
    over carrier: any TunnelCarrier, address: IPv6Address, peer: IPv6Address, mtu: Int, early: [UInt8] = [],
    name: String = "tunnel", onEnd: @escaping @Sendable (TunnelEnd) -> Void = { _ in }
  ) throws(StreamError) {
    do {
      let outbox = TunnelOutbox(waker: try Waker())
      interface = try TunnelInterface(address: address, peer: peer, mtu: mtu) { outbox.put($0) }
      loop = TunnelLoop(carrier, interface, outbox, early: early, onEnd: onEnd)
    } catch {
      carrier.close()
      throw error
    }
    let loop = loop
    _ = Worker(name: name) { loop.run() }
  }

  deinit { if loop.outbox.closing == nil { stop(grace: .zero) } }

  /// Sends a packet that the interface did not make: for an end that is to misbehave.
  public func inject(_ packet: [UInt8]) { _ = packet.withUnsafeBytes { loop.outbox.put($0) } }

  /// Nil while the tunnel is alive.
  public var end: TunnelEnd? { loop.end.with { $0 } }

  /// - Returns: why it ended; nil when it is still alive at the deadline.
  public func waitForEnd(by deadline: Deadline) -> TunnelEnd? {
    _ = loop.done.wait(until: deadline)
    return end
  }

  /// Begins what `close` does, and waits for nothing; it goes on when this object is gone.
  public func stop(grace: Duration = .milliseconds(250)) { loop.outbox.close(by: .after(grace)) }

  /// Ends the tunnel: the streams say goodbye, as far as the far end takes it within the grace, then everything closes.
  ///
  /// Without a goodbye a phone's services keep what they know of their clients.
  ///
  /// It has ended when this returns. Not to be called in `onEnd`.
  public func close(grace: Duration = .milliseconds(250)) {
    stop(grace: grace)
    _ = loop.done.wait(until: .never)
  }
}
