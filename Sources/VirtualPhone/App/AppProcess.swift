import Transport

/// One running program on the phone.
final class AppProcess: Sendable {
  /// Why it does not run although it lives; it runs again when the last reason has gone.
  enum Stop: Hashable, Sendable {
    /// iOS has suspended it in the background, or holds it behind the lock screen.
    case system
    /// A debugger has stopped it.
    case debugger
    /// The tester has.
    case tester
    /// The host has, with SIGSTOP or by starting it so.
    case host
  }

  enum End: Equatable, Sendable {
    case exited(code: UInt8)
    case signal(UInt8)

    /// For the log.
    var text: String {
      switch self {
      case .exited(let code): "exit status \(code)"
      case .signal(let number): "signal \(number)"
      }
    }
  }

  let pid: Int
  let bundle: String
  let executable: String
  /// The executable's path on the phone.
  let path: String
  let arguments: [String]
  let environment: [String: String]
  let started = WallTime.now()
  /// Opens when it has ended.
  let ended = Latch()

  fileprivate struct Life {
    var stops: Set<Stop> = []
    var wasStopped = false
    var end: End?
    var sleepers: [ObjectIdentifier: WakeUp] = [:]
    var connections: [ObjectIdentifier: Socket] = [:]
    var mourners: [@Sendable (End) -> Void] = []
  }

  fileprivate let life: Guarded<Life>

  init(
    pid: Int, of app: InstalledApp, arguments: [String] = [], environment: [String: String] = [:],
    stopped stops: Set<Stop> = []
  ) {
    self.pid = pid
    bundle = app.bundle
    executable = app.executable
    path = app.executablePath
    self.arguments = arguments
    self.environment = environment
    life = Guarded(Life(stops: stops))
  }

  var end: End? { life.with { $0.end } }
  var isStopped: Bool { life.with { !$0.stops.isEmpty } }

  /// Whether somebody has ever stopped it, other than iOS and before it began.
  var wasStopped: Bool { life.with { $0.wasStopped } }

  func stop(_ reason: Stop) {
    life.with { life in
      life.stops.insert(reason)
      if reason != .system { life.wasStopped = true }
    }
  }

  func go(on reasons: Set<Stop>) {
    life.with {
      $0.stops.subtract(reasons)
      if $0.stops.isEmpty { $0.wakeSleepers() }
    }
  }

  /// Ends it, with its connections; a second end changes nothing.
  func end(_ how: End) {
    let mourners = life.with { life -> [@Sendable (End) -> Void] in
      guard life.end == nil else { return [] }
      life.end = how
      life.wakeSleepers()
      for socket in life.connections.values { socket.shutdown() }
      defer { life.mourners = [] }
      return life.mourners
    }
    ended.open()
    for mourner in mourners { mourner(how) }
  }

  /// - Parameter body: called once with its end, at once where that has been; it must return soon.
  func whenEnded(_ body: @escaping @Sendable (End) -> Void) {
    let past = life.with { life -> End? in
      if life.end == nil { life.mourners.append(body) }
      return life.end
    }
    if let past { body(past) }
  }

  // MARK: Connections

  /// Lends it a connection, which ends when the process does.
  ///
  /// - Returns: false when it has ended already.
  func adopt(_ socket: Socket) -> Bool {
    life.with {
      if $0.end == nil { $0.connections[ObjectIdentifier(socket)] = socket }
      return $0.end == nil
    }
  }

  func release(_ socket: Socket) { life.with { $0.connections[ObjectIdentifier(socket)] = nil } }

  func endConnections() {
    life.with { for socket in $0.connections.values { socket.shutdown() } }
  }

  /// Waits while the process is stopped: the kernel has accepted the connection, nobody reads it.
  ///
  /// - Returns: false when the process has ended or the far end has gone meanwhile.
  func awaitRunning(with socket: Socket) -> Bool {
    while isStopped, end == nil {
      guard let wakeUp = try? WakeUp() else { return false }
      let id = ObjectIdentifier(wakeUp)
      life.with {
        $0.sleepers[id] = wakeUp
        // It may have gone on since it was asked.
        if $0.stops.isEmpty || $0.end != nil { wakeUp.raise() }
      }
      defer { life.with { $0.sleepers[id] = nil } }
      if wakeUp.wait(watching: socket) == .peerGone { return false }
    }
    return end == nil
  }
}

extension AppProcess.Life {
  fileprivate func wakeSleepers() {
    for sleeper in sleepers.values { sleeper.raise() }
  }
}
