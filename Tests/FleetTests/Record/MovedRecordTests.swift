import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a record whose file is taken from under it` {
  private static let limit = Duration.seconds(20)

  private func trouble(_ body: () async throws -> Void) async -> RecordTrouble? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RecordTrouble
    }
  }

  private func begun(_ test: TestRecord, rows: Int) async throws -> Record {
    let record = try await test.open()
    for seq in stride(from: 1, through: rows, by: 1) {
      try await record.store(TestEntry.entry(seq), within: Self.limit)
    }
    return record
  }

  @Test(arguments: [["fleet.sqlite"], ["fleet.sqlite", "fleet.sqlite-wal", "fleet.sqlite-shm"]])
  func `is begun anew, says so once, and goes on with numbers of its own`(_ removed: [String]) async throws {
    let test = try TestRecord()
    let record = try await begun(test, rows: 3)
    for name in removed { unlink("\(test.folder.path)/\(name)") }

    let first = await trouble { try await record.store(TestEntry.entry(4), within: Self.limit) }
    try await record.store(TestEntry.entry(1), within: Self.limit)

    #expect(first == .begunAnew(path: test.path, lastSeq: 0))
    #expect(try await test.reader.outcomes().compactMap(\.seq) == [1])
    #expect(record.takeNotices() == [.moved(path: test.path), .begun(path: test.path)])
  }

  @Test func `is found out by a look too, while nothing is to be written`() async throws {
    let test = try TestRecord()
    let record = try await begun(test, rows: 1)
    _ = try await record.dataVersion(within: Self.limit)
    unlink(test.path)

    let found = await trouble { _ = try await record.dataVersion(within: Self.limit) }
    _ = try await record.dataVersion(within: Self.limit)

    #expect(found == .begunAnew(path: test.path, lastSeq: 0))
  }

  @Test func `and replaced by a whole one goes on there, with nothing of the old one in it`() async throws {
    let (test, spare) = (try TestRecord(), try TestRecord())
    let record = try await begun(test, rows: 2)
    let other = try await begun(spare, rows: 5)
    try await other.close(within: Self.limit)
    rename(spare.path, test.path)

    let found = await trouble { try await record.store(TestEntry.entry(3), within: Self.limit) }
    try await record.store(TestEntry.entry(6), within: Self.limit)
    let check = try await record.perform(within: Self.limit) { database throws(RecordTrouble) in
      try database.rows("PRAGMA integrity_check") { $0.text(0) }
    }

    #expect(found == .begunAnew(path: test.path, lastSeq: 5))
    #expect(try await test.reader.outcomes().compactMap(\.seq) == [1, 2, 3, 4, 5, 6])
    #expect(check == ["ok"])
  }

  @Test func `tells it to somebody who waits, not to one whose time was up`() async throws {
    let test = try TestRecord()
    let record = try await begun(test, rows: 1)
    let disk = Latch()
    record.enqueue { _ in _ = disk.wait(until: .after(Self.limit)) }
    unlink(test.path)

    let late = await trouble { try await record.store(TestEntry.entry(2), within: .milliseconds(50)) }
    disk.open()
    let told = await trouble { try await record.store(TestEntry.entry(2), within: Self.limit) }

    #expect(late == .slow(path: test.path, limit: .milliseconds(50)))
    #expect(told == .begunAnew(path: test.path, lastSeq: 0))
  }

  @Test func `is not written to by what nobody waits for any more`() async throws {
    let test = try TestRecord()
    let record = try await begun(test, rows: 1)
    let disk = Latch()
    record.enqueue { _ in _ = disk.wait(until: .after(Self.limit)) }

    let late = await trouble { try await record.store(TestEntry.entry(2), within: .milliseconds(50)) }
    disk.open()
    try await record.settle(within: Self.limit)

    #expect(late == .slow(path: test.path, limit: .milliseconds(50)))
    #expect(try await test.reader.outcomes().compactMap(\.seq) == [1])
  }
}
