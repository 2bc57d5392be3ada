import Transport

/// Packets on their way to the host, between the stack, which waits for nobody, and the connection.
final class PacketQueue: Sendable {
  /// Bytes that may wait; what does not fit stays with the stack.
  private static let limit = 256 << 10

  private struct State {
    var packets: [[UInt8]] = []
    var bytes = 0
    /// The stack has more.
    var hasRefused = false
    var isOver = false
  }

  struct Batch: Sendable {
    let packets: [[UInt8]]
    /// The stack is to be asked for what it could not get rid of.
    let hasRefused: Bool
  }

  private let state = Awaited(State())

  /// - Returns: false when there is no room now.
  func offer(_ packet: UnsafeRawBufferPointer) -> Bool {
    let packet = Array(packet)
    return state.with { state in
      if state.isOver { return true }
      guard state.bytes + packet.count <= Self.limit else {
        state.hasRefused = true
        return false
      }
      state.packets.append(packet)
      state.bytes += packet.count
      return true
    }
  }

  /// All that waits; blocks until there is something.
  ///
  /// - Returns: nil at the end.
  func next() -> Batch? {
    let batch: Batch?? = state.wait(by: .never) { state -> Batch?? in
      if state.isOver { return .some(nil) }
      guard !state.packets.isEmpty else { return nil }
      defer {
        state.packets = []
        state.bytes = 0
        state.hasRefused = false
      }
      return Batch(packets: state.packets, hasRefused: state.hasRefused)
    }
    return batch ?? nil
  }

  /// What waits is dropped, and so is all that comes.
  func end() {
    state.with {
      $0.isOver = true
      $0.packets = []
    }
  }
}
