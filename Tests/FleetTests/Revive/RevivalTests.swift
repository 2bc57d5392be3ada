import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import Fleet

/// Virtual phones behind a socket, locks and state in a folder of their own, and revivals through the real bridge.
private final class Shelf: Sendable {
  let fleet: VirtualFleet
  let scratch: Scratch
  let locks: PhoneLocks
  let stamps: LaunchStampFolder
  var mux: MuxAddress { .unix(path: "\(scratch.path)/mux") }

  init(_ ios: String = "16.7", appRuns: Bool = false) throws {
    // As the executable does: OpenSSL writes to whatever has just been closed.
    signal(SIGPIPE, SIG_IGN)
    scratch = try Scratch()
    var options = VirtualFleet.Options(address: .unix(path: "\(scratch.path)/mux"))
    options.phones = 1
    options.ios = [ios]
    fleet = try VirtualFleet(options)
    locks = PhoneLocks(folder: "\(scratch.path)/locks")
    stamps = LaunchStampFolder(StateFolder(path: "\(scratch.path)/state"))
    try `do`("mount")
    if !appRuns { try `do`("kill-app") }
  }

  deinit { fleet.stop() }

  func `do`(_ action: String, _ values: [String: String] = [:]) throws { try fleet.perform(action, on: "1", values) }

  var udid: UDID { fleet.phones[0].udid }
  var launchesAsked: Int { fleet.journal.entries().count { $0.event == "launch-requested" } }

  /// - Parameter phone: as the mux listed it; the one that it lists now if none is given.
  func revive(
    _ change: (inout Body) -> Void = { _ in }, rules: ((inout ReviveRules) -> Void)? = nil,
    stamps: (any LaunchStamps)? = nil, onWait: @escaping @Sendable (Holder) -> Void = { _ in }
  ) async throws -> OutcomeReport {
    var configuration = FleetConfiguration()
    configuration.app.bundle = "com.example.kiosk"
    configuration.supervise.answerWithin = .seconds(3)
    let listed = try await Mux(address: mux).phones(by: .after(.seconds(20)))
    var body = Body(BodyEntry(udid: udid, name: "hall", under: configuration), phone: listed.first)
    change(&body)
    let lane = body.phone.map { PhoneLane($0, mux: mux) }
    defer { lane?.close() }
    let settings = PhoneMeans.Settings(mux: mux, bundle: "com.example.kiosk", holder: .current(.revive))
    let means = PhoneMeans(body, over: lane, settings, locks: locks, stamps: stamps ?? self.stamps, onWait: onWait)
    var allowed = ReviveRules(body)
    rules?(&allowed)
    return try await Revival(body, rules: allowed, means: means).run()
  }

  /// Whether the lock is free; it must be so after each revival.
  func isFree() async throws -> Bool {
    guard case .taken(let lease, _) = try await locks.acquire(udid, on: mux, as: Holder(pid: 1), wait: .after(.zero))
    else { return false }
    lease.release()
    return true
  }
}

/// A disk that takes nothing.
private struct FullDisk: LaunchStamps {
  func store(_ stamp: LaunchStamp, of udid: UDID) throws(HostTrouble) { throw .state(path: "/full", code: ENOSPC) }
  func last(of udid: UDID) throws(HostTrouble) -> LaunchStamp? { nil }
}

@Suite struct `a body that is revived through the bridge` {
  @Test func `is up when its door answers, and nothing is done to it`() async throws {
    let shelf = try Shelf(appRuns: true)

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.up))
    #expect(report.silent == nil)
    #expect(!report.launched)
    #expect(shelf.launchesAsked == 0)
  }

  @Test func `1: is revived when its app has died, and the launch is stamped`() async throws {
    let shelf = try Shelf()

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.revived), "\(report.json.line)")
    #expect(report.launched)
    #expect(try #require(report.silent) > .zero)
    #expect(shelf.launchesAsked == 1)
    #expect(try shelf.stamps.last(of: shelf.udid)?.boot == SystemClock().boot)
    #expect(try await shelf.isFree())
  }

  @Test func `is revived when its app is suspended: the old one is ended first`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("suspend")

    let report = try await shelf.revive { $0.supervise.answerWithin = .seconds(1) }

    #expect(report.words == OutcomeWords(.revived), "\(report.json.line)")
    #expect(try await shelf.revive().words == OutcomeWords(.up))
  }

  @Test func `H32: is revived when a launch meets the end of the old app`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("suspend")
    try shelf.do("launch-fault", ["kind": "collide"])

    let report = try await shelf.revive { $0.supervise.answerWithin = .seconds(1) }

    #expect(report.words == OutcomeWords(.revived), "\(report.json.line)")
  }

  @Test func `4: is locked when it asks for its passcode, and gets no launch`() async throws {
    let shelf = try Shelf()
    try shelf.do("lock")

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.locked, .passcode))
    #expect(!report.launched)
    #expect(shelf.launchesAsked == 0)
    #expect(try shelf.stamps.last(of: shelf.udid) == nil)
    #expect(try await shelf.isFree())
  }

  @Test func `8: is locked when it refuses the launch as Locked, whatever the lock value says`() async throws {
    let shelf = try Shelf()
    try shelf.do("launch-fault", ["kind": "locked"])

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.locked, .passcode))
    #expect(report.launched)
    #expect(shelf.launchesAsked == 1)
  }

  @Test func `23: is locked before its first unlock`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("reboot")

    #expect(try await shelf.revive().words == OutcomeWords(.locked, .beforeFirstUnlock))
  }

  @Test func `28 and 29: needs trust only where its door is silent`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("trust", ["mode": "forget"])

    #expect(try await shelf.revive().words == OutcomeWords(.up))
    try shelf.do("kill-app")
    #expect(try await shelf.revive().words == OutcomeWords(.untrusted, .stale))
    #expect(shelf.launchesAsked == 0)
  }

  @Test func `32: is refused a launch while its app is not installed`() async throws {
    let shelf = try Shelf()
    try shelf.do("uninstall-app")

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.launchRefused, .notInstalled))
    #expect(!report.launched)
    #expect(report.sentence?.contains("com.example.kiosk") == true)
    try shelf.do("install-app")
    #expect(try await shelf.revive().words == OutcomeWords(.revived))
  }

  @Test func `33: is up when its door answers with any status`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("token", ["value": "secret"])

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.up))
    #expect(report.detail?.contains("401") == true)
  }

  @Test func `34: was launched without an answer when the door only half answers`() async throws {
    let shelf = try Shelf()
    try shelf.do("door-fault", ["kind": "raw", "text": #"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n{"ok""#])

    let report = try await shelf.revive { $0.supervise.answerWithin = .seconds(1) }

    #expect(report.words == OutcomeWords(.launchedNoAnswer, .badReply), "\(report.json.line)")
    #expect(report.launched)
  }

  @Test func `35 and 46: is left alone while hands are there, or may be`() async throws {
    let shelf = try Shelf()
    try shelf.do("hands-on")
    #expect(try await shelf.revive().words == OutcomeWords(.leftAlone, .hands))
    try shelf.do("hands-on", ["mode": "mute"])

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.leftAlone, .hands))
    #expect(report.detail?.contains("neither refused nor answered") == true)
    #expect(shelf.launchesAsked == 0)
    try shelf.do("hands-off")
    #expect(try await shelf.revive().words == OutcomeWords(.revived))
  }

  @Test func `38: is left to whoever holds it, and told who that is`() async throws {
    let shelf = try Shelf()
    let run = Holder(pid: 4_711, user: "anna", purpose: .run, run: 17)
    guard
      case .taken(let lease, _) = try await shelf.locks.acquire(
        shelf.udid, on: shelf.mux, as: run, wait: .after(.zero))
    else { throw Trouble("not free") }

    let report = try await shelf.revive()

    #expect(report.words == OutcomeWords(.held, .run))
    #expect(report.detail == "held by run 17 of anna (process 4711)")
    #expect(shelf.launchesAsked == 0)
    lease.release()
    #expect(try await shelf.revive().words == OutcomeWords(.revived))
  }

  @Test func `is waited for while another revival has it, and asked again after that`() async throws {
    let shelf = try Shelf()
    let supervisor = Holder(pid: 4_711, purpose: .supervise)
    guard
      case .taken(let lease, _) = try await shelf.locks.acquire(
        shelf.udid, on: shelf.mux, as: supervisor, wait: .after(.zero))
    else { throw Trouble("not free") }
    let told = Latch()
    let reviving = Task { try await shelf.revive(onWait: { if $0 == supervisor { told.open() } }) }
    #expect(await eventually { told.wait(until: .after(.zero)) })

    try shelf.do("launch-app")
    lease.release()

    let report = try await reviving.value
    #expect(report.words == OutcomeWords(.up), "\(report.json.line)")
    #expect(try #require(report.silent) > .zero)
    #expect(shelf.launchesAsked == 0)
  }

  @Test func `41: needs its developer image`() async throws {
    let shelf = try Shelf()
    try shelf.do("unmount")

    #expect(try await shelf.revive().words == OutcomeWords(.launchRefused, .noDeveloperImage))
  }

  @Test func `44: can't be launched on iOS 17.0 to 17.3`() async throws {
    let shelf = try Shelf("17.0")

    let report = try await shelf.revive()

    #expect(report.words.kind == .launchRefused)
    #expect(!report.launched)
  }

  @Test func `gets no launch that could not be stamped`() async throws {
    let shelf = try Shelf()

    let report = try await shelf.revive(stamps: FullDisk())

    #expect(report.words == OutcomeWords(.hostFault, .disk))
    #expect(report.words.reviveExitCode == .harness)
    #expect(shelf.launchesAsked == 0)
  }

  @Test func `was launched without an answer when its app ends at once`() async throws {
    let shelf = try Shelf()
    try shelf.do("launch-fault", ["kind": "crash"])

    #expect(try await shelf.revive().words == OutcomeWords(.launchedNoAnswer, .appExited))
  }

  @Test func `is unreachable when it is not there, and when the daemon is not`() async throws {
    let shelf = try Shelf(appRuns: true)

    #expect(try await shelf.revive { $0.phone = nil }.words == OutcomeWords(.unreachable, .detached))
    let report = try await shelf.revive { body in
      shelf.fleet.stop()
      body.name = "gone"
    }
    #expect(report.words == OutcomeWords(.unreachable, .noUsbmuxd))
    #expect(report.words.reviveExitCode == .harness)
  }

  @Test func `lets go of the phone at its end, not when its means are forgotten`() async throws {
    let shelf = try Shelf()
    try shelf.do("unmount")
    let phone = try #require(try await Mux(address: shelf.mux).phones(by: .after(.seconds(20))).first)
    let body = Body(BodyEntry(udid: shelf.udid, under: FleetConfiguration()), phone: phone)
    let lane = PhoneLane(phone, mux: shelf.mux)
    defer { lane.close() }
    let means = PhoneMeans(
      body, over: lane, .init(mux: shelf.mux, bundle: "com.example.kiosk", holder: .current(.revive)),
      locks: shelf.locks, stamps: shelf.stamps)

    let report = try await Revival(body, means: means).run()

    #expect(report.words == OutcomeWords(.launchRefused, .noDeveloperImage))
    #expect(try await shelf.isFree())
    withExtendedLifetime(means) {}
  }

  @Test func `lets go of the phone when it is interrupted`() async throws {
    let shelf = try Shelf(appRuns: true)
    try shelf.do("suspend")
    let reviving = Task { try await shelf.revive { $0.supervise.answerWithin = .seconds(600) } }
    #expect(
      await eventually {
        shelf.fleet.journal.entries().contains { $0.event == "mux-request" && $0.details["request"] == "Connect" }
      })

    reviving.cancel()

    await #expect(throws: RevivalError.interrupted) { try await reviving.value }
    #expect(try await shelf.isFree())
    #expect(shelf.launchesAsked == 0)
  }
}
