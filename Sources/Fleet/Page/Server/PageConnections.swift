import Glibc
import Transport

/// Until when each client may be where it is: a client that takes longer is cut off, however busily it trickles.
final class PageConnections: Sendable {
  private let deadlines = Guarded<[Int32: Deadline]>([:])

  struct Spans: Sendable {
    /// For a request's head and body, and for the silence between two requests.
    var request = Duration.seconds(10)
    /// For working out an answer and sending it.
    var answer = Duration.seconds(30)
    /// For a live page; its browser comes back by itself.
    var events = Duration.seconds(3_600)
  }
  private let spans: Spans

  init(_ spans: Spans) { self.spans = spans }

  var count: Int { deadlines.with { $0.count } }

  func set(_ fd: Int32, _ span: KeyPath<Spans, Duration>) {
    guard fd >= 0 else { return }
    let deadline = Deadline.after(spans[keyPath: span])
    deadlines.with { $0[fd] = deadline }
  }

  /// It is being closed: its number is about to be another's.
  func forget(_ fd: Int32) { deadlines.with { _ = $0.removeValue(forKey: fd) } }

  /// Ends those whose time is over.
  ///
  /// - Returns: whether there were any.
  func cutLate() -> Bool {
    deadlines.with { deadlines in
      let late = deadlines.filter { $0.value.hasPassed }
      // Under the lock: `forget` comes before the close.
      for fd in late.keys { shutdown(fd, Int32(SHUT_RDWR)) }
      return !late.isEmpty
    }
  }
}
