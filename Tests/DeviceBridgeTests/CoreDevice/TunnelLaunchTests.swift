import Testing
import Transport
import VirtualPhone
import Wire

@testable import DeviceBridge

private let kiosk = LaunchRequest(bundle: "com.example.kiosk")
private let fresh = LaunchRequest(bundle: "com.example.kiosk", fresh: true)

extension Bench {
  fileprivate var launches: [[String: JSON]] {
    fleet.journal.entries().filter { $0.event == "coredevice-launch" }.map(\.details)
  }
  fileprivate var app: KioskApp { fleet.phones[0].app }
}

@Suite struct `a launch through the tunnel` {
  @Test(arguments: ["17.6", "18.5", "26.1", "27.2"])
  func `starts the app with arguments and environment`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()
    try bench.do("kill-app")

    let error = await lane.ending(
      of: LaunchRequest(
        bundle: "com.example.kiosk", arguments: ["-mode", "a b"], environment: [("LANG", "de"), ("EMPTY", "")]))

    #expect(error == nil)
    let launch = try #require(bench.launches.last)
    #expect(launch["arguments"] == ["-mode", "a b"])
    #expect(launch["environment"] == ["LANG": "de", "EMPTY": ""])
    #expect(launch["terminate_existing"] == false)
    #expect(bench.app.processes.values.contains("Kiosk"))
  }

  @Test func `leaves a running one, and ends it where a fresh one is wanted`() async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()
    let before = Set(bench.app.processes.keys)

    #expect(await lane.ending(of: kiosk) == nil)
    let kept = Set(bench.app.processes.keys)
    #expect(await lane.ending(of: fresh) == nil)
    let after = Set(bench.app.processes.keys)

    #expect(kept == before)
    #expect(after.count == 1 && after.isDisjoint(with: before))
    #expect(bench.launches.map { $0["terminate_existing"] } == [false, true])
  }

  @Test(arguments: [
    ("locked", LaunchRefusal.locked), ("not-found", .notInstalled), ("security", .appUntrusted), ("internal", .failed),
    ("empty", .failed), ("not-debuggable", .notDebuggable), ("crash", .appExited),
  ])
  func `H28 H29 H30 H31: is refused by the deepest of the phone's errors`(
    _ kind: String, _ refusal: LaunchRefusal
  ) async throws {
    let bench = try Bench("18.5")
    try bench.do("kill-app")
    try bench.do("launch-fault", ["kind": kind])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == refusal, "\(String(describing: error))")
    #expect(bench.launches.count == 1)
    if kind == "locked" { #expect(error?.detail?.contains("FBSOpenApplicationErrorDomain 7 Locked") == true) }
    if kind == "internal" { #expect(error?.detail?.contains("An internal error occurred") == true) }
    if kind == "not-found" { #expect(error?.detail?.contains("com.example.kiosk") == true) }
  }

  @Test(arguments: [false, true])
  func `H28: ends at its time when the phone says no more, naming the lock only where it is not known`(
    _ unknown: Bool
  ) async throws {
    let bench = try Bench("26.1")
    try bench.do("kill-app")
    try bench.do("launch-fault", ["kind": "silent"])
    if unknown { try bench.do("set-value", ["PasswordProtected": "", "type": "absent"]) }

    let error = try await bench.lane().ending(of: kiosk, by: .after(.seconds(4)))

    #expect(error?.refusal == .failed)
    #expect(error?.detail?.contains("no answer within") == true)
    #expect(error?.detail?.contains("may be locked") == unknown)
  }

  @Test(arguments: ["17.6", "26.1"])
  func `is locked on a locked phone, and ends and starts nothing there`(_ ios: String) async throws {
    let bench = try Bench(ios)
    try bench.do("lock")
    let before = bench.app.processes
    let lane = try await bench.lane()

    let once = await lane.ending(of: kiosk)
    let again = await lane.ending(of: fresh)

    #expect(once?.refusal == .locked && again?.refusal == .locked)
    #expect(bench.app.processes == before)
    #expect(bench.launches.isEmpty)
  }

  @Test func `asks first without ending anything where the lock is not known`() async throws {
    let bench = try Bench("26.1", "26.1")
    for phone in 1...2 { try bench.do("set-value", on: phone, ["PasswordProtected": "", "type": "absent"]) }
    try bench.do("launch-fault", on: 1, ["kind": "locked"])
    let before = bench.app.processes

    let refused = try await bench.lane(1).ending(of: fresh)
    let asked = bench.launches
    let accepted = try await bench.lane(2).ending(of: fresh)

    #expect(refused?.refusal == .locked)
    #expect(asked.map { $0["terminate_existing"] } == [false])
    #expect(bench.app.processes == before)
    #expect(accepted == nil)
    #expect(bench.launches.dropFirst().map { $0["terminate_existing"] } == [false, true])
  }

  @Test func `is not asked of a phone whose lock is not known, where it is for unlocked ones only`() async throws {
    let bench = try Bench("26.1")
    var request = kiosk
    request.unlockedOnly = true
    let lane = try await bench.lane()
    try bench.do("set-value", ["PasswordProtected": "", "type": "absent"])

    let unknown = await lane.ending(of: request)

    #expect(unknown?.refusal == .failed && unknown?.detail?.contains("not asked, since") == true)
    #expect(bench.launches.isEmpty)
  }

  @Test func `H32: is tried once more when the old one took the new one along`() async throws {
    let bench = try Bench("18.5")
    try bench.do("launch-fault", ["kind": "collide"])

    #expect(try await bench.lane().ending(of: fresh) == nil)

    #expect(bench.launches.count == 2)
    #expect(bench.app.processes.count == 1)
  }

  @Test func `is accepted as soon as the app's door answers`() async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()
    _ = await lane.ending(of: kiosk)
    var request = kiosk
    request.door = DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .patient)
    let lists = bench.calls.count { $0 == "listprocesses" }

    #expect(await lane.ending(of: request) == nil)

    // Nobody needed to look whether it lives.
    #expect(bench.calls.count { $0 == "listprocesses" } == lists)
  }

  @Test func `H24 H26: without the image asks for the image, without Developer Mode for that, at once`() async throws {
    let bench = try Bench("17.6")
    try bench.do("unmount")
    let lane = try await bench.lane()

    let image = await lane.ending(of: kiosk)
    try bench.do("developer-mode", on: 1, ["on": "no"])
    let mode = await lane.ending(of: kiosk)

    #expect(image?.refusal == .noDeveloperImage)
    #expect(image?.sentence.contains("fleetctl mount") == true)
    #expect(mode?.refusal == .developerModeOff)
    #expect(bench.launches.isEmpty)
  }

  @Test func `says so when an image is mounted and the service is missing all the same`() async throws {
    let bench = try Bench("18.5")
    try bench.do("remote-service", ["service": "com.apple.coredevice.appservice", "as": "missing"])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == .failed)
    #expect(error?.detail?.contains("though a developer image is mounted") == true)
  }

  @Test func `waits for a service that the list gets only some seconds after the image was mounted`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    try bench.do("remote-service", ["as": "missing"])
    let launch = Task { await lane.ending(of: kiosk) }
    // The question that follows a list without it.
    #expect(await eventually { bench.askedForDeveloperMode })

    try bench.do("remote-service", ["as": "listed"])

    #expect(await launch.value == nil)
  }

  @Test func `waits for the tunnel of a phone that has only just started`() async throws {
    let bench = try Bench("17.6")
    try bench.do(
      "service-fault", ["kind": "refuse", "service": CoreDeviceService.tunnel, "count": "1"])

    #expect(try await bench.lane().ending(of: kiosk) == nil)
  }

  @Test func `asks at once for the image where none is mounted`() async throws {
    let bench = try Bench("17.6")
    try bench.do("unmount")
    try bench.do("remote-service", ["as": "missing"])
    let start = ContinuousClock.now

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == .noDeveloperImage)
    #expect(ContinuousClock.now - start < ServicePatience.span)
  }
}

extension Bench {
  fileprivate var askedForDeveloperMode: Bool {
    count("lockdown-request") { $0["key"] == "DeveloperModeStatus" } > 0
  }
}
