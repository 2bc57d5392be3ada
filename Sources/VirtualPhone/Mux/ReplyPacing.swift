import Transport

/// How the mux's replies leave it: in one piece, or as a slow or badly buffered daemon sends them.
final class ReplyPacing: Sendable {
  struct Pieces: Equatable, Sendable {
    var bytes: Int
    var pause: Duration
    /// So many first bytes go one by one.
    var single: Int
  }

  private let pieces = Guarded(Pieces?.none)
  private let ended = Latch()

  /// - Parameter pieces: nil for whole replies.
  func set(_ pieces: Pieces?) { self.pieces.with { $0 = pieces } }

  /// Ends every pause.
  func end() { ended.open() }

  func write(_ bytes: [UInt8], to socket: Socket, by deadline: Deadline) throws(StreamError) {
    guard let pieces = pieces.with({ $0 }) else {
      try socket.write(bytes, by: deadline)
      return
    }
    var rest = bytes[...]
    var sent = 0
    while !rest.isEmpty {
      let count = sent < pieces.single ? 1 : max(1, pieces.bytes)
      // The pauses belong to the fault; each piece has the caller's patience anew.
      try socket.write(Array(rest.prefix(count)), by: max(deadline, .after(.seconds(1))))
      rest = rest.dropFirst(count)
      sent += count
      if !rest.isEmpty, ended.wait(until: .after(pieces.pause)) { throw .closed }
    }
  }
}
