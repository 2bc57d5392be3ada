@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

private let kiosk = LaunchRequest(bundle: "com.example.kiosk")

extension Bench {
  fileprivate var starts: [JournalEntry] { fleet.journal.entries().filter { $0.event == "launch-requested" } }

  /// The debug services' names that lockdown was asked for.
  fileprivate var debugServices: [String] {
    fleet.journal.entries().compactMap { $0.event == "lockdown-request" ? $0.details["service"]?.string : nil }
      .filter { $0.contains("debugserver") }
  }
}

@Suite struct `an installed app` {
  @Test(arguments: ["15.8", "16.7", "17.6", "18.5", "26.1"])
  func `is described on each iOS, and one that is not there is not`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()

    let app = try await lane.app("com.example.kiosk", by: .patient)
    let none = try await lane.app("com.example.none", by: .patient)

    #expect(app?.version == "3.2.0")
    #expect(app?.build == "412")
    #expect(app?.executablePath?.hasSuffix(".app/\(app?.executable ?? "?")") == true)
    #expect(app?.info["NSCameraUsageDescription"]?.string != nil)
    #expect(none == nil)
  }

  @Test(arguments: ["15.8", "16.7", "17.6", "18.5", "26.1"])
  func `runs or does not, on each iOS`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()
    let executable = try #require(try await lane.app("com.example.kiosk", by: .patient)?.executable)

    let before = try await lane.isRunning(executable: executable, by: .patient)
    try bench.do("kill-app")
    let after = try await lane.isRunning(executable: executable, by: .patient)

    #expect(before)
    #expect(!after)
  }

  @Test func `is found in the list under a name that the kernel has cut`() {
    #expect(PhoneWork.isName("Kiosk", of: "Kiosk"))
    #expect(PhoneWork.isName("KioskWithALongNa", of: "KioskWithALongName"))
    #expect(!PhoneWork.isName("Kiosk", of: "KioskWithALongName"))
  }
}

@Suite struct `a launch on iOS 16 and older` {
  @Test(arguments: ["15.8", "16.7"])
  func `starts the app with arguments and environment, and leaves it running`(_ ios: String) async throws {
    let bench = try Bench(ios)
    try bench.do("kill-app")
    let lane = try await bench.lane()
    let request = LaunchRequest(
      bundle: "com.example.kiosk", arguments: ["-flag", "a,b $#*", "ü", ""],
      environment: [("FLAG", "YES"), ("EMPTY", ""), ("SUM", "1=1")])

    #expect(await lane.ending(of: request) == nil)

    lane.close()
    #expect(bench.fleet.phones[0].app.processes.values.contains("Kiosk"))
    #expect(bench.fleet.phones[0].app.isActive)
    #expect(bench.starts.count == 1)
    #expect(bench.starts.first?.details["arguments"] == ["-flag", "a,b $#*", "ü", ""])
    #expect(bench.starts.first?.details["environment"] == ["FLAG": "YES", "EMPTY": "", "SUM": "1=1"])
    #expect(bench.debugServices.count <= 2)
  }

  @Test(arguments: ["15.8", "16.7"])
  func `ends a running one first`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let app = bench.fleet.phones[0].app
    let before = Set(app.processes.filter { $0.value == "Kiosk" }.keys)

    #expect(try await bench.lane().ending(of: kiosk) == nil)

    let after = Set(app.processes.filter { $0.value == "Kiosk" }.keys)
    #expect(before.count == 1)
    #expect(after.count == 1)
    #expect(after.isDisjoint(with: before))
  }

  @Test func `ends a stopped one first`() async throws {
    let bench = try Bench("16.7")
    try bench.do("suspend")

    #expect(try await bench.lane().ending(of: kiosk) == nil)
    #expect(bench.fleet.phones[0].app.isActive)
  }

  @Test(arguments: [
    (true, ["com.apple.debugserver.DVTSecureSocketProxy"]),
    (false, ["com.apple.debugserver.DVTSecureSocketProxy", "com.apple.debugserver"]),
  ])
  func `H27: asks for the secure name first and for the plain one after it`(_ secure: Bool, _ names: [String])
    async throws
  {
    let bench = try Bench("15.8")
    try bench.do("kill-app")
    if !secure {
      try bench.do(
        "lockdown-error", ["error": "InvalidService", "service": "com.apple.debugserver.DVTSecureSocketProxy"])
    }

    #expect(try await bench.lane().ending(of: kiosk) == nil)

    #expect(bench.debugServices == names)
  }

  @Test(arguments: [
    ("locked", LaunchRefusal.locked), ("not-found", .notInstalled), ("security", .appUntrusted), ("internal", .failed),
    ("empty", .failed), ("not-debuggable", .notDebuggable), ("crash", .appExited),
  ])
  func `H28 H29 H30 H31: is refused by the phone's own text`(_ kind: String, _ refusal: LaunchRefusal) async throws {
    let bench = try Bench("16.7")
    try bench.do("kill-app")
    try bench.do("launch-fault", ["kind": kind])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == refusal)
    #expect(bench.starts.count == 1)
    if kind == "internal" { #expect(error?.detail == "An internal error occurred") }
  }

  @Test(arguments: [false, true])
  func `H28: ends at its time when the phone says no more, naming the lock only where it is not known`(
    _ unknown: Bool
  ) async throws {
    let bench = try Bench("16.7")
    try bench.do("kill-app")
    try bench.do("launch-fault", ["kind": "silent"])
    if unknown { try bench.do("set-value", ["PasswordProtected": "", "type": "absent"]) }
    let start = ContinuousClock.now

    let error = try await bench.lane().ending(of: kiosk, by: .after(.seconds(4)))

    #expect(error?.refusal == .failed)
    #expect(error?.detail?.contains("may be locked") == unknown)
    #expect(ContinuousClock.now - start < .seconds(8))
  }

  @Test(arguments: ["15.8", "16.7"], [true, false])
  func `is locked on a locked phone, and ends and starts nothing there`(_ ios: String, _ runs: Bool) async throws {
    let bench = try Bench(ios)
    let app = bench.fleet.phones[0].app
    if !runs { try bench.do("kill-app") }
    try bench.do("lock")
    let before = app.processes

    let once = try await bench.lane().ending(of: kiosk)
    let fresh = try await bench.lane().ending(of: LaunchRequest(bundle: "com.example.kiosk", fresh: true))

    #expect(once?.refusal == .locked && fresh?.refusal == .locked)
    #expect(app.processes == before)
    #expect(bench.debugServices.isEmpty)
  }

  @Test func `ends nothing beforehand where the lock is not known, and is tried all the same`() async throws {
    let bench = try Bench("16.7", "16.7")
    for phone in 1...2 { try bench.do("set-value", on: phone, ["PasswordProtected": "", "type": "absent"]) }
    try bench.do("launch-fault", on: 1, ["kind": "locked"])
    let before = bench.fleet.phones[0].app.processes

    let refused = try await bench.lane(1).ending(of: kiosk)
    let accepted = try await bench.lane(2).ending(of: kiosk)

    #expect(refused?.refusal == .locked)
    #expect(bench.fleet.phones[0].app.processes == before)
    #expect(accepted == nil)
    #expect(bench.starts.count == 2)
  }

  @Test func `is not asked of a phone whose lock is not known, where it is for unlocked ones only`() async throws {
    let bench = try Bench("16.7")
    var request = kiosk
    request.unlockedOnly = true
    let lane = try await bench.lane()
    try bench.do("set-value", ["PasswordProtected": "", "type": "absent"])

    let unknown = await lane.ending(of: request)

    #expect(unknown?.refusal == .failed && unknown?.detail?.contains("the phone does not tell") == true)
    #expect(bench.starts.isEmpty)
    try bench.do("set-value", ["PasswordProtected": "false", "type": "boolean"])
    #expect(await lane.ending(of: request) == nil)
  }

  @Test func `H30: of an app that is not installed starts nothing`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    let error = await lane.ending(of: LaunchRequest(bundle: "com.example.Hello"))

    #expect(error == .launchRefused(lane.udid, .notInstalled, detail: "com.example.Hello"))
    #expect(bench.starts.isEmpty)
    #expect(bench.debugServices.isEmpty)
  }

  @Test func `H24 H26: without the image asks for the image, without Developer Mode for that`() async throws {
    let bench = try Bench("16.7", "15.8")
    for phone in 1...2 { try bench.do("unmount", on: phone) }
    try bench.do("developer-mode", on: 2, ["on": "no"])

    let image = try await bench.lane(1).ending(of: kiosk)
    try bench.do("developer-mode", on: 1, ["on": "no"])
    let mode = try await bench.lane(1).ending(of: kiosk)
    let old = try await bench.lane(2).ending(of: kiosk)

    #expect(image?.refusal == .noDeveloperImage)
    #expect(image?.sentence.contains("fleetctl mount") == true)
    #expect(mode?.refusal == .developerModeOff)
    // Before 16 there is no such switch.
    #expect(old?.refusal == .noDeveloperImage)
  }

  @Test(arguments: ["17.0"])
  func `H24: is not from 17.0 to 17.3, at once and without a word of mounting`(_ ios: String) async throws {
    let bench = try Bench(ios)

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == .notOnThisIOS)
    #expect(error?.sentence.contains("mount") == false)
    #expect(bench.debugServices.isEmpty)
    #expect(bench.fleet.phones[0].app.processes.values.contains("Kiosk"))
  }

  @Test func `H32: is tried once more where the end of the old process took the new one along`() async throws {
    let bench = try Bench("16.7")
    // A lock that is not known leaves the old one to debugserver.
    try bench.do("set-value", ["PasswordProtected": "", "type": "absent"])
    try bench.do("launch-fault", ["kind": "collide"])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error == nil)
    #expect(bench.starts.count == 2)
    #expect(bench.fleet.phones[0].app.isActive)
  }

  @Test func `H32: is tried once more, and no oftener`() async throws {
    let bench = try Bench("16.7")
    try bench.do("launch-fault", ["kind": "internal"])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error?.refusal == .failed)
    #expect(bench.starts.count == 2)
  }

  @Test func `waits for services that are missing right after the image was mounted`() async throws {
    let bench = try Bench("16.7")
    try bench.do("service-fault", ["kind": "refuse", "service": "com.apple.debugserver", "count": "1"])
    try bench.do(
      "service-fault", ["kind": "refuse", "service": "com.apple.debugserver.DVTSecureSocketProxy", "count": "1"])

    let error = try await bench.lane().ending(of: kiosk)

    #expect(error == nil)
    #expect(bench.starts.count == 1)
  }

  @Test func `asks for services that stay missing three times, and the next time once`() async throws {
    let bench = try Bench("16.7")
    for name in ["com.apple.debugserver", "com.apple.debugserver.DVTSecureSocketProxy"] {
      try bench.do("service-fault", ["kind": "refuse", "service": name])
    }
    let lane = try await bench.lane()

    let first = await lane.ending(of: kiosk)
    let asked = bench.debugServices.count
    let second = await lane.ending(of: kiosk)

    #expect(first?.refusal == .noDeveloperImage)
    #expect(second?.refusal == .noDeveloperImage)
    #expect(asked == 3 * 2)
    #expect(bench.debugServices.count == 4 * 2)
  }

  @Test func `of a lost dialogue is no refusal`() async throws {
    let bench = try Bench("16.7")
    try bench.do("kill-app")
    try bench.do("launch-fault", ["kind": "lost"])

    let error = try await bench.lane().ending(of: kiosk)

    if case .lost = error {} else { Issue.record("\(String(describing: error))") }
  }

  @Test func `is not sent with what no program can be given`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    for (arguments, environment) in [
      (["a\u{0}b"], []), ([], [("A=B", "1")]), ([], [("", "1")]), ([], [("A", "1"), ("A", "2")]),
    ] as [([String], [(name: String, value: String)])] {
      let error = await lane.ending(
        of:
          LaunchRequest(bundle: "com.example.kiosk", arguments: arguments, environment: environment))

      if case .badRequest = error {} else { Issue.record("\(arguments) \(environment)") }
    }
    #expect(bench.starts.isEmpty)
  }
}

@Suite struct `the phone's text about a launch` {
  private static let unlocked = Hex.encode("because the device was not, or could not be, unlocked".utf8)

  @Test(arguments: [
    ("ELocked", LaunchRefusal.locked, "Locked"),
    ("E07;\(Self.unlocked)", .locked, "because the device was not, or could not be, unlocked"),
    ("Eit was blocked", .failed, "it was blocked"), ("EUnlocked phones only", .failed, "Unlocked phones only"),
    ("E", .failed, ""), ("E08", .failed, "08"), ("ENotFound", .notInstalled, "NotFound"),
    ("Efailed to get the task for process 411", .notDebuggable, "failed to get the task for process 411"),
    ("ESecurity", .appUntrusted, "Security"), ("Ered\u{1B}[31m\nline", .failed, "red\u{FFFD}[31m line"),
  ])
  func `is known by its words and kept`(_ reply: String, _ refusal: LaunchRefusal, _ detail: String) {
    let (meaning, text) = RefusalText.refusal(Array(reply.utf8))

    #expect(meaning == refusal)
    #expect(text == detail)
  }
}
