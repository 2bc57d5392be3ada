import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

/// The watch of a shelf of phones whose doors answer, over a record on disk; its clock goes by hand.
private struct WatchedShelf {
  let record: Record
  private(set) var watch: FleetWatch
  private(set) var now = Self.moment(0)
  private let phones: [UDID]
  private var generator = SeededRandom(seed: 48)
  /// Phones whose door is silent.
  var silent: Set<UDID> = []
  /// How long a write is waited for.
  var patience = Duration.seconds(20)
  /// Launches that were asked for.
  private(set) var launches = 0
  /// Rows that could not be stored when they were to be.
  private(set) var troubles: [HostTrouble] = []

  private static func moment(_ seconds: Int) -> WatchTime {
    let awake = Duration.seconds(1_000 + seconds)
    return WatchTime(host: HostMoment(awake: awake, elapsed: awake), wall: TestEntry.noon + .seconds(seconds))
  }

  init(_ count: Int, _ record: Record) {
    self.record = record
    phones = (0..<count).map { UDID("00008110-\(String(0x000A_1B2C_3D4E_0000 + $0, radix: 16))") }
    watch = FleetWatch(WatchRules(), boot: "boot", at: now)
    for (index, udid) in phones.enumerated() {
      watch.add(udid, name: "body\(index)", WatchRules(), at: now)
    }
  }

  /// All phones are there.
  mutating func attach() async {
    for (index, udid) in phones.enumerated() {
      await carryOut(watch.handle(.body(udid, .attached(device: index + 1, .usb, port: nil)), at: now))
    }
  }

  var first: UDID { phones[0] }

  /// Withholds launches on a phone.
  mutating func pause(_ udid: UDID, for length: Duration) async {
    let stamp = LaunchStamp(wall: now.wall, boot: "boot", elapsed: now.elapsed)
    let pause = Pause(began: stamp, length: length, user: "anna", reason: "new battery")
    await carryOut(watch.handle(.body(udid, .paused(pause)), at: now))
  }

  /// Looks whether the record is still there, as a supervisor does each second.
  mutating func lose() async {
    do throws(RecordTrouble) { _ = try await record.dataVersion(within: patience) } catch {
      guard case .begunAnew(_, let last) = error else { return }
      await carryOut(watch.handle(.recordBegunAnew(lastSeq: last), at: now))
    }
  }

  /// Lets so much time pass, second by second.
  mutating func go(_ span: Duration, step: Int = 1) async {
    let end = now.awake + span
    var second = Int((now.awake - .seconds(1_000)).components.seconds)
    while now.awake < end {
      second += step
      now = Self.moment(second)
      await carryOut(watch.handle(.tick, at: now))
      for udid in phones where watch.wake(of: udid).map({ $0 <= now.awake }) ?? false {
        await carryOut(watch.handle(.body(udid, .tick), at: now))
      }
    }
  }

  private mutating func carryOut(_ commands: [FleetCommand]) async {
    var waiting = commands
    while !waiting.isEmpty {
      switch waiting.removeFirst() {
      case .store(let entry): waiting += await store(entry)
      case .body(let udid, let command):
        guard let event = answer(command, of: udid) else { continue }
        waiting += watch.handle(.body(udid, event), at: now)
      }
    }
  }

  private mutating func store(_ entry: LedgerEntry) async -> [FleetCommand] {
    do throws(RecordTrouble) {
      try await record.store(entry, within: patience)
      return watch.handle(.stored, at: now)
    } catch {
      troubles.append(.record(error))
      return watch.handle(.notStored(.record(error)), at: now)
    }
  }

  private mutating func answer(_ command: BodyCommand, of udid: UDID) -> BodyEvent? {
    switch command {
    case .askHold: return .hold(.free)
    case .step(.probe, _):
      let milliseconds = Int.random(in: 5...900, using: &generator)
      if silent.contains(udid) { return .step(.door(.silent(.refused, detail: "after \(milliseconds) ms"))) }
      return .step(.door(.answered(detail: "it answered 200 in \(milliseconds) ms")))
    case .step(.openSession, _): return .step(.session(nil))
    case .step(.askHands, _): return .step(.hands(.absent))
    case .step(.readLock, _): return .step(.lock(LockReading(state: .unlocked, why: "it said so")))
    case .step(.takeLease, _): return .step(.lease(.taken(waited: false)))
    case .step(.storeStamp, _), .storeStamp: return .step(.stamp(nil))
    case .step(.launch, _):
      launches += 1
      silent.remove(udid)
      return .step(.launch(nil))
    case .step(.rest, _): return .step(.rested)
    case .readFacts: return .facts(LaunchFacts())
    case .mountImage: return .mounted(.failed(detail: "no image"))
    case .lookAtPort: return .port(showsPhone: nil)
    case .letGo, .row, .remember, .tellHost, .act: return nil
    }
  }
}

@Suite(.serialized) struct `a supervisor's record` {
  private static let limit = Duration.seconds(20)

  private func opened(_ test: TestRecord) async throws -> Record {
    try await Record.open(RecordOpening(path: test.path, patience: .milliseconds(20)), within: Self.limit).record
  }

  @Test func `H48: has one row for each of twenty healthy phones, however their answers and times differ`() async throws
  {
    let test = try TestRecord()
    var shelf = WatchedShelf(20, try await opened(test))

    await shelf.attach()
    // A day more of the same is as many rows; the clock here goes round by round.
    await shelf.go(.seconds(4 * 3_600), step: 10)

    let rows = try await test.reader.outcomes()
    #expect(rows.compactMap(\.seq) == Array(1...20))
    #expect(Set(rows.compactMap(\.udid)).count == 20 && rows.allSatisfy { $0.words == OutcomeWords(.up) })
    #expect((RecordFile.size(test.path) ?? 0) < 1 << 20)
  }

  @Test func `H49: keeps a change in memory while another process holds the lock, and has it with its own time`()
    async throws
  {
    let test = try TestRecord()
    var shelf = WatchedShelf(2, try await opened(test))
    await shelf.attach()
    await shelf.go(.seconds(60))
    let other = try Database(test.path, .writing, patience: .seconds(5))
    try other.run("BEGIN IMMEDIATE")
    shelf.patience = .milliseconds(40)

    shelf.silent = [shelf.first]
    let beginning = shelf.now.wall
    await shelf.go(.seconds(600))
    let host = shelf.watch.host.outcome
    try other.run("ROLLBACK")
    shelf.patience = Self.limit
    let end = shelf.now.wall
    await shelf.go(.seconds(300))

    let rows = try await test.reader.outcomes()
    #expect(host == OutcomeWords(.hostFault, .disk))
    #expect(shelf.troubles.contains { $0.words == OutcomeWords(.hostFault, .disk) })
    #expect(rows.compactMap(\.seq) == rows.indices.map { $0 + 1 })
    let revived = rows.filter { $0.words == OutcomeWords(.revived) }
    #expect(revived.count == 1 && shelf.launches == 1)
    #expect(revived.allSatisfy { $0.at > beginning + .seconds(290) && $0.at < end })
    #expect(rows.last?.words == OutcomeWords(.up) && rows.last?.udid == nil)
  }

  @Test func `H49: has all that happened while the disk was full, in order, once there is room`() async throws {
    let test = try TestRecord()
    var shelf = WatchedShelf(3, try await opened(test))
    await shelf.attach()
    await shelf.go(.seconds(60))
    try await shelf.record.perform(within: Self.limit) { database throws(RecordTrouble) in
      // No page more than there is, and none free: rows of some length do not fit.
      let pages = try database.number("PRAGMA page_count") ?? 0
      try database.run("PRAGMA max_page_count = \(pages)")
    }
    shelf.patience = .milliseconds(40)
    let filler = await fill(shelf.record)

    shelf.silent = [shelf.first]
    await shelf.go(.seconds(400))
    let during = try await test.reader.outcomes().count
    try await shelf.record.perform(within: Self.limit) { database throws(RecordTrouble) in
      try database.run("PRAGMA max_page_count = 100000")
    }
    shelf.patience = Self.limit
    await shelf.go(.seconds(300))

    let rows = try await test.reader.outcomes()
    #expect(filler > 0)
    // What is as short as a row may still have found a place; not all of them did.
    #expect(during < rows.count)
    #expect(shelf.troubles.contains(.record(.full(path: test.path))))
    #expect(rows.compactMap(\.seq) == rows.indices.map { $0 + 1 })
    #expect(rows.contains { $0.words == OutcomeWords(.revived) })
    #expect(rows.contains { $0.words == OutcomeWords(.hostFault, .disk) && $0.udid == nil })
    #expect(shelf.watch.unstored == 0)
  }

  @Test func `H50: that stands still for minutes makes no phone silent and launches nothing`() async throws {
    let test = try TestRecord()
    var shelf = WatchedShelf(4, try await opened(test))
    let disk = Latch()
    shelf.record.enqueue { _ in _ = disk.wait(until: .after(Self.limit)) }
    shelf.patience = .milliseconds(5)

    await shelf.attach()
    let answered = shelf.now.wall
    await shelf.go(.seconds(330))
    let outcomes = shelf.watch.bodies.map(\.outcome)
    let silences = shelf.watch.bodies.map { $0.present(at: shelf.now).silent }
    disk.open()
    shelf.patience = Self.limit
    await shelf.go(.seconds(60))

    #expect(outcomes == Array(repeating: OutcomeWords(.up), count: 4))
    #expect(silences == Array(repeating: nil, count: 4) && shelf.launches == 0)
    let rows = try await test.reader.outcomes().filter { $0.udid != nil }
    // Their own time, minutes before they could be stored.
    #expect(rows.count == 4 && rows.allSatisfy { $0.at - answered < .seconds(20) })
  }

  @Test func `says of a pause that withheld a launch whose it is, and why`() async throws {
    let test = try TestRecord()
    var shelf = WatchedShelf(1, try await opened(test))
    await shelf.attach()
    await shelf.go(.seconds(60))

    await shelf.pause(shelf.first, for: .seconds(600))
    shelf.silent = [shelf.first]
    await shelf.go(.seconds(700))

    let rows = try await test.reader.outcomes()
    #expect(rows.map(\.words.kind) == [.up, .paused, .revived])
    #expect(rows[1].detail == "launches are paused by anna: new battery")
  }

  @Test func `begun anew knows what stood, so that a restart writes no row`() async throws {
    let test = try TestRecord()
    var shelf = WatchedShelf(2, try await opened(test))
    await shelf.attach()
    await shelf.go(.seconds(60))
    unlink(test.path)

    await shelf.lose()
    await shelf.go(.seconds(60))
    let (host, bodies) = try await test.reader.past()

    let rows = try await test.reader.outcomes()
    #expect(rows.count == 1 && rows.first?.udid == nil && host.lastSeq == 1)
    #expect(bodies.count == 2 && bodies.values.allSatisfy { $0.outcome == OutcomeWords(.up) && $0.since != nil })
    #expect(bodies[shelf.first]?.memory.revision == shelf.watch.body(shelf.first)?.memory.revision)
  }

  /// Writes actions until not one more fits.
  private func fill(_ record: Record) async -> Int {
    var written = 0
    let action = ActionRow(.hold, at: TestEntry.noon, reason: String(repeating: "x", count: 200))
    for _ in 0..<10_000 {
      do { try await record.act(action, within: .milliseconds(40)) } catch { return written }
      written += 1
    }
    return 0
  }
}
