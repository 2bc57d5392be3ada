import Glibc
import Transport
import Wire

/// A way to one port of a phone, for the mux's hosts and for the daemon itself.
struct MuxConnect {
  enum Outcome: Equatable {
    case open
    case refused
    /// Nobody is left who could be told.
    case hostGone
    /// The phone accepts and closes at once, and the answer is lost.
    case lost
  }

  /// How often a host that waits is looked after.
  private static let lookout = Duration.milliseconds(100)

  let phone: VirtualPhone
  let port: UInt16
  let server: DevicePorts.Server
  /// Opens when the phone leaves.
  let gone: Latch
  let bus: MuxBus
  private let cut: PortCut?

  /// - Returns: nil when nothing listens on the port.
  init?(_ port: UInt16, of phone: VirtualPhone, on bus: MuxBus, until gone: Latch) {
    guard let server = phone.ports.server(port) else { return nil }
    let service = phone.ports.service(port)
    self.phone = phone
    self.port = port
    self.server = server
    self.gone = gone
    self.bus = bus
    cut = phone.state.with { $0.takeCut(port, service: service) }
  }

  /// Waits for the phone to take the connection, as long as it pleases.
  func knock(for host: Socket) -> Outcome {
    if let delay = phone.state.with({ $0.takeConnectDelay(port) }) {
      let until = delay.time.map { phone.clock.deadline(after: $0) } ?? .never
      repeat {
        if gone.wait(until: min(until, .after(Self.lookout))) { return .refused }
        if host.hasHungUp { return .hostGone }
      } while !until.hasPassed
    }
    if let cut, cut.isImmediate, bus.losesShortConnect() { return .lost }
    return .open
  }

  /// Serves the connection to its end and closes it.
  ///
  /// - Parameter resetsOnHalfClose: with real manners, for all but the daemon itself.
  func serve(_ host: Socket, resetsOnHalfClose: Bool) {
    let isPluggedIn = { @Sendable [gone] in !gone.hasOpened }
    guard cut != nil || resetsOnHalfClose, let (near, far) = Self.pair() else {
      phone.ports.serve(host, with: server, while: isPluggedIn)
      return
    }
    let (ports, server, cut) = (phone.ports, server, cut)
    _ = Worker(name: "device") { ports.serve(far, with: server, while: isPluggedIn) }
    // The host's own socket is on the phone's list as well: a pulled cable ends both.
    ports.serve(
      host,
      with: { MuxCable(host: $0, phone: near, cut: cut, resetsOnHalfClose: resetsOnHalfClose).run() },
      while: isPluggedIn)
    near.close()
  }

  private static func pair() -> (Socket, Socket)? {
    do throws(StreamError) { return try Socket.pair() } catch { return nil }
  }
}

extension Socket {
  /// POLLRDHUP, which Swift's Glibc has not: the far end has finished sending, or is gone.
  static let hungUp: Int16 = 0x2000

  /// Whether the far end has finished; nothing is read.
  var hasHungUp: Bool {
    do throws(StreamError) {
      try wait(for: Self.hungUp, by: .after(.zero))
      return true
    } catch {
      return error != .timedOut
    }
  }
}

extension Latch {
  var hasOpened: Bool { wait(until: .after(.zero)) }
}
