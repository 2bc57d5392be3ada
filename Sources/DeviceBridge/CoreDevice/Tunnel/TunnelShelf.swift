import Transport

/// Keeps a phone's tunnel between calls, and ends it when nobody has needed it for a while.
///
/// Used on the lane's thread.
final class TunnelShelf {
  private let idle: Duration
  private var tunnel: PhoneTunnel?
  private var ticket: Keeper.Ticket?
  private var users = 0

  /// - Parameter idle: how long an unused tunnel stays open.
  init(idle: Duration) { self.idle = idle }

  deinit { drop() }

  /// The tunnel that is open; nil where there is none, or it has ended.
  func take() -> PhoneTunnel? {
    release()
    if tunnel?.isAlive == false { drop() }
    return tunnel
  }

  /// Whether there is none, or it has ended.
  var isEmpty: Bool { tunnel?.isAlive != true }

  func put(_ tunnel: PhoneTunnel) {
    drop()
    self.tunnel = tunnel
  }

  /// From now until as many times `leave`, the tunnel is not idle.
  func use() {
    release()
    users += 1
  }

  func leave() {
    users -= 1
    rest()
  }

  /// Whoever has taken it is done with it.
  func rest() {
    release()
    guard let tunnel, users == 0 else { return }
    ticket = Keeper.shared.watch(.after(idle)) { tunnel.stop() }
  }

  func drop() {
    release()
    tunnel?.stop()
    tunnel = nil
  }

  private func release() {
    if let ticket { Keeper.shared.release(ticket) }
    ticket = nil
  }
}
