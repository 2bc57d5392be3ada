import Transport

/// Things that are due at a moment of phone time.
///
/// One thread serves all of them and lives only while something is due: an idle phone costs none.
final class PhoneTimers: Sendable {
  struct Ticket: Hashable, Sendable { fileprivate let number: Int }

  fileprivate struct Due: Sendable {
    let moment: Duration
    let ticket: Ticket
    let body: @Sendable () -> Void
  }

  fileprivate struct Timetable {
    var dues: [Due] = []
    var last = 0
    var threadRuns = false
    var isStopped = false
    /// Opened when the thread has to look again.
    var news = Latch()
  }

  private let clock: any PhoneClock
  private let timetable = Guarded(Timetable())

  init(clock: any PhoneClock) { self.clock = clock }

  deinit { stop() }

  /// Whether the thread lives.
  var isAtWork: Bool { timetable.with { $0.threadRuns } }

  /// - Parameter body: runs once, on the timers' thread, and must return soon.
  @discardableResult
  func schedule(at moment: Duration, _ body: @escaping @Sendable () -> Void) -> Ticket {
    let (ticket, needsThread) = timetable.with { table -> (Ticket, Bool) in
      table.last += 1
      let ticket = Ticket(number: table.last)
      if table.isStopped { return (ticket, false) }
      let place = table.dues.firstIndex { $0.moment > moment } ?? table.dues.endIndex
      table.dues.insert(Due(moment: moment, ticket: ticket, body: body), at: place)
      if place == table.dues.startIndex { table.lookAgain() }
      defer { table.threadRuns = true }
      return (ticket, !table.threadRuns)
    }
    if needsThread { startThread() }
    return ticket
  }

  /// Afterwards the body is not begun any more; one under way on the timers' thread ends by itself.
  func cancel(_ ticket: Ticket?) {
    guard let ticket else { return }
    timetable.with { table in
      table.dues.removeAll { $0.ticket == ticket }
      if table.dues.isEmpty { table.lookAgain() }
    }
  }

  /// Drops everything that is due and ends the thread.
  func stop() {
    timetable.with { table in
      table.isStopped = true
      table.dues = []
      table.lookAgain()
    }
  }

  private func startThread() {
    // The thread holds the timetable, not the timers: their last owner's end stops it.
    let clock = clock
    let timetable = timetable
    _ = Worker(name: "phone timers") {
      while let next = timetable.with({ $0.next() }) {
        guard clock.wait(until: next.moment, unless: next.news) else { continue }
        for due in timetable.with({ $0.take(upTo: clock.now) }) { due.body() }
      }
    }
  }
}

extension PhoneTimers.Timetable {
  fileprivate mutating func lookAgain() {
    news.open()
    news = Latch()
  }

  /// - Returns: nil when nothing is due any more: the thread ends.
  fileprivate mutating func next() -> (moment: Duration, news: Latch)? {
    guard let first = dues.first else {
      threadRuns = false
      return nil
    }
    return (first.moment, news)
  }

  fileprivate mutating func take(upTo now: Duration) -> [PhoneTimers.Due] {
    let ready = dues.prefix { $0.moment <= now }
    dues.removeFirst(ready.count)
    return Array(ready)
  }
}
