import Transport

/// A connection to the daemon that is kept ready, so that the next client does not wait for one to be made.
///
/// Nothing is sent on it until it is used; the daemon may end it at any time.
final class SpareLine {
  private let poller: Poller
  private let targets: [SocketAddress]
  private var line: End?
  /// A daemon that has ended one is left alone until somebody asks for one, or the two would go round and round.
  private var isWanted = true

  init(to targets: [SocketAddress], poller: Poller) {
    self.targets = targets
    self.poller = poller
  }

  /// Makes one, where there is none and the daemon takes it at once.
  func prepare() {
    // Only a UNIX socket is connected without waiting.
    guard isWanted, line == nil, case .unix? = targets.first else { return }
    line = try? End(connectingTo: targets[0], poller) { [weak self] readiness in
      // Whatever comes unasked is the end.
      if readiness.canRead { self?.drop() }
    }
  }

  /// Gives it away, if there is one.
  func take() -> End? {
    isWanted = true
    defer { line = nil }
    return line
  }

  /// Ends it; no other one is made before somebody asks.
  func drop() {
    isWanted = false
    line?.close(poller)
    line = nil
  }
}
