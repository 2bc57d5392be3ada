import DeviceBridge
import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a supervisor among others` {
  @Test func `leaves a phone to a run that holds it, and takes it back when the run lets go`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    #expect(await bed.rows("up"))
    guard case .taken(let lease, _) = try await bed.hold(1) else {
      Issue.record("the phone is free between rounds")
      return
    }

    #expect(await bed.rows("up", "held/run"))
    try bed.do("kill-app")
    #expect(await bed.rounds(4))
    #expect(bed.words() == ["up", "held/run"])
    lease.release()

    #expect(await bed.rows("up", "held/run", "revived"))
    #expect(bed.launches() == 1)
  }

  @Test func `undoes what a killed run has left before anything else, and holds the phone meanwhile`() async throws {
    let bed = try SupervisorBed("18.5")
    try bed.do("kill-app")
    let undo = FakeUndo(bed)
    try await bed.start { $0.leftovers = undo }

    #expect(await eventually { undo.ended.with { $0 } == 1 })
    #expect(undo.wasHeld.with { $0 })
    #expect(bed.words().isEmpty, "nothing is judged before")
    #expect(await bed.rows("revived"))
  }

  @Test func `withholds launches while a pause stands, and sees it begin and end in the record`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    #expect(await bed.rows("up"))
    let record = try await Record.open(bed.recordPath).record
    let pause = Pause(began: LaunchStamp(bed.clock), length: .seconds(3_600), user: "anna", reason: "new window")
    try await record.pause(pause, of: bed.udid(), ActionRow(.pause, at: .zero, udid: bed.udid()), within: .seconds(5))
    try bed.do("kill-app")

    #expect(await bed.rows("up", "paused"))
    #expect(bed.launches() == 0)
    try await record.pause(nil, of: bed.udid(), ActionRow(.resume, at: .zero, udid: bed.udid()), within: .seconds(5))

    #expect(await bed.rows("up", "paused", "revived"))
  }

  @Test func `counts a launch that a command sent as its own, for the spacing`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start(bed.configuration { $0.supervise.spacing = .seconds(15) })
    #expect(await bed.rows("up"))
    try LaunchStampFolder(bed.state).store(LaunchStamp(bed.clock), of: bed.udid())
    try bed.do("kill-app")

    #expect(await bed.rows("up", "silent/refused"))
    #expect(bed.launches() == 0)
    #expect(await bed.rows("up", "silent/refused", "revived"))
  }

  @Test func `stores the stamp before the launch is sent, in the state folder and in the record`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    #expect(await bed.rows("up"))
    try bed.do("kill-app")
    #expect(await bed.rows("up", "revived"))

    let stamp = try LaunchStampFolder(bed.state).last(of: bed.udid())
    let past = try await RecordReader(bed.recordPath).past().1[bed.udid()]
    #expect(stamp != nil)
    #expect(past?.stamp == stamp)
  }

  @Test func `sends no launch where no stamp can be stored, and says that the disk is at fault`() async throws {
    let bed = try SupervisorBed("18.5")
    let books = FailingBooks()
    try await bed.start(books: books) { $0.stamps = FailingStamps() }
    #expect(await bed.rows("up"))
    try bed.do("kill-app")

    #expect(await bed.rows("host-fault/disk", of: nil))
    #expect(await bed.rounds(3))
    #expect(bed.launches() == 0)
    #expect(bed.words() == ["up"])
  }

  @Test func `takes in a phone that is plugged in, and misses one that leaves`() async throws {
    let bed = try SupervisorBed("16.7", "18.5")
    try bed.do("detach", on: 2)
    let supervisor = try await bed.start()
    #expect(await bed.rows("up"))
    #expect(supervisor.bodies().map(\.udid) == [bed.udid(1)])

    try bed.do("attach", on: 2)
    #expect(await bed.rows("up", of: 2))
    #expect(supervisor.bodies().count == 2)
    try bed.do("detach", on: 1)

    #expect(await bed.rows("up", "unreachable/detached"))
  }

  @Test func `has no business with a phone that is seen over the network only`() async throws {
    let bed = try SupervisorBed("16.7", "18.5")
    try bed.do("list-as", on: 2, ["network": "only"])
    let supervisor = try await bed.start()
    #expect(await bed.rows("up"))
    #expect(await bed.rounds(2))

    #expect(supervisor.bodies().map(\.udid) == [bed.udid(1)])
    #expect(bed.connects(2, port: 8127) == 0)
  }

  @Test func `mounts a missing developer image where the configuration says so, and launches then`() async throws {
    let bed = try SupervisorBed("16.7")
    let images = try bed.imageFolder(for: "16.7")
    try bed.do("unmount")
    try await bed.start(bed.configuration { $0.images.mount = .auto }) { $0.images = ImageFolder(path: images) }
    #expect(await bed.rows("up"))
    try bed.do("kill-app")

    #expect(await bed.rows("up", "revived"))
    #expect(
      await eventually {
        (try? await RecordReader(bed.recordPath).actions(of: bed.udid()))?.map(\.kind) == [.mount, .launch]
      })
  }

  @Test func `says in a dry run what it would launch, and launches nothing`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start(books: FleetingBooks()) { $0.isDry = true }
    #expect(await bed.rows("up"))
    try bed.do("kill-app")

    #expect(await eventually { bed.said.with { $0.contains { $0.contains("would be launched") } } })
    #expect(await bed.rounds(2))
    #expect(bed.launches() == 0)
    #expect(bed.words() == ["up"])
    #expect(bed.said.with { $0.count } == 1, "once a spacing")
    #expect(try LaunchStampFolder(bed.state).last(of: bed.udid()) == nil)
  }

  @Test func `takes another configuration: names, grace and bodies`() async throws {
    let bed = try SupervisorBed("16.7", "18.5")
    let supervisor = try await bed.start()
    #expect(await bed.rows("up"))
    #expect(await bed.rows("up", of: 2))
    var next = bed.configuration()
    next.bodies = [BodyEntry(udid: bed.udid(2), name: "hall", under: next)]
    supervisor.apply(next, token: { _ in nil }, images: nil)

    #expect(await eventually { supervisor.bodies().map(\.body) == ["hall"] })
    try bed.do("kill-app", on: 1)
    try bed.do("kill-app", on: 2)
    #expect(await bed.rows("up", "revived", of: 2))
    #expect(bed.rows.with { $0.last?.body } == "hall")
    #expect(bed.words(1) == ["up"], "its latest row is kept, and no other is written")
    supervisor.apply(bed.configuration(), token: { _ in nil }, images: nil)
    #expect(await bed.rows("up", "revived", of: 1))
  }

  @Test func `lists a body that is out of service, and asks it nothing`() async throws {
    let bed = try SupervisorBed("16.7")
    var configuration = bed.configuration()
    var entry = BodyEntry(udid: bed.udid(), name: "stairs", under: configuration)
    entry.outOfService = OutOfService(reason: "battery", until: nil)
    configuration.bodies = [entry]
    let supervisor = try await bed.start(configuration)
    #expect(await bed.rounds(2))

    #expect(supervisor.bodies().map(\.outOfService) == ["battery"])
    #expect(bed.connects(1, port: 8127) == 0)
  }

  @Test func `writes no row after a restart for what has not changed, and knows the launch of before`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    #expect(await bed.rows("up"))
    try bed.do("kill-app")
    #expect(await bed.rows("up", "revived"))
    bed.stop()

    let supervisor = try await bed.start()
    #expect(await bed.rounds(2))
    #expect(bed.words() == ["up", "revived"])
    let body = try #require(supervisor.bodies().first)
    #expect(body.launches == 1)
    #expect(body.revivals == 1)
    #expect(body.words == OutcomeWords(.revived))
  }

  @Test func `begins a record anew that somebody has removed, and says so in one row`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    // The row is in the old record, and does not come into the new one.
    #expect(await eventually { bed.kept.with { $0.map(\.words.text) } == ["up"] })
    for end in ["", "-wal", "-shm"] { unlink(bed.recordPath + end) }
    try bed.do("kill-app")

    #expect(await bed.rows("up", "revived"))
    let isAnew = await eventually {
      let rows = try? await RecordReader(bed.recordPath).outcomes()
      return rows?.map(\.words.text) == ["up", "revived"] && rows?.first?.udid == nil
    }
    let rows = try? await RecordReader(bed.recordPath).outcomes()
    #expect(isAnew, "\(rows ?? [])")
  }
}

/// Leaves one thing to be undone: the lock of the phone is looked at while it is.
private final class FakeUndo: LeftoverUndoing {
  private let bed: SupervisorBed
  let ended = Guarded(0)
  let wasHeld = Guarded(false)

  init(_ bed: SupervisorBed) { self.bed = bed }

  func hasLeftovers(of udid: UDID) -> Bool { ended.with { $0 } == 0 }

  func undo(_ body: Body, over lane: PhoneLane, notice: @escaping @Sendable (String) -> Void) async -> String? {
    let holder = await bed.locks.holder(of: body.udid, on: bed.mux)
    wasHeld.with { $0 = holder?.purpose == .supervise }
    try? await ContinuousClock().sleep(for: .milliseconds(500))
    ended.with { $0 += 1 }
    return nil
  }
}

/// A record whose disk is full.
private final class FailingBooks: SupervisorBooks {
  private let trouble = RecordTrouble.full(path: "/full")
  func past() -> (FleetWatch.Past, [UDID: BodyPast]) { (FleetWatch.Past(), [:]) }
  func store(_ entry: LedgerEntry, within limit: Duration) async throws(RecordTrouble) { throw trouble }
  func storeStamp(
    _ stamp: LaunchStamp, memory: WatchMemory, of udid: UDID, within limit: Duration
  ) async throws(RecordTrouble) { throw trouble }
  func pauses() -> [UDID: Pause] { [:] }
  func dataVersion(within limit: Duration) -> Int { 0 }
  func rows(after seq: Int, limit: Int) -> [OutcomeReport] { [] }
  func letGo(now: Duration, within limit: Duration) {}
  func notices() -> [String] { [] }
}

private struct FailingStamps: LaunchStamps {
  func store(_ stamp: LaunchStamp, of udid: UDID) throws(HostTrouble) { throw .state(path: "/full", code: ENOSPC) }
  func last(of udid: UDID) -> LaunchStamp? { nil }
}
