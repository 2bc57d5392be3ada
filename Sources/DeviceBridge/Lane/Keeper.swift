import Transport

/// Ends what has not ended by itself: at each deadline that is still watched, its action runs.
///
/// One thread for the whole process, there only while something is watched and for a moment after.
final class Keeper: Sendable {
  static let shared = Keeper()

  /// Stands for one watched deadline.
  struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Entry {
    let deadline: Deadline
    let action: @Sendable () -> Void
  }
  private struct State {
    var entries: [Ticket: Entry] = [:]
    var next: UInt64 = 0
    var running = false
    var alarm = Latch()
  }
  private let state = Guarded(State())
  /// The thread waits so long for new work before it ends.
  private let linger = Duration.milliseconds(500)

  /// - Parameter action: runs on the keeper's thread; it must not block.
  func watch(_ deadline: Deadline, _ action: @escaping @Sendable () -> Void) -> Ticket {
    let (ticket, start) = state.with { state in
      let ticket = Ticket(number: state.next)
      state.next += 1
      state.entries[ticket] = Entry(deadline: deadline, action: action)
      let start = !state.running
      state.running = true
      state.alarm.open()
      return (ticket, start)
    }
    if start { _ = Worker(name: "keeper") { [self] in run() } }
    return ticket
  }

  /// The action may still run if its moment has just come.
  func release(_ ticket: Ticket) { state.with { _ = $0.entries.removeValue(forKey: ticket) } }

  private func run() {
    while let (due, alarm, next) = round() {
      for action in due { action() }
      if due.isEmpty { _ = alarm.wait(until: next) }
    }
  }

  /// What is due, and what to wait for when nothing is; nil once there is nothing to keep.
  private func round() -> ([@Sendable () -> Void], Latch, Deadline)? {
    let idleUntil = Deadline.after(linger)
    var idle = false
    while true {
      let outcome: ([@Sendable () -> Void], Latch, Deadline)? = state.with { state in
        let due = state.entries.filter { $0.value.deadline.hasPassed }
        for ticket in due.keys { state.entries[ticket] = nil }
        state.alarm = Latch()
        let next = state.entries.values.map(\.deadline).min()
        if due.isEmpty, next == nil, idle {
          state.running = false
          return nil
        }
        return (due.values.map(\.action), state.alarm, next ?? idleUntil)
      }
      guard let outcome else { return nil }
      if !outcome.0.isEmpty || outcome.2 != idleUntil { return outcome }
      idle = !outcome.1.wait(until: idleUntil)
    }
  }
}
