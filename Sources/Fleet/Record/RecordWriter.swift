import Transport

/// The record's thread and what waits for it.
final class RecordWriter: Sendable {
  /// A part of a transaction. It may be done again after a trouble, so what it does outside the database is nothing, or
  /// the same when repeated.
  typealias Work = @Sendable (Database) throws(RecordTrouble) -> Void

  struct Job: Sendable {
    /// A look takes no lock and changes nothing.
    enum Kind: Sendable { case write, look }
    var kind = Kind.write
    /// Somebody is told how it ends.
    var isAwaited = true
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
    /// The file is another one than before, and nobody who waits for it has been told.
    var isAnew = false
    /// When the write-ahead file is to be cut back; nil while it is small.
    var tidyAt: Deadline?
  }

  /// As many as are written in one transaction.
  private static let batch = 64
  private static let shortestPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)
  /// More than ever wait where the disk works.
  private static let crowd = 256
  /// From one attempt to cut the write-ahead file back to the next.
  private static let tidyPause = Duration.seconds(1)

  let opening: RecordOpening
  /// The database is closed and the thread at its end.
  let ended = OneShot<Bool>()
  private let state = Guarded(State())

  init(_ opening: RecordOpening) { self.opening = opening }

  var trouble: RecordTrouble? { state.with { $0.trouble } }
  var lost: RecordTrouble? { state.with { $0.lost } }

  var isAnew: Bool { state.with { $0.isAnew } }
  func acceptAnew() { state.with { $0.isAnew = false } }
  /// The disk stands still, and so much waits for it that looks need not.
  var isCrowded: Bool { state.with { $0.jobs.count >= Self.crowd } }

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
    var damaged: Database?
    var wal = RecordFile.identity(opening.path + "-wal")
    var pause = Self.shortestPause
    // After a trouble that one of several may be the cause of, they are written one by one.
    var singles = 0
    while true {
      let jobs: [Job]
      switch next(atMost: singles > 0 ? 1 : Self.batch) {
      case .jobs(let some): jobs = some
      case .tidy:
        if let database { tidy(database) }
        continue
      case .end:
        database?.close()
        return
      }
      do throws(RecordTrouble) {
        if let old = database, old.hasMoved {
          old.close()
          database = nil
          RecordFile.leave(opening.path, wal: wal)
          state.with { $0.notices.append(.moved(path: opening.path)) }
        }
        let open: Database
        if let database {
          open = database
        } else {
          open = try reopened()
          // Not before it is set aside: SQLite would write to it once more.
          damaged?.close()
          damaged = nil
          wal = RecordFile.identity(opening.path + "-wal")
        }
        database = open
        try work(jobs, open)
        done(jobs, nil)
        tidy(open)
        pause = Self.shortestPause
        singles = max(0, singles - jobs.count)
      } catch {
        if case .corrupt = error {
          damaged = database ?? damaged
          database = nil
        }
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

  private func work(_ jobs: [Job], _ database: Database) throws(RecordTrouble) {
    guard jobs.first?.kind == .write else {
      for job in jobs { try job.work(database) }
      return
    }
    try database.transaction { () throws(RecordTrouble) in for job in jobs { try job.work(database) } }
  }

  private func reopened() throws(RecordTrouble) -> Database {
    let (database, notices) = try opening.forWriting()
    state.with {
      $0.notices += notices
      $0.isAnew = true
    }
    return database
  }

  /// A reader keeps the write-ahead file from being begun anew; once it is gone, the file is cut back, also where
  /// nothing more is written.
  private func tidy(_ database: Database) {
    guard let size = RecordFile.size(opening.path + "-wal"), size > RecordOpening.walBytes else {
      state.with { $0.tidyAt = nil }
      return
    }
    if let at = state.with({ $0.tidyAt }), !at.hasPassed { return }
    let patience = database.patience
    database.wait(for: .zero)
    // Whoever still reads is not waited for.
    _ = try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    database.wait(for: patience)
    state.with { $0.tidyAt = .after(Self.tidyPause) }
  }

  private enum Next {
    case jobs([Job])
    case tidy
    /// The record is closed, and everything is written.
    case end
  }

  /// Waits for something to do.
  private func next(atMost count: Int) -> Next {
    while true {
      let latch = Latch()
      let (next, tidyAt): (Next?, Deadline?) = state.with { state in
        if let first = state.jobs.first {
          let some = first.kind == .look ? [first] : Array(state.jobs.prefix(count).prefix { $0.kind == .write })
          return (.jobs(some), nil)
        }
        if state.isClosing { return (.end, nil) }
        state.wake = latch
        return (nil, state.tidyAt)
      }
      if let next { return next }
      if !latch.wait(until: tidyAt ?? .never) { return .tidy }
    }
  }

  private func done(_ jobs: [Job], _ trouble: RecordTrouble?) {
    state.with { state in
      state.jobs.removeFirst(min(jobs.count, state.jobs.count))
      state.trouble = nil
      if let trouble, state.lost == nil, jobs.contains(where: { !$0.isAwaited }) { state.lost = trouble }
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
