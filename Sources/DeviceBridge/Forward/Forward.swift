import Glibc
import Transport
import Wire

/// Local TCP ports that lead to ports of one phone, for as long as this object lives.
///
/// The phone may leave and come back, and the daemon too: the local ports stay, and the phone is known by its UDID
/// alone. While it is away, clients are accepted and reset at once. One thread drives all connections.
public final class Forward: Sendable {
  /// A local port and the phone's port behind it.
  public struct Port: Equatable, Sendable {
    /// 0 lets the system choose.
    public var local: UInt16
    public var device: UInt16
    public init(local: UInt16, device: UInt16) {
      self.local = local
      self.device = device
    }
  }

  public struct Limits: Sendable {
    /// Clients at a time; more wait to be accepted.
    public var connections = 1024
    /// From a client's acceptance until the phone's port has answered.
    public var connecting = Duration.seconds(10)
    /// The same trouble, gone and returned, is not told again before.
    public var spacing = Duration.seconds(60)
    public init() {}
  }

  public enum Event: Equatable, Sendable {
    /// Clients are turned away for this reason. Told once for each kind, not for each client.
    case trouble(PhoneError)
    /// The phone whose absence was told, or the daemon, is there again.
    case back
  }

  /// What the thread needs to begin.
  struct Plan: Sendable {
    let udid: UDID
    let mux: MuxAddress
    let targets: [SocketAddress]
    let limits: Limits
    let doors: [(listener: Listener, port: UInt16)]
  }

  /// Where each of the ports listens, in the order given.
  public let addresses: [SocketAddress]
  private let waker: Waker
  private let worker: Worker

  /// Listens on all of the ports, or on none.
  ///
  /// - Parameters:
  ///   - host: the numeric address to listen on. Whoever reaches it reaches the phone's port.
  ///   - report: called on the forward's thread; must not block.
  public init(
    _ udid: UDID, _ ports: [Port], on host: String = "127.0.0.1", mux: MuxAddress, limits: Limits = Limits(),
    report: @escaping @Sendable (Event) -> Void
  ) throws(ForwardError) {
    var doors: [(listener: Listener, port: UInt16)] = []
    for port in ports { doors.append((try Self.listener(.tcp(host: host, port: port.local)), port.device)) }
    var limits = limits
    limits.connections = min(limits.connections, Self.room(DescriptorLimit.current))
    let plan = Plan(
      udid: udid, mux: mux, targets: mux.targets(by: .after(limits.connecting)), limits: limits, doors: doors)
    let waker: Waker
    do throws(StreamError) { waker = try Waker() } catch { throw ForwardError(error) }
    let (started, failure) = (Latch(), Guarded<ForwardError?>(nil))
    worker = Worker(name: "forward") {
      // Moving bytes to a socket that has closed raises the signal, and the call has no flag against it.
      Self.blockPipeSignal()
      do throws(StreamError) {
        let loop = try ForwardLoop(plan, waker: waker, report: report)
        started.open()
        loop.run()
      } catch {
        let error = ForwardError(error)
        failure.with { $0 = error }
        started.open()
      }
    }
    _ = started.wait(until: .never)
    if let error = failure.with({ $0 }) { throw error }
    self.waker = waker
    addresses = doors.map(\.listener.address)
  }

  deinit { waker.wake() }

  /// Closes the ports and ends every connection.
  ///
  /// - Returns: false when the thread still ran at the deadline.
  @discardableResult
  public func stop(by deadline: Deadline) -> Bool {
    waker.wake()
    return worker.join(by: deadline)
  }

  /// How many connections so many descriptors serve at the worst: two sockets and two pipes each, and our own use.
  static func room(_ descriptors: Int) -> Int { max(1, (descriptors - 64) / 6) }

  private static func blockPipeSignal() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private static func listener(_ address: SocketAddress) throws(ForwardError) -> Listener {
    do {
      let listener = try Listener(address)
      if address.isLoopback { listener.forgoPacing() }
      return listener
    } catch .system(let code) {
      throw ForwardError(code, at: address)
    } catch {
      throw ForwardError(error)
    }
  }
}

extension Listener {
  /// Between two processes of one machine there is nothing to pace, and a pacing congestion control (BBR) halves the
  /// throughput with its timers. Connections inherit this.
  fileprivate func forgoPacing() {
    let name = "reno"
    _ = name.withCString { setsockopt(fd, Int32(IPPROTO_TCP), TCP_CONGESTION, $0, socklen_t(name.utf8.count)) }
  }
}
