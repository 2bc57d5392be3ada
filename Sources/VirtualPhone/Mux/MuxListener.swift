import Transport
import Wire

/// A connection that has said Listen: events go out to it in the order in which they happened.
///
/// Whoever causes an event puts it in the queue under the bus's lock and sends it afterwards; one thread sends at a time.
final class MuxListener: Sendable {
  /// A host that is so far behind has stopped reading.
  static let queueLimit = 4096
  private static let patience = Duration.seconds(1)

  private struct Queue {
    var messages: [[UInt8]] = []
    var isSending = false
    var isOver = false
  }

  let request: Plist
  private let socket: Socket
  private let pacing: ReplyPacing
  private let queue = Guarded(Queue())

  /// - Parameter request: the Listen itself: it names the program, for ListListeners.
  init(_ socket: Socket, request: Plist, pacing: ReplyPacing) {
    self.socket = socket
    self.request = request
    self.pacing = pacing
  }

  /// Puts one message in the queue; `flush` sends it.
  func enqueue(_ plist: Plist, tag: UInt32 = 0) {
    let bytes = MuxFrame(plist, tag: tag).bytes
    queue.with {
      if $0.messages.count >= Self.queueLimit { $0.isOver = true }
      if !$0.isOver { $0.messages.append(bytes) }
    }
  }

  /// Sends what waits, unless another thread is at it and will.
  func flush() {
    while let message = next() {
      do throws(StreamError) {
        try pacing.write(message, to: socket, by: .after(Self.patience))
        queue.with { $0.isSending = false }
      } catch {
        queue.with {
          $0.isOver = true
          $0.isSending = false
        }
      }
    }
    if queue.with({ $0.isOver }) { socket.shutdown() }
  }

  /// Ends the connection.
  func end() {
    queue.with { $0.isOver = true }
    socket.shutdown()
  }

  private func next() -> [UInt8]? {
    queue.with {
      guard !$0.isSending, !$0.isOver, !$0.messages.isEmpty else { return nil }
      $0.isSending = true
      return $0.messages.removeFirst()
    }
  }
}
