import Transport

/// The listening side of a virtual socket: each connection is served on a thread of its own.
///
/// Serves the mux and the control socket alike.
final class SocketServer: Sendable {
  /// Far above what any host opens, far below what threads would cost.
  static let connectionLimit = 4096
  private static let stackBytes = 512 << 10

  private struct Connections {
    var open: [ObjectIdentifier: Socket] = [:]
    var isEnding = false
    /// Opened when the server takes connections again; nil while it does.
    var paused: Latch?
  }

  let address: SocketAddress
  private let listener: Listener
  private let connections = Guarded(Connections())
  private let allGone = Latch()
  private let crew: Crew

  /// - Parameters:
  ///   - name: of the threads.
  ///   - serve: serves one connection to its end on its own thread; returning closes it.
  init(
    _ name: String, on listener: Listener, serve: @escaping @Sendable (Socket) -> Void
  ) {
    crew = Crew(name: name, stackBytes: Self.stackBytes)
    self.listener = listener
    address = listener.address
    crew.run { [self] in acceptOne(serve) }
  }

  /// Whoever has accepted a connection serves it, and leaves accepting to the next thread: a host's first request waits
  /// for no change of threads.
  private func acceptOne(_ serve: @escaping @Sendable (Socket) -> Void) {
    while let socket = listener.accept() {
      // One that came in just before a pause waits like those behind it.
      if let paused = connections.with({ $0.paused }) { _ = paused.wait(until: .never) }
      let isTaken = connections.with {
        guard !$0.isEnding, $0.open.count < Self.connectionLimit else { return false }
        $0.open[ObjectIdentifier(socket)] = socket
        return true
      }
      guard isTaken else {
        socket.close()
        continue
      }
      crew.run { [self] in acceptOne(serve) }
      serve(socket)
      socket.close()
      return forget(socket)
    }
    connections.with { $0.isEnding = true }
    crew.dismiss()
    openIfGone()
  }

  private func forget(_ socket: Socket) {
    connections.with { $0.open[ObjectIdentifier(socket)] = nil }
    openIfGone()
  }

  private func openIfGone() {
    if connections.with({ $0.isEnding && $0.open.isEmpty }) { allGone.open() }
  }

  /// Leaves those who connect to wait in the listener's queue, as a process that was stopped does.
  func pause() {
    connections.with { if $0.paused == nil, !$0.isEnding { $0.paused = Latch() } }
  }

  func resume() {
    let paused = connections.with {
      let paused = $0.paused
      $0.paused = nil
      return paused
    }
    paused?.open()
  }

  func setBacklog(_ backlog: Int32) { listener.setBacklog(backlog) }

  /// Removes the socket's file that a stop left behind.
  func removeFile() { listener.removeFile() }

  /// Takes no more connections, ends those there are, removes the socket file, and waits for the threads.
  ///
  /// - Parameter leavesFile: a UNIX socket's file stays, as after a daemon that was killed.
  /// - Returns: false when a thread still ran at the deadline.
  @discardableResult
  func stop(by deadline: Deadline, leavesFile: Bool = false) -> Bool {
    let open = connections.with {
      $0.isEnding = true
      return Array($0.open.values)
    }
    resume()
    if leavesFile { listener.abandon() } else { listener.close() }
    for socket in open { socket.shutdown() }
    openIfGone()
    return allGone.wait(until: deadline)
  }
}
