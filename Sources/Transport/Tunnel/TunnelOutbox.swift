/// Packets on their way out of an interface, until its thread writes them.
final class TunnelOutbox: Sendable {
  /// Bytes that wait at most; the window of eight connections. Beyond them the interface keeps what it has.
  static let limit = 512 << 10

  private struct State {
    var packets: [[UInt8]] = []
    var bytes = 0
    var wasRefused = false
    /// The thread is, or is about to be, in its wait: it must be woken.
    var isAsleep = false
    var closing: Deadline?
    var isOver = false
  }

  let waker: Waker
  private let state = Guarded(State())

  init(waker: Waker) { self.waker = waker }

  /// Called under the stack's lock.
  ///
  /// - Returns: false when it is full.
  func put(_ packet: UnsafeRawBufferPointer) -> Bool {
    state.with { state in
      if state.isOver { return true }
      guard state.bytes < Self.limit else {
        state.wasRefused = true
        return false
      }
      state.packets.append(Array(packet))
      state.bytes += packet.count
      wake(&state)
      return true
    }
  }

  /// When the tunnel is to end at the latest; nil while nobody closed it.
  var closing: Deadline? { state.with { $0.closing } }

  func close(by deadline: Deadline) {
    state.with { $0.closing = min($0.closing ?? .never, deadline) }
    waker.wake()
  }

  private func wake(_ state: inout State) {
    guard state.isAsleep else { return }
    state.isAsleep = false
    waker.wake()
  }

  // MARK: - For the thread

  struct Batch: Sendable {
    var packets: [[UInt8]]
    /// Whether room was asked for that is there now.
    var wasRefused: Bool
  }

  /// Everything that waits.
  ///
  /// - Parameter isIdle: the thread has nothing else to do; it is woken by the next packet, if none is here.
  func take(isIdle: Bool) -> Batch {
    state.with { state in
      let batch = Batch(packets: state.packets, wasRefused: state.wasRefused)
      state.isAsleep = isIdle && batch.packets.isEmpty && !batch.wasRefused
      state.packets = []
      state.bytes = 0
      state.wasRefused = false
      return batch
    }
  }

  /// From now on packets are thrown away.
  func end() {
    state.with {
      $0.isOver = true
      $0.packets = []
    }
  }
}
