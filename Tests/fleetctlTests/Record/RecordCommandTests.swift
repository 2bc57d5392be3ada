import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@testable import Fleet
@testable import fleetctl

@Suite(.serialized) struct `commands that read the record` {
  private static let silent = OutcomeWords(.silent, .refused)

  private func lines(_ done: Fleetctl.Done) -> [String] {
    done.output.out.split(separator: "\n").map(String.init)
  }

  private func written() async throws -> RecordedState {
    let state = RecordedState()
    try await state.write(
      RecordedState.row(1, OutcomeWords(.up)),
      RecordedState.row(
        2, OutcomeWords(.locked, .passcode), of: RecordedState.stairs, after: 60, detail: "says, \"no\""),
      RecordedState.row(3, Self.silent, after: 120, was: OutcomeWords(.up), silent: .seconds(310)),
      RecordedState.row(4, OutcomeWords(.unreachable, .noUsbmuxd), of: nil, after: 180))
    return state
  }

  // MARK: - status

  @Test func `status tells the record where no supervisor runs, and says so`() async throws {
    let state = try await written()

    let text = await state.run("status")
    let json = await state.run("status", "--json")

    #expect(text.code == 0)
    #expect(lines(text).first == "No supervisor runs: as the record has it.")
    #expect(lines(text)[1].hasPrefix("! host  unreachable/no-usbmuxd"))
    #expect(lines(text)[2].hasPrefix("✗ hall    silent/refused"))
    #expect(lines(text)[3].hasPrefix("– stairs  locked/passcode"))
    #expect(lines(text)[4] == "0 of 2 well")
    let objects = lines(json).compactMap { JSON(parsing: Array($0.utf8)) }
    #expect(objects.map { $0["body"]?.string } == ["hall", "stairs"])
    #expect(objects.allSatisfy { $0["supervised"] == .boolean(false) && $0["lock"] == .string("unknown") })
  }

  @Test func `status tells what the running supervisor says`() async throws {
    let state = try await written()
    var hall = BodyPresent(body: "hall", udid: RecordedState.hall, awaited: "the end of the grace")
    hall.words = OutcomeWords(.up)
    hall.silent = .seconds(250)
    hall.nextLaunch = WallClock.now() + .seconds(600)
    try state.supervise(hall)

    let text = await state.run("status")
    let json = await state.run("status", "--json")

    #expect(lines(text).count == 3 && text.code == 0)
    #expect(lines(text)[1].hasPrefix("~ hall  silent 4:10, may act in "))
    var object = JSON(parsing: Array(json.output.out.utf8))
    #expect(object?["supervised"] == .boolean(true))
    if case .object(var keys)? = object {
      keys["supervised"] = nil
      object = .object(keys)
    }
    #expect(object == JSON(parsing: Array(hall.json.line.utf8)))
  }

  @Test func `status says that there is nothing to tell where neither supervisor nor record is`() async throws {
    let state = RecordedState()

    let done = await state.run("status")

    #expect(done.code == 3)
    #expect(done.output.err.contains("No supervisor runs, and there is no record at "))
    #expect(TestFolder.names(in: state.folder.path) == ["fleet.yaml"])
  }

  @Test func `status lists every body of fleet.yaml, and no other`() async throws {
    let state = try await written()
    let yaml = state.folder.write(
      """
      version: 1
      bodies:
        - {udid: \(RecordedState.stairs), name: steps}
        - {udid: 00008101-000A1B2C3D4E0099, name: door, out-of-service: {reason: battery}}
        - {udid: 00008101-000A1B2C3D4E0098, name: new}
      """, to: "other.yaml")

    let done = await state.run("status", "--config", yaml)

    #expect(
      lines(done).dropFirst(2).map { String($0.prefix(9)) } == ["· new    ", "– steps  ", "· door   ", "0 of 3 we"])
  }

  @Test func `a record of a newer fleetctl is not read, and that is said`() async throws {
    let state = try await written()
    let record = try await state.open()
    try await record.perform(within: RecordedState.limit) { database throws(RecordTrouble) in
      try database.run("PRAGMA user_version = 99")
    }
    try await record.close(within: RecordedState.limit)

    for words in [["status"], ["outcomes"], ["why", "hall"], ["pause", "hall", "--for", "1m", "--reason", "x"]] {
      let done = await Fleetctl.run(words, environment: state.environment)
      #expect(done.code == 3 && done.output.err.contains("schema 99"), "\(words): \(done.output.err)")
    }
  }

  // MARK: - outcomes

  @Test func `outcomes are for people in their time with its offset, and for programs in UTC`() async throws {
    let state = try await written()

    let text = await state.run("outcomes")
    let json = await state.run("outcomes", "--json")
    let csv = await state.run("outcomes", "--csv")

    #expect(text.code == 0)
    #expect(lines(text)[2].hasPrefix("2026-11-30 13:02:00 +0100  hall    silent/refused"))
    #expect(lines(text)[2].contains("was up") && lines(text)[2].contains("silent 5:10"))
    #expect(lines(text)[3].contains("  host    unreachable/no-usbmuxd"))
    let rows = try await state.reader.outcomes()
    #expect(lines(json) == rows.map(\.json.line))
    #expect(lines(json)[2].contains(#""at":"2026-11-30T12:02:00.000Z""#))
    #expect(lines(csv).first == "seq,at,body,udid,outcome,reason,was,detail,silent_s,launched")
    #expect(
      lines(csv)[2]
        == #"2,2026-11-30T12:01:00.000Z,stairs,\#(RecordedState.stairs),locked,passcode,,"says, ""no""",,false"#)
  }

  @Test func `outcomes are chosen by body, kind, time and number`() async throws {
    let state = try await written()
    func seqs(_ words: String...) async -> [Int] {
      let done = await Fleetctl.run(["outcomes", "--json"] + words, environment: state.environment)
      return lines(done).compactMap { JSON(parsing: Array($0.utf8))?["seq"]?.int }
    }

    #expect(await seqs("--body", "hall") == [1, 3])
    #expect(await seqs("--body", "00008101") == [2])
    #expect(await seqs("--body", "\(RecordedState.hall)") == [1, 3])
    #expect(await seqs("--kind", "locked") == [2])
    #expect(await seqs("--kind", "silent/refused") == [3])
    #expect(await seqs("--since", "2026-11-30 13:02") == [3, 4])
    #expect(await seqs("--until", "2026-11-30T12:01:00Z") == [1])
    #expect(await seqs("--limit", "1") == [4])
    #expect(await state.run("outcomes", "--kind", "paused").code == 1)
    #expect(await state.run("outcomes", "--kind", "bad").code == 2)
    #expect(await state.run("outcomes", "--since", "soon").code == 2)
    #expect(await state.run("outcomes", "--body", "nobody").code == 2)
  }

  @Test func `outcomes of a body go back to the phone that had its name before`() async throws {
    let state = RecordedState()
    var other = RecordedState.row(1, OutcomeWords(.up), of: RecordedState.stairs)
    other.body = "hall"
    try await state.write(other, RecordedState.row(2, OutcomeWords(.up)))
    let yaml = state.folder.write(
      "version: 1\nbodies: [{udid: \(RecordedState.hall), name: hall}]\n", to: "other.yaml")

    let named = await state.run("outcomes", "--body", "hall", "--json", "--config", yaml)
    let phone = await state.run("why", "hall", "--json", "--config", yaml)

    #expect(lines(named).count == 2)
    #expect(JSON(parsing: Array(phone.output.out.utf8))?["transitions"]?.array?.count == 1)
  }

  @Test func `outcomes goes on with rows as they come, also when the record is begun anew`() async throws {
    let state = try await written()
    let child = Fleetctl.start(["outcomes", "--follow", "--json", "--limit", "1"], environment: state.environment)
    #expect(await child.prints { $0.out.contains(#""seq":4"#) })

    let record = try await state.open()
    try await record.store(LedgerEntry(row: RecordedState.row(5, OutcomeWords(.up), after: 240)), within: .seconds(20))
    #expect(await child.prints { $0.out.contains(#""seq":5"#) })
    unlink(state.path)
    _ = try? await record.dataVersion(within: .seconds(20))
    try await record.store(LedgerEntry(row: RecordedState.row(1, OutcomeWords(.revived))), within: .seconds(20))
    #expect(await child.prints { $0.out.contains(#""outcome":"revived""#) })
    child.signal(SIGINT)

    #expect(await child.ending(within: .seconds(2)) == .exited(130))
    #expect(child.output.out.split(separator: "\n").count == 3)
    #expect(child.output.err.contains("begun anew"))
  }

  @Test func `outcomes holds nothing of the record while somebody reads it slowly`() async throws {
    let state = RecordedState()
    let record = try await state.open()
    try await fill(record, from: 1, to: 3_000)
    // A pipe that is full and not read.
    let reader = ChildProcess(
      "/bin/sh",
      ["-c", "'\(Fleetctl.path)' outcomes --limit 3000 | { touch '\(state.folder.file("began"))'; sleep 10; }"],
      environment: state.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 })
    #expect(await eventually { state.folder.names.contains("began") })

    for part in 0..<4 { try await fill(record, from: 3_001 + part * 1_000, to: 4_000 + part * 1_000) }

    #expect(await eventually { (RecordFile.size(state.path + "-wal") ?? 0) < 4 << 20 })
    reader.signal(SIGKILL)
  }

  /// Rows of 4 KB, in one transaction.
  private func fill(_ record: Record, from first: Int, to last: Int) async throws {
    try await record.perform(within: .seconds(60)) { database throws(RecordTrouble) in
      for seq in first...last {
        try database.run(
          """
          INSERT INTO outcomes (seq, at, phone, udid, outcome, detail, launched)
          VALUES (?, ?, 'x', 'x', 'up', ?, 0)
          """, [.integer(seq), .integer(seq), .text(String(repeating: "long ", count: 800))])
      }
    }
  }

  /// Waits until it is so.
  private func eventually(_ isSo: () -> Bool) async -> Bool {
    let deadline = Deadline.after(.seconds(20))
    while !isSo() {
      if deadline.hasPassed { return false }
      try? await ContinuousClock().sleep(for: .milliseconds(10))
    }
    return true
  }

  // MARK: - why

  @Test func `why tells the present, the last outcomes and what was done`() async throws {
    let state = try await written()
    var hall = BodyPresent(body: "hall", udid: RecordedState.hall, awaited: "the end of the spacing")
    hall.words = Self.silent
    hall.since = RecordedState.noon + .seconds(120)
    hall.nextLaunch = WallClock.now() + .seconds(100)
    hall.heldBy = Holder(pid: 4711, user: "anna", run: 17)
    try state.supervise(hall)
    _ = await state.run("pause", "hall", "--for", "20m", "--reason", "new battery")

    let text = await state.run("why", "hall")
    let json = await state.run("why", "hall", "--json")

    #expect(text.code == 0)
    for part in [
      "hall  \(RecordedState.hall)", "✗ silent/refused since 2026-11-30 13:02:00 +0100", "the end of the spacing",
      "at the earliest (in 1:", "anna (process 4711)", "outcomes:", "was up", "actions:", "pause",
      "\"new battery\": for 20 min",
    ] { #expect(text.output.out.contains(part), "\(part): \(text.output.out)") }
    let object = JSON(parsing: Array(json.output.out.utf8))
    #expect(object?["transitions"]?.array?.compactMap { $0["seq"]?.int } == [1, 3])
    #expect(object?["actions"]?.array?.map { $0["command"]?.string } == ["pause"])
    #expect(object?["held_by"]?["run"]?.int == 17)
  }

  @Test func `why reads the holder from the lock where no supervisor runs`() async throws {
    let state = try await written()
    let mux = try #require(MuxAddress(state.folder.file("mux")))
    let locks = PhoneLocks(folder: state.folder.file("locks"))
    let lease = try await locks.acquire(
      RecordedState.hall, on: mux, as: .current(.hold, reason: "cleaning"), wait: .after(.zero))

    let held = await state.run("why", "hall")
    if case .taken(let taken, _) = lease { taken.release() }
    let free = await state.run("why", "hall")

    #expect(held.output.out.contains(": cleaning"))
    #expect(held.output.out.contains("no supervisor runs"))
    #expect(free.code == 0 && !free.output.out.contains("held by"))
    #expect(await state.run("why", "nobody").code == 2)
  }

  // MARK: - pause and resume

  @Test func `pause and resume stand in the record, with or without a supervisor, and are told by status`() async throws
  {
    let state = try await written()

    let paused = await state.run("pause", "hall", "--for", "20m", "--reason", "battery")
    let json = await state.run("pause", "stairs", "--for", "1h", "--reason", "y", "--json")
    let pause = try await state.reader.pauses()[RecordedState.hall]
    let status = await state.run("status", "--json")
    let resumed = await state.run("resume", "hall")
    let again = await state.run("resume", "hall")

    #expect(paused.code == 0 && paused.output.out.hasPrefix("hall is paused until 20"))
    #expect(pause?.length == .seconds(1_200) && pause?.reason == "battery")
    #expect(JSON(parsing: Array(json.output.out.utf8))?["paused_until"]?.string != nil)
    let object = lines(status).compactMap { JSON(parsing: Array($0.utf8)) }.first { $0["body"]?.string == "hall" }
    #expect(object?["paused_until"]?.string != nil)
    #expect(resumed.output.out == "hall is no longer paused\n" && again.output.out == "hall is not paused\n")
    #expect(try await state.reader.pauses()[RecordedState.hall] == nil)
    #expect(try await state.reader.actions(of: RecordedState.hall).map(\.kind) == [.pause, .resume])
  }

  @Test func `pause begins a record where there is none, for a body of fleet.yaml`() async throws {
    let state = RecordedState()
    let yaml = state.folder.write(
      "version: 1\nbodies: [{udid: \(RecordedState.hall), name: hall}]\n", to: "other.yaml")

    let done = await state.run("pause", "hall", "--for", "5m", "--reason", "x", "--config", yaml)

    #expect(done.code == 0, "\(done.output.err)")
    #expect(try await state.reader.pauses().count == 1)
  }

  @Test func `pause wants a length and a reason, and a body that is known`() async throws {
    let state = try await written()

    #expect(await state.run("pause", "hall", "--reason", "x").code == 2)
    #expect(await state.run("pause", "hall", "--for", "5m").code == 2)
    #expect(await state.run("pause", "hall", "--for", "0s", "--reason", "x").code == 2)
    #expect(await state.run("pause", "nobody", "--for", "5m", "--reason", "x").code == 2)
  }
}
