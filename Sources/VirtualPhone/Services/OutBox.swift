import Transport

/// The sending side of one connection, shared by the thread that answers and those that push.
///
/// A writer thread lives only while something waits to be sent: an idle connection has its reader and no more.
final class OutBox: Sendable {
  /// Messages that may wait.
  static let limit = 4096

  private struct State {
    var waiting: [[UInt8]] = []
    var isWriting = false
    var isOver = false
    /// Opens when the writer has nothing left.
    var idle = Latch()
  }

  /// What became of a message.
  private enum Place { case starts, waits, noRoom, over }

  private let stream: any ByteStream
  private let limit: Int
  private let patience: Duration?
  private let state = Guarded(State())

  /// - Parameters:
  ///   - limit: messages that may wait.
  ///   - patience: for a host that reads nothing; nil waits until the end.
  init(_ stream: any ByteStream, limit: Int = OutBox.limit, patience: Duration? = .seconds(30)) {
    self.stream = stream
    self.limit = limit
    self.patience = patience
  }

  /// Sends on a thread of its own; never blocks the caller. A host that lets too much wait loses its connection.
  func push(_ bytes: [UInt8]) {
    switch enqueue(bytes) {
    case .starts: startWriter()
    case .noRoom: stream.shutdown()
    case .waits, .over: break
    }
  }

  /// As `push`, but where there is no room the message is dropped and nothing else happens.
  ///
  /// - Returns: false when it was dropped.
  func offer(_ bytes: [UInt8]) -> Bool {
    switch enqueue(bytes) {
    case .starts: startWriter()
    case .waits, .over: break
    case .noRoom: return false
    }
    return true
  }

  /// Sends on the calling thread, behind what waits already.
  func send(_ bytes: [UInt8]) {
    switch enqueue(bytes) {
    case .starts: drain()
    case .noRoom: stream.shutdown()
    case .waits, .over: break
    }
  }

  /// Takes nothing more and lets a writer under way finish; the stream may be closed afterwards.
  func end() {
    let idle = state.with { state -> Latch? in
      state.isOver = true
      return state.isWriting ? state.idle : nil
    }
    guard let idle else { return }
    // A host that reads nothing would hold the writer for long.
    if !idle.wait(until: .after(.seconds(1))) {
      stream.shutdown()
      _ = idle.wait(until: .never)
    }
  }

  /// - Returns: `starts` when the caller has to see to the sending.
  private func enqueue(_ bytes: [UInt8]) -> Place {
    state.with { state in
      if state.isOver { return .over }
      if state.waiting.count >= limit { return .noRoom }
      state.waiting.append(bytes)
      if state.isWriting { return .waits }
      state.isWriting = true
      state.idle = Latch()
      return .starts
    }
  }

  private func startWriter() { _ = Worker(name: "phone push") { self.drain() } }

  private func drain() {
    while let next = next() {
      do {
        try stream.write(next, by: patience.map(Deadline.after) ?? .never)
      } catch {
        stream.shutdown()
        state.with {
          $0.isOver = true
          $0.waiting = []
        }
      }
    }
  }

  private func next() -> [UInt8]? {
    state.with { state in
      if state.waiting.isEmpty {
        state.isWriting = false
        state.idle.open()
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}
