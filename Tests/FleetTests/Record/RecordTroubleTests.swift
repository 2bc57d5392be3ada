import CSQLite
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a record in trouble` {
  private static let limit = Duration.seconds(20)

  private func opened(_ test: TestRecord) async throws -> Record {
    let opening = RecordOpening(path: test.path, patience: .milliseconds(20))
    let record = try await Record.open(opening, within: Self.limit).record
    _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)
    return record
  }

  private func trouble(_ body: () async throws -> Void) async -> RecordTrouble? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RecordTrouble
    }
  }

  /// A write that finds the disk full until there is room.
  private func big(_ isFull: Guarded<Bool>) -> RecordWriter.Work {
    { database throws(RecordTrouble) in
      let pages = try database.number("PRAGMA page_count") ?? 0
      try database.run("PRAGMA max_page_count = \(isFull.with { $0 } ? pages : 1_000_000)")
      try database.run(
        "INSERT INTO run_meta (run, name, value) VALUES (1, 'big', ?)", [.text(String(repeating: "x", count: 1 << 20))])
    }
  }

  @Test func `writes what a full disk did not take once there is room, in order`() async throws {
    let test = try TestRecord()
    let record = try await opened(test)
    let isFull = Guarded(true)

    record.enqueue(big(isFull))
    record.add(TestRecord.verdict(1, .passed))
    let full = await trouble { try await record.settle(within: .milliseconds(600)) }
    let kept = try await test.reader.verdicts(of: 1)
    isFull.with { $0 = false }
    try await record.settle(within: Self.limit)

    #expect(full == .full(path: test.path))
    #expect(full?.sentence.contains("disk is full") == true)
    #expect(kept.isEmpty)
    #expect(try await test.reader.verdicts(of: 1).count == 1)
    #expect(try await test.reader.run(1)?.meta["big"]?.count == 1 << 20)
  }

  @Test func `says that it is locked, and writes when the lock is gone`() async throws {
    let test = try TestRecord()
    let record = try await opened(test)
    let other = try Database(test.path, .writing, patience: .seconds(5))
    try other.run("BEGIN IMMEDIATE")

    record.add(TestRecord.verdict(1, .passed))
    let locked = await trouble { try await record.settle(within: .milliseconds(600)) }
    let seen = try await test.reader.verdicts(of: 1)
    try other.run("COMMIT")
    try await record.settle(within: Self.limit)

    #expect(locked == .locked(path: test.path, limit: .milliseconds(20)))
    #expect(seen.isEmpty)
    #expect(try await test.reader.verdicts(of: 1).count == 1)
  }

  @Test func `lets nobody wait longer than said for a disk that stands still`() async throws {
    let test = try TestRecord()
    let record = try await opened(test)
    let disk = Latch()
    defer { disk.open() }

    record.enqueue { _ in _ = disk.wait(until: .after(Self.limit)) }
    let slow = await trouble { try await record.settle(within: .milliseconds(100)) }
    disk.open()
    try await record.settle(within: Self.limit)

    #expect(slow == .slow(path: test.path, limit: .milliseconds(100)))
  }

  @Test func `drops the one write that cannot be, keeps the others, and says so`() async throws {
    let test = try TestRecord()
    let record = try await opened(test)
    let go = Latch()

    record.enqueue { _ in _ = go.wait(until: .after(Self.limit)) }
    record.add(TestRecord.verdict(1, .passed))
    record.add(TestRecord.verdict(4711, .failed))
    record.add(TestRecord.verdict(1, .skipped))
    go.open()
    let lost = await trouble { try await record.settle(within: Self.limit) }

    guard case .failed(test.path, let code, _)? = lost else {
      Issue.record("\(String(describing: lost))")
      return
    }
    #expect(code & 0xFF == SQLITE_CONSTRAINT)
    #expect(try await test.reader.verdicts(of: 1).map(\.verdict) == [.passed, .skipped])
  }

  @Test func `is read while somebody writes`() async throws {
    let test = try TestRecord()
    let record = try await opened(test)
    record.add(TestRecord.verdict(1, .passed))
    try await record.settle(within: Self.limit)
    let other = try Database(test.path, .writing, patience: .seconds(5))
    try other.run("BEGIN IMMEDIATE")
    try other.run("DELETE FROM verdicts")

    let seen = try await test.reader.verdicts(of: 1)
    try other.run("ROLLBACK")

    #expect(seen.count == 1)
  }

  @Test(arguments: [
    RecordTrouble.full(path: "/a/b"), .locked(path: "/a/b", limit: .seconds(5)),
    .slow(path: "/a/b", limit: .seconds(5)),
    .corrupt(path: "/a/b"), .newer(path: "/a/b", found: 2, known: 1), .older(path: "/a/b", found: 1, known: 2),
    .foreign(path: "/a/b"), .begunAnew(path: "/a/b", lastSeq: 0), .outOfOrder(path: "/a/b", seq: 3, last: 1),
    .missing(path: "/a/b"), .forbidden(path: "/a/b", code: 13),
    .failed(path: "/a/b", code: 1, text: "no such table"),
  ]) func `says what happened, why, and what to type`(_ trouble: RecordTrouble) {
    #expect(trouble.sentence.contains("/a/b"))
    #expect(trouble.sentence.components(separatedBy: ". ").count >= 3)
    #expect(trouble.words.kind == .hostFault)
  }
}

extension String {
  fileprivate func components(separatedBy mark: String) -> [Substring] { split(separator: mark) }
}
