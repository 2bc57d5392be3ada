import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `the record's file` {
  private static let limit = Duration.seconds(20)

  private func trouble(_ body: () async throws -> Void) async -> RecordTrouble? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RecordTrouble
    }
  }

  private func database(_ path: String) throws -> Database {
    try Scratch.write("", to: path)
    return try Database(path, .writing, patience: .seconds(5))
  }

  @Test func `is begun where there is none, with the rights of its folder`() async throws {
    let test = try TestRecord()
    chmod(test.folder.path, 0o2770)

    let (record, notices) = try await Record.open(test.path)
    _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)

    #expect(notices == [.begun(path: test.path)])
    #expect(Scratch.mode(test.path) == 0o660)
    #expect(Scratch.mode(test.path + "-wal") == 0o660)
  }

  @Test func `is never made by a reader`() async throws {
    let test = try TestRecord()

    let found = await trouble { _ = try await test.reader.runs() }

    #expect(found == .missing(path: test.path))
    #expect(Scratch.names(in: test.folder.path).isEmpty)
  }

  @Test func `that is damaged is set aside with all that was in it, and a new one is begun`() async throws {
    let test = try TestRecord()
    try Scratch.write("this was a database once, says somebody\n", to: test.path)

    let (record, notices) = try await Record.open(test.path)
    let number = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)

    let aside = try #require(Scratch.names(in: test.folder.path).first { $0.contains(".damaged-") })
    #expect(notices.first == .setAside(path: test.path, as: "\(test.folder.path)/\(aside)"))
    #expect(notices.first?.sentence?.contains(aside) == true)
    #expect(Scratch.read("\(test.folder.path)/\(aside)")?.hasPrefix("this was a database") == true)
    #expect(number == 1)
  }

  @Test func `with a damaged page in the middle is found out when it is opened`() async throws {
    let test = try TestRecord()
    do {
      let record = try await test.open()
      _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)
      for _ in 0..<400 { record.add(TestRecord.verdict(1, .failed)) }
      try await record.settle(within: Self.limit)
    }
    try await closed(test.path)
    let fd = Glibc.open(test.path, O_RDWR)
    let garbage = [UInt8](repeating: 0xA5, count: 4096)
    for page in 8..<14 { pwrite(fd, garbage, garbage.count, off_t(page * 4096)) }
    close(fd)

    let (_, notices) = try await Record.open(test.path)

    #expect(notices.contains { if case .setAside = $0 { true } else { false } })
  }

  @Test func `is set aside also when the damage shows while it is written`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)
    // From here on it reads as one that lost its head.
    try Scratch.write(String(repeating: "x", count: 8192), to: test.path)
    unlink(test.path + "-wal")
    let once = Guarded(true)

    let number = try await record.perform(within: Self.limit) { database throws(RecordTrouble) in
      if once.with({ first in
        defer { first = false }
        return first
      }) {
        throw .corrupt(path: database.path)
      }
      return try database.number("SELECT count(*) FROM runs") ?? -1
    }

    #expect(number == 0)
    #expect(record.takeNotices().contains { if case .setAside = $0 { true } else { false } })
  }

  @Test func `of a newer fleetctl is refused and left as it is`() async throws {
    let test = try TestRecord()
    do {
      let record = try await test.open()
      try await record.perform(within: Self.limit) { database throws(RecordTrouble) in
        try database.run("PRAGMA user_version = 99")
      }
    }

    let writing = await trouble { _ = try await Record.open(test.path) }
    let reading = await trouble { _ = try await test.reader.runs() }

    let newer = RecordTrouble.newer(path: test.path, found: 99, known: RecordSchema.current.version)
    #expect(writing == newer && reading == newer)
    #expect(Scratch.names(in: test.folder.path).allSatisfy { $0.hasPrefix("fleet.sqlite") && !$0.contains(".damaged") })
    #expect(newer.sentence.contains("schema 99"))
  }

  @Test func `is copied beside itself before its schema changes`() async throws {
    let test = try TestRecord()
    let first = RecordSchema(migrations: [["CREATE TABLE one (text TEXT) STRICT"]])
    let second = RecordSchema(migrations: first.migrations + [["ALTER TABLE one ADD COLUMN more TEXT"]])
    do {
      let old = try await Record.open(RecordOpening(path: test.path, schema: first), within: Self.limit).record
      try await old.perform(within: Self.limit) { database throws(RecordTrouble) in
        try database.run("INSERT INTO one VALUES ('kept')")
      }
    }

    let (new, notices) = try await Record.open(RecordOpening(path: test.path, schema: second), within: Self.limit)
    let rows = try await new.perform(within: Self.limit) { database throws(RecordTrouble) in
      try database.rows("SELECT text, more FROM one") { [$0.text(0), $0.text(1)] }
    }

    guard case .migrated(test.path, from: 1, to: 2, let copy)? = notices.first else {
      Issue.record("\(notices)")
      return
    }
    let old = try RecordOpening(path: copy, schema: first).forReading()
    #expect(rows == [["kept", nil]])
    #expect(try old.number("SELECT count(*) FROM one") == 1)
    #expect(notices.first?.sentence?.contains(copy) == true)
  }

  @Test func `of the first schema keeps its runs, and stays readable as a copy, when the supervisor's tables come`()
    async throws
  {
    let test = try TestRecord()
    let first = RecordSchema(migrations: Array(RecordSchema.current.migrations.prefix(1)))
    let old = try await Record.open(RecordOpening(path: test.path, schema: first), within: Self.limit).record
    _ = try await old.begin(TestRecord.run(label: "nightly"), keep: .seconds(1), within: Self.limit)
    try await old.close(within: Self.limit)
    let before = await trouble { _ = try await test.reader.outcomes() }

    let (record, notices) = try await Record.open(test.path)
    try await record.store(TestEntry.entry(1), within: Self.limit)

    #expect(before == .older(path: test.path, found: 1, known: RecordSchema.current.version))
    #expect(try await test.reader.runs().map(\.label) == ["nightly"])
    #expect(try await test.reader.outcomes().count == 1)
    guard case .migrated(_, from: 1, to: _, let copy)? = notices.first else {
      Issue.record("\(notices)")
      return
    }
    #expect(try RecordOpening(path: copy, schema: first).forReading().number("SELECT count(*) FROM runs") == 1)
    #expect(!Scratch.names(in: test.folder.path).contains { $0.contains("copying") })
  }

  @Test func `stays as it was when a migration does not work`() async throws {
    let test = try TestRecord()
    let first = RecordSchema(migrations: [["CREATE TABLE one (text TEXT) STRICT"]])
    let second = RecordSchema(
      migrations: first.migrations + [["ALTER TABLE one ADD COLUMN more TEXT", "ALTER TABLE none ADD COLUMN x TEXT"]])
    _ = try await Record.open(RecordOpening(path: test.path, schema: first), within: Self.limit)

    let found = await trouble {
      _ = try await Record.open(RecordOpening(path: test.path, schema: second), within: Self.limit)
    }

    guard case .failed(test.path, _, let text)? = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(text.contains("none"))
    let after = try RecordOpening(path: test.path, schema: first).forReading()
    #expect(try after.rows("SELECT name FROM pragma_table_info('one')") { $0.text(0) } == ["text"])
  }

  @Test func `of an older schema is not changed by a reader`() async throws {
    let test = try TestRecord()
    let none = RecordSchema(migrations: [["CREATE TABLE one (text TEXT) STRICT"]])
    let later = RecordSchema(migrations: none.migrations + [["CREATE TABLE two (text TEXT) STRICT"]])
    _ = try await Record.open(RecordOpening(path: test.path, schema: none), within: Self.limit)

    #expect(throws: RecordTrouble.older(path: test.path, found: 1, known: 2)) {
      try RecordOpening(path: test.path, schema: later).forReading()
    }
  }

  @Test func `of another program is refused and left as it is`() async throws {
    let test = try TestRecord()
    do {
      let foreign = try database(test.path)
      try foreign.run("CREATE TABLE customers (name TEXT)")
    }

    let writing = await trouble { _ = try await Record.open(test.path) }
    let reading = await trouble { _ = try await test.reader.runs() }

    #expect(writing == .foreign(path: test.path) && reading == .foreign(path: test.path))
    #expect(Scratch.names(in: test.folder.path) == ["fleet.sqlite"])
  }

  @Test func `in a folder that cannot be is told with the system's word`() async throws {
    let test = try TestRecord()
    try Scratch.write("", to: "\(test.folder.path)/file")

    let found = await trouble { _ = try await Record.open("\(test.folder.path)/file/fleet.sqlite") }

    #expect(found == .forbidden(path: "\(test.folder.path)/file/fleet.sqlite", code: ENOTDIR))
    #expect(found?.words == OutcomeWords(.hostFault, .permission))
  }

  @Test func `is let go of with its record`() async throws {
    let test = try TestRecord()
    do {
      let record = try await test.open()
      record.enqueue { _ in }
    }

    try await closed(test.path)

    #expect(Scratch.names(in: test.folder.path) == ["fleet.sqlite"])
  }

  @Test func `whose first writer was killed in the middle of a write is read as it was before that`() async throws {
    let (test, killed) = (try TestRecord(), try TestRecord())
    let writer = try database(test.path)
    for statement in RecordSchema.current.migrations.flatMap({ $0 }) { try writer.run(statement) }
    try writer.run("PRAGMA application_id = \(Database.applicationID)")
    try writer.run("PRAGMA user_version = \(RecordSchema.current.version)")
    // With so little memory half of it is in the file before it is committed.
    try writer.run("PRAGMA cache_size = 2")
    try writer.run("BEGIN IMMEDIATE")
    for seq in 1...200 {
      try writer.run(
        "INSERT INTO outcomes (seq, at, outcome, detail, launched) VALUES (?, 0, 'up', ?, 0)",
        [.integer(seq), .text(String(repeating: "x", count: 4_000))])
    }
    for end in ["", "-journal"] {
      let bytes = try Files.host.read(test.path + end, 64 << 20)
      let fd = Glibc.open(killed.path + end, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      #expect(Glibc.write(fd, bytes, bytes.count) == bytes.count)
      close(fd)
    }

    #expect((RecordFile.size(killed.path) ?? 0) > 100 << 12)
    #expect(try await killed.reader.outcomes().isEmpty)
  }

  @Test func `is one file again once its record is closed`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    record.enqueue { _ in }

    try await record.close(within: Self.limit)

    #expect(Scratch.names(in: test.folder.path) == ["fleet.sqlite"])
  }

  @Test func `keeps its write-ahead file small`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)
    var row = TestRecord.verdict(1, .failed)
    row.message = String(repeating: "long ", count: 800)

    for _ in 0..<4_000 { record.add(row) }
    try await record.settle(within: .seconds(60))

    #expect((RecordFile.size(test.path) ?? 0) > 8 << 20)
    #expect((RecordFile.size(test.path + "-wal") ?? 0) < 4 << 20)
  }

  @Test func `gives the room of its write-ahead file back once no reader holds it, though nothing more is written`()
    async throws
  {
    let test = try TestRecord()
    let record = try await test.open()
    _ = try await record.begin(TestRecord.run(), keep: .seconds(1), within: Self.limit)
    let held = try RecordOpening(path: test.path).forReading()
    try held.run("BEGIN")
    _ = try held.number("SELECT count(*) FROM runs")
    var row = TestRecord.verdict(1, .failed)
    row.message = String(repeating: "long ", count: 800)
    for _ in 0..<2_000 { record.add(row) }
    try await record.settle(within: .seconds(60))
    let whileRead = RecordFile.size(test.path + "-wal") ?? 0

    try held.run("COMMIT")

    #expect(whileRead > 4 << 20)
    #expect(await eventually { (RecordFile.size(test.path + "-wal") ?? 0) < 4 << 20 })
  }

  /// Waits until this process holds the file no more.
  private func closed(_ path: String) async throws {
    let deadline = Deadline.after(.seconds(20))
    while Self.isHeld(path) {
      try #require(!deadline.hasPassed, "the record is still open")
      try await ContinuousClock().sleep(for: .milliseconds(5))
    }
  }

  private static func isHeld(_ path: String) -> Bool {
    guard let folder = opendir("/proc/self/fd") else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      var target = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(name)", &target, target.count)
      if count > 0, String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == path {
        return true
      }
    }
    return false
  }
}
