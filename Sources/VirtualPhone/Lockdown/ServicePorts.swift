import Transport

/// The ephemeral ports that StartService gives out: one connection each, and valid for a while without one.
///
/// The libraries close lockdown before they connect to the service, so a port outlives its session.
final class ServicePorts: Sendable {
  private struct Open {
    let port: UInt16
    let until: Deadline
  }

  private struct State {
    var next = ServicePorts.range.lowerBound
    /// Oldest first.
    var open: [Open] = []
  }

  private static let range: ClosedRange<UInt16> = 49152...65535
  private static let validity = Duration.seconds(120)
  /// Ports waiting for their connection at one time.
  private static let limit = 512

  private let ports: DevicePorts
  private let state = Guarded(State())

  init(ports: DevicePorts) { self.ports = ports }

  /// - Parameter service: the name under which it was started.
  /// - Returns: nil when too many ports wait already.
  func open(for service: String, _ serve: @escaping @Sendable (Socket) -> Void) -> UInt16? {
    let (port, stale): (UInt16?, [UInt16]) = state.with { state in
      let stale = state.open.filter(\.until.hasPassed).map(\.port)
      state.open.removeAll { $0.until.hasPassed }
      guard state.open.count < Self.limit else { return (nil, stale) }
      var port = state.next
      while ports.server(port) != nil || state.open.contains(where: { $0.port == port }) { port = Self.after(port) }
      state.next = Self.after(port)
      state.open.append(Open(port: port, until: .after(Self.validity)))
      return (port, stale)
    }
    for port in stale { ports.close(port) }
    guard let port else { return nil }
    ports.listen(port, for: service) { [self] socket in
      guard take(port) else { return }
      serve(socket)
    }
    return port
  }

  /// A reboot: nothing listens any more.
  func closeAll() {
    let open = state.with {
      let open = $0.open.map(\.port)
      $0.open = []
      return open
    }
    for port in open { ports.close(port) }
  }

  /// - Returns: false when another connection was first.
  private func take(_ port: UInt16) -> Bool {
    let isFirst = state.with {
      let before = $0.open.count
      $0.open.removeAll { $0.port == port }
      return $0.open.count < before
    }
    if isFirst { ports.close(port) }
    return isFirst
  }

  private static func after(_ port: UInt16) -> UInt16 {
    port == range.upperBound ? range.lowerBound : port + 1
  }
}
