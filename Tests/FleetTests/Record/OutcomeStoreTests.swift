import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

/// Entries of the watch for a record.
enum TestEntry {
  static let hall = UDID("00008110-000A1B2C3D4E5F60")
  static let stairs = UDID("00008101-000A1B2C3D4E001E")
  /// 2026-11-30, 12:00 UTC.
  static let noon = Duration.seconds(1_796_040_000)

  static func row(
    _ seq: Int, _ words: OutcomeWords = OutcomeWords(.up), of udid: UDID? = hall, at: Duration = noon
  ) -> OutcomeReport {
    OutcomeReport(
      seq: seq, at: at, body: udid == hall ? "hall" : nil, udid: udid, words: words, was: OutcomeWords(.up),
      detail: "as told", silent: .milliseconds(4_250), launched: true)
  }

  static func memory(_ revision: Int, launches: Int = 0) -> WatchMemory {
    var memory = WatchMemory()
    memory.revision = revision
    memory.launchCount = launches
    return memory
  }

  static func entry(_ seq: Int, of udid: UDID? = hall, at: Duration = noon) -> LedgerEntry {
    LedgerEntry(row: row(seq, of: udid, at: at), udid: udid, memory: udid == nil ? nil : memory(seq))
  }
}

@Suite struct `outcomes in the record` {
  static let limit = Duration.seconds(20)

  private func trouble(_ body: () async throws -> Void) async -> RecordTrouble? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RecordTrouble
    }
  }

  @Test func `are read back as they were judged, each with its own time`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let late = TestEntry.row(2, OutcomeWords(.locked, .passcode), at: TestEntry.noon - .seconds(3_600))
    var host = OutcomeReport(
      seq: 3, at: TestEntry.noon, body: nil, udid: nil, words: OutcomeWords(.unreachable, .noUsbmuxd))

    try await record.store(LedgerEntry(row: TestEntry.row(1)), within: Self.limit)
    try await record.store(LedgerEntry(row: late), within: Self.limit)
    try await record.store(LedgerEntry(row: host), within: Self.limit)

    host.seq = 3
    #expect(try await test.reader.outcomes() == [TestEntry.row(1), late, host])
    #expect(try await test.reader.latest() == [late, host])
  }

  @Test func `have numbers without a gap: any other is refused, and says which is awaited`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    try await record.store(TestEntry.entry(1), within: Self.limit)

    let gap = await trouble { try await record.store(TestEntry.entry(3), within: Self.limit) }
    let other = await trouble { try await record.store(TestEntry.entry(1, of: TestEntry.stairs), within: Self.limit) }
    let none = await trouble {
      var entry = TestEntry.entry(2)
      entry.row?.seq = nil
      try await record.store(entry, within: Self.limit)
    }

    #expect(gap == .outOfOrder(path: test.path, seq: 3, last: 1))
    #expect(other == .outOfOrder(path: test.path, seq: 1, last: 1))
    #expect(none == .outOfOrder(path: test.path, seq: nil, last: 1))
    #expect(try await test.reader.outcomes().compactMap(\.seq) == [1])
    #expect(try await test.reader.past().1[TestEntry.stairs] == nil)
  }

  @Test func `given again after they came through are stored once, with what was stored with them`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    var entry = TestEntry.entry(1)
    entry.action = WatchAction(kind: .launch, at: TestEntry.noon, udid: TestEntry.hall, result: "answers")

    try await record.store(entry, within: Self.limit)
    try await record.store(entry, within: Self.limit)
    try await record.store(LedgerEntry(udid: TestEntry.hall, action: entry.action), within: Self.limit)

    #expect(try await test.reader.outcomes().count == 1)
    #expect(try await test.reader.actions().count == 1)
  }

  @Test func `bring a memory along, which never takes the place of a later one`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    func kept() async throws -> WatchMemory? { try await test.reader.past().1[TestEntry.hall]?.memory }

    try await record.store(LedgerEntry(udid: TestEntry.hall, memory: TestEntry.memory(5)), within: Self.limit)
    var late = TestEntry.entry(1)
    late.memory = TestEntry.memory(4, launches: 7)
    try await record.store(late, within: Self.limit)
    let afterLate = try await kept()
    try await record.store(
      LedgerEntry(udid: TestEntry.hall, memory: TestEntry.memory(6, launches: 8)), within: Self.limit)

    #expect(afterLate == TestEntry.memory(5))
    #expect(try await kept() == TestEntry.memory(6, launches: 8))
  }

  @Test func `and stamps, memories and pauses are what the next supervisor begins with`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let stamp = LaunchStamp(wall: TestEntry.noon, boot: "boot", elapsed: .nanoseconds(1_234_567_891))
    let memory = TestEntry.memory(2)
    let pause = Pause(began: stamp, length: .seconds(1_200), user: "anna", reason: "battery")

    try await record.store(TestEntry.entry(1), within: Self.limit)
    try await record.storeStamp(stamp, memory: memory, of: TestEntry.hall, within: Self.limit)
    try await record.store(
      LedgerEntry(row: TestEntry.row(2, OutcomeWords(.hostFault, .disk), of: nil)), within: Self.limit)
    try await record.pause(
      pause, of: TestEntry.stairs, ActionRow(.pause, at: TestEntry.noon, user: "anna"), within: Self.limit)
    let (host, bodies) = try await test.reader.past()

    #expect(host.outcome == OutcomeWords(.hostFault, .disk) && host.lastSeq == 2)
    #expect(
      bodies[TestEntry.hall]
        == BodyPast(outcome: OutcomeWords(.up), since: TestEntry.noon, memory: memory, stamp: stamp))
    #expect(bodies[TestEntry.stairs] == BodyPast(pause: pause))
  }

  @Test func `keep the stamp where the memory can't be read, so that spacing holds`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let stamp = LaunchStamp(wall: TestEntry.noon, boot: "boot", elapsed: .seconds(1))
    try await record.storeStamp(stamp, memory: TestEntry.memory(9), of: TestEntry.hall, within: Self.limit)
    try await record.perform(within: Self.limit) { database throws(RecordTrouble) in
      try database.run("UPDATE memories SET memory = '{\"revision\":'")
    }

    let past = try await test.reader.past().1[TestEntry.hall]

    #expect(past?.stamp == stamp)
    #expect(past?.memory == TestEntry.memory(9))
  }

  @Test func `are found by body, kind, reason, time and number`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let rows = [
      TestEntry.row(1), TestEntry.row(2, OutcomeWords(.locked, .passcode), at: TestEntry.noon + .seconds(1)),
      TestEntry.row(
        3, OutcomeWords(.locked, .beforeFirstUnlock), of: TestEntry.stairs, at: TestEntry.noon + .seconds(2)),
      TestEntry.row(4, OutcomeWords(.hostFault, .disk), of: nil, at: TestEntry.noon + .seconds(3)),
    ]
    for row in rows { try await record.store(LedgerEntry(row: row), within: Self.limit) }
    let reader = test.reader
    func seqs(_ found: [OutcomeReport]) -> [Int] { found.compactMap(\.seq) }

    #expect(seqs(try await reader.outcomes(body: "hall")) == [1, 2])
    #expect(seqs(try await reader.outcomes(body: "00008101000a1b2c3d4e001e")) == [3])
    #expect(seqs(try await reader.outcomes(body: "hall' OR 1=1 --")) == [])
    #expect(seqs(try await reader.outcomes(kind: OutcomeWords(.locked))) == [2, 3])
    #expect(seqs(try await reader.outcomes(kind: OutcomeWords(.locked, .passcode))) == [2])
    #expect(seqs(try await reader.outcomes(since: TestEntry.noon + .seconds(1))) == [2, 3, 4])
    #expect(seqs(try await reader.outcomes(until: TestEntry.noon + .seconds(1))) == [1])
    #expect(seqs(try await reader.outcomes(after: 2)) == [3, 4])
    #expect(seqs(try await reader.outcomes(limit: 2)) == [1, 2])
    #expect(seqs(try await reader.outcomes(limit: 2, newest: true)) == [3, 4])
  }

  @Test func `hide secrets`() async throws {
    let test = try TestRecord()
    let record = try await Record.open(test.path, masking: Mask([Secret("hunter2-key")])).record
    var entry = TestEntry.entry(1)
    entry.row?.detail = "said hunter2-key"
    entry.action = WatchAction(kind: .mount, at: TestEntry.noon, udid: TestEntry.hall, result: "hunter2-key")

    try await record.store(entry, within: Self.limit)
    try await record.act(
      ActionRow(.hold, at: TestEntry.noon, user: "anna", reason: "hunter2-key", result: "hunter2-key"),
      within: Self.limit)

    #expect(try await test.reader.outcomes().map(\.detail) == ["said •••"])
    #expect(try await test.reader.actions().map(\.result) == ["•••", "•••"])
    #expect(try await test.reader.actions().map(\.reason) == [nil, "•••"])
  }

  @Test func `tell that somebody else has written, and not that we did`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let before = try await record.dataVersion(within: Self.limit)
    try await record.store(TestEntry.entry(1), within: Self.limit)
    let own = try await record.dataVersion(within: Self.limit)

    let other = try await test.open()
    try await other.pause(
      nil, of: TestEntry.hall, ActionRow(.resume, at: TestEntry.noon, user: "anna"), within: Self.limit)

    #expect(own == before)
    #expect(try await record.dataVersion(within: Self.limit) != before)
  }
}

@Suite struct `old outcomes` {
  private static let limit = Duration.seconds(20)
  private static let day = Duration.seconds(86_400)

  @Test func `go when they are older than the record keeps, but for the latest of each body and of the host`()
    async throws
  {
    let test = try TestRecord()
    let record = try await test.open()
    let subjects: [UDID?] = [TestEntry.hall, TestEntry.stairs, nil, TestEntry.hall, nil, TestEntry.hall]
    for (index, udid) in subjects.enumerated() {
      let at = index == 5 ? TestEntry.noon : TestEntry.noon - Self.day * (500 - index)
      try await record.store(LedgerEntry(row: TestEntry.row(index + 1, of: udid, at: at)), within: Self.limit)
    }
    try await record.act(ActionRow(.hold, at: TestEntry.noon - Self.day * 500), within: Self.limit)
    try await record.act(ActionRow(.resume, at: TestEntry.noon), within: Self.limit)

    try await record.letGo(keep: Self.day * 400, now: TestEntry.noon, within: Self.limit)

    #expect(try await test.reader.outcomes().compactMap(\.seq) == [2, 5, 6])
    #expect(try await test.reader.actions().map(\.kind) == [.resume])
    try await record.store(TestEntry.entry(7), within: Self.limit)
  }

  @Test func `are not taken for old because the clock has jumped ahead`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    for seq in 1...3 { try await record.store(TestEntry.entry(seq), within: Self.limit) }

    let gone = try await record.letGo(keep: Self.day, now: TestEntry.noon + Self.day * 9_000, within: Self.limit)

    #expect(gone == 0)
  }

  @Test func `go in many small steps, and all of them`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    try await record.perform(within: Self.limit) { database throws(RecordTrouble) in
      for seq in 1...1_200 {
        try database.run(
          "INSERT INTO outcomes (seq, at, phone, udid, outcome, launched) VALUES (?, ?, 'x', 'x', 'up', 0)",
          [.integer(seq), .integer(seq)])
      }
    }
    try await record.store(TestEntry.entry(1_201), within: Self.limit)

    let gone = try await record.letGo(keep: Self.day, now: TestEntry.noon, within: Self.limit)

    #expect(gone == 1_199)
  }
}
