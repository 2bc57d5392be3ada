import Glibc
import Transport

/// Until when each client may be where it is: a client that takes longer is cut off, however busily it trickles.
final class PageConnections: Sendable {
  private let deadlines = Guarded<[Int32: Deadline]>([:])

  /// For a request's head and body, and for the silence between two requests.
  static let forRequest = Duration.seconds(10)
  /// For working out an answer and sending it.
  static let forAnswer = Duration.seconds(30)
  /// For a live page; its browser comes back by itself.
  static let forEvents = Duration.seconds(3_600)

  var count: Int { deadlines.with { $0.count } }

  func set(_ fd: Int32, _ span: Duration) {
    guard fd >= 0 else { return }
    let deadline = Deadline.after(span)
    deadlines.with { $0[fd] = deadline }
  }

  /// It is being closed: its number is about to be another's.
  func forget(_ fd: Int32) { deadlines.with { _ = $0.removeValue(forKey: fd) } }

  /// The first deadline; nil where nobody is connected.
  var next: Deadline? { deadlines.with { $0.values.min() } }

  /// Ends those whose time is over.
  func cutLate() { cut { $0.hasPassed } }

  /// Ends all, as if their time were over.
  func cutAll() { cut { _ in true } }

  private func cut(_ isOver: (Deadline) -> Bool) {
    deadlines.with { deadlines in
      // Under the lock: `forget` comes before the close.
      for (fd, deadline) in deadlines where isOver(deadline) { shutdown(fd, Int32(SHUT_RDWR)) }
    }
  }
}
