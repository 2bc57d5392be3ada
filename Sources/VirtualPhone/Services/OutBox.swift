import Transport

/// The sending side of one connection, shared by the thread that answers and those that push.
///
/// A writer thread lives only while something waits to be sent: an idle connection has its reader and no more.
final class OutBox: Sendable {
  /// Messages that may wait; a host that reads none of them loses its connection.
  static let limit = 4096

  private struct State {
    var waiting: [[UInt8]] = []
    var isWriting = false
    var isOver = false
    /// Opens when the writer has nothing left.
    var idle = Latch()
  }

  private let stream: any ByteStream
  private let state = Guarded(State())

  init(_ stream: any ByteStream) { self.stream = stream }

  /// Sends on a thread of its own; never blocks the caller.
  func push(_ bytes: [UInt8]) {
    if enqueue(bytes) { _ = Worker(name: "phone push") { self.drain() } }
  }

  /// Sends on the calling thread, behind what waits already.
  func send(_ bytes: [UInt8]) {
    if enqueue(bytes) { drain() }
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

  /// - Returns: whether the caller has to see to the sending.
  private func enqueue(_ bytes: [UInt8]) -> Bool {
    let (drains, isFull) = state.with { state -> (Bool, Bool) in
      if state.isOver { return (false, false) }
      if state.waiting.count >= Self.limit { return (false, true) }
      state.waiting.append(bytes)
      if state.isWriting { return (false, false) }
      state.isWriting = true
      state.idle = Latch()
      return (true, false)
    }
    if isFull { stream.shutdown() }
    return drains
  }

  private func drain() {
    while let next = next() {
      do {
        try stream.write(next, by: .after(.seconds(30)))
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
