import Transport

/// The record's thread and what waits for it.
final class RecordWriter: Sendable {
  /// A part of a transaction. It may be done again after a trouble, so what it does outside the database is nothing, or
  /// the same when repeated.
  typealias Work = @Sendable (Database) throws(RecordTrouble) -> Void

  struct Job: Sendable {
    var work: Work
    /// Called once: with nil when it is on the disk, with the trouble when it never will be.
    var ended: @Sendable (RecordTrouble?) -> Void
  }

  private struct State {
    var jobs: [Job] = []
    var wake: Latch?
    var isClosing = false
    /// The disk's last word while something waits for it.
    var trouble: RecordTrouble?
    /// The first trouble that something was given up for.
    var lost: RecordTrouble?
    var notices: [RecordNotice] = []
  }

  /// As many as are written in one transaction.
  private static let batch = 64
  private static let shortestPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)

  let opening: RecordOpening
  /// The database is closed and the thread at its end.
  let ended = OneShot<Bool>()
  private let state = Guarded(State())

  init(_ opening: RecordOpening) { self.opening = opening }

  var trouble: RecordTrouble? { state.with { $0.trouble } }
  var lost: RecordTrouble? { state.with { $0.lost } }

  func takeNotices() -> [RecordNotice] {
    state.with { state in
      defer { state.notices = [] }
      return state.notices
    }
  }

  func add(_ job: Job) {
    let wake: Latch? = state.with { state in
      state.jobs.append(job)
      return state.wake
    }
    wake?.open()
  }

  /// The thread ends once everything is written, or at the first trouble that is in the way.
  func endSoon() {
    let wake: Latch? = state.with { state in
      state.isClosing = true
      return state.wake
    }
    wake?.open()
  }

  /// Opens the database on the thread that will write to it.
  func begin(_ opened: @escaping @Sendable (Result<[RecordNotice], RecordTrouble>) -> Void) {
    _ = Worker(name: "record") { [self] in
      do throws(RecordTrouble) {
        let (database, notices) = try opening.forWriting()
        opened(.success(notices))
        serve(database)
      } catch {
        opened(.failure(error))
      }
      ended.give(true)
    }
  }

  // MARK: - On the record's thread

  private func serve(_ first: Database) {
    var database: Database? = first
    var pause = Self.shortestPause
    // After a trouble that one of several may be the cause of, they are written one by one.
    var singles = 0
    while true {
      let jobs = next(atMost: singles > 0 ? 1 : Self.batch)
      if jobs.isEmpty { return }
      do throws(RecordTrouble) {
        let open: Database
        if let database { open = database } else { open = try reopened() }
        database = open
        try open.transaction { () throws(RecordTrouble) in for job in jobs { try job.work(open) } }
        done(jobs, nil)
        pause = Self.shortestPause
        singles = max(0, singles - jobs.count)
      } catch {
        if case .corrupt = error { database = nil }
        if error.mayPass || database == nil {
          guard wait(pause, because: error) else { return done(jobs, error) }
          pause = min(pause * 2, Self.longestPause)
        } else if jobs.count > 1 {
          singles = jobs.count
        } else {
          done(jobs, error)
          singles = max(0, singles - 1)
        }
      }
    }
  }

  private func reopened() throws(RecordTrouble) -> Database {
    let (database, notices) = try opening.forWriting()
    state.with { $0.notices += notices }
    return database
  }

  /// Waits for something to do.
  ///
  /// - Returns: nothing when the record is closed and everything is written.
  private func next(atMost count: Int) -> [Job] {
    while true {
      let latch = Latch()
      let jobs: [Job]? = state.with { state in
        if !state.jobs.isEmpty { return Array(state.jobs.prefix(count)) }
        if state.isClosing { return [] }
        state.wake = latch
        return nil
      }
      if let jobs { return jobs }
      _ = latch.wait(until: .never)
    }
  }

  private func done(_ jobs: [Job], _ trouble: RecordTrouble?) {
    state.with { state in
      state.jobs.removeFirst(min(jobs.count, state.jobs.count))
      state.trouble = nil
      if let trouble, state.lost == nil { state.lost = trouble }
    }
    for job in jobs { job.ended(trouble) }
  }

  /// - Returns: false when the record is being closed: then it is not tried again.
  private func wait(_ pause: Duration, because trouble: RecordTrouble) -> Bool {
    let end = Deadline.after(pause)
    while true {
      let latch = Latch()
      let isClosing = state.with { state in
        state.trouble = trouble
        state.wake = latch
        return state.isClosing
      }
      if isClosing { return false }
      // New work wakes it too, and is no reason to hurry.
      if !latch.wait(until: end) { return true }
    }
  }
}
