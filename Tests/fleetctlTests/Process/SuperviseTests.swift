import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

/// A supervisor's own folder, and phones whose time runs as fast as its own.
final class SupervisedPhones: Sendable {
  private let scale: Double
  let folder = TestFolder()
  let fleet: VirtualFleet

  init(_ count: Int = 1, ios: String = "18.5", scale: Double = 20) throws {
    // As the executable does: OpenSSL writes to whatever has just been closed.
    signal(SIGPIPE, SIG_IGN)
    self.scale = scale
    var options = VirtualFleet.Options(address: .unix(path: folder.file("mux")))
    options.phones = count
    options.ios = [ios]
    options.timeScale = scale
    fleet = try VirtualFleet(options)
    mkdir(folder.file("state"), 0o700)
    configure("")
  }

  deinit { fleet.stop() }

  /// Short times, so that a test takes seconds.
  func configure(
    _ more: String, supervise: String = "every: 2s, grace: 4s, spacing: 10s, settle: 2s, answer-within: 5s"
  ) {
    _ = folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\nsupervise: {\(supervise), listen: null}\n\(more)",
      to: "fleet.yaml")
  }

  var environment: [String: String] {
    [
      "USBMUXD_SOCKET_ADDRESS": "UNIX:\(folder.file("mux"))", "STATE_DIRECTORY": folder.file("state"),
      "FLEETCTL_LOCK_FOLDER": folder.file("locks"), "FLEETCTL_CONFIG": folder.file("fleet.yaml"),
    ]
  }

  func start(_ more: String...) -> ChildProcess {
    Fleetctl.start(["supervise", "--time-scale", "\(scale)"] + more, environment: environment)
  }

  func run(_ more: String...) async -> Fleetctl.Done {
    await Fleetctl.run(["supervise", "--time-scale", "\(scale)"] + more, environment: environment)
  }

  func udid(_ number: Int = 1) -> String { fleet.phones[number - 1].udid.description }
}

@Suite(.serialized) struct `fleetctl supervise` {
  @Test func `prints up, locked, up, revived, and ends with 0 within two seconds of SIGTERM`() async throws {
    let phones = try SupervisedPhones()
    phones.configure("bodies:\n  - {udid: \(phones.udid()), name: hall}\n")
    let child = phones.start()
    func row(_ words: String) async -> Bool {
      await child.prints { $0.lines.last?.contains("hall  \(words)  ") == true }
    }
    #expect(await row("up"))

    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("kill-app", on: "1")
    #expect(await row("locked/passcode"))
    try phones.fleet.perform("unlock", on: "1")
    try phones.fleet.perform("launch-app", on: "1")
    #expect(await row("up"))
    try phones.fleet.perform("kill-app", on: "1")
    #expect(await row("revived"))
    child.signal(SIGTERM)

    #expect(await child.ending(within: .seconds(2)) == .exited(0))
    #expect(child.output.lines.count == 4)
  }

  @Test func `prints rows as JSON with their numbers, as the record has them`() async throws {
    let phones = try SupervisedPhones(2)
    let child = phones.start("--json")
    #expect(await child.prints { $0.lines.count == 2 })
    child.signal(SIGINT)
    #expect(await child.ending(within: .seconds(2)) == .exited(0))

    let rows = child.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    #expect(rows.compactMap { $0["seq"]?.int } == [1, 2])
    let told = await Fleetctl.run(["outcomes", "--json"], environment: phones.environment)
    #expect(told.output.lines == child.output.lines)
  }

  @Test func `is one for a record: a second one says who holds it, and ends with 3`() async throws {
    let phones = try SupervisedPhones()
    let child = phones.start()
    #expect(await child.prints { !$0.lines.isEmpty })

    let second = await phones.run()

    #expect(second.code == 3)
    #expect(second.output.err.contains("the supervisor (process "))
    #expect(second.output.err.contains("fleetctl status"))
    child.signal(SIGKILL)
    _ = await child.ending()
    #expect(await phones.run("--once").code == 0, "the lock ends with its process, however that ends")
  }

  @Test func `reads the configuration anew at SIGHUP, says what has changed, and refuses a wrong one`() async throws {
    let phones = try SupervisedPhones()
    let child = phones.start()
    #expect(await child.prints { !$0.lines.isEmpty })

    phones.configure("", supervise: "every: 2s, grace: 6s, spacing: 10s, settle: 2s, answer-within: 5s")
    child.signal(SIGHUP)
    #expect(await child.prints { $0.err.contains("supervise.grace: 4s → 6s") })
    phones.configure("", supervise: "every: 2s, grace: 3s, spacing: 10s, settle: 2s, answer-within: 5s")
    child.signal(SIGHUP)
    #expect(await child.prints { $0.err.contains("The configuration from before is kept.") })
    phones.configure("bodies:\n  - {udid: \(phones.udid()), name: hall}\n")
    child.signal(SIGHUP)
    #expect(await child.prints { $0.err.contains("hall is a body now") })
    try phones.fleet.perform("kill-app", on: "1")
    #expect(await child.prints { $0.lines.last?.contains("hall  revived") == true })
    child.signal(SIGTERM)

    #expect(await child.ending(within: .seconds(2)) == .exited(0))
    #expect(child.output.err.contains("fleet.yaml:3:31: a grace of 3 s is shorter than two probes at 2 s"))
  }

  @Test(
    arguments: [
      ("bodies:\n  - {udid: 00008101-000A1B2C3D4E001E}\n  - {udid: 00008101000a1b2c3d4e001e}\n", "", "6:5: the phone"),
      ("door: {port: 65536}\n", "", "4:14: "),
      ("", "every: 10s, grace: 19s", "3:32: a grace of 19 s is shorter than two probes"),
      (
        "bodies:\n  - {udid: 00008101-000A1B2C3D4E001E, supervise: {every: 200s}}\n", "grace: 5m",
        "5:58: a grace of 5 min is shorter"
      ),
    ])
  func `refuses a wrong configuration with 2, line and column`(
    _ more: String, _ supervise: String, _ told: String
  ) async throws {
    let phones = try SupervisedPhones()
    phones.configure(more, supervise: supervise.isEmpty ? "every: 10s" : supervise)

    let done = await phones.run("--once")

    #expect(done.code == 2)
    #expect(done.output.err.contains("fleet.yaml:\(told)"), "\(done.output.err)")
    #expect(phones.folder.names.contains("state"))
    #expect(TestFolder.names(in: phones.folder.file("state")).isEmpty, "nothing ran")
  }

  @Test func `looks once: 0 where all are up, 1 where one is not, 3 without a daemon`() async throws {
    let phones = try SupervisedPhones(2)
    let good = await phones.run("--once", "--json")
    try phones.fleet.perform("kill-app", on: "2")
    let bad = await phones.run("--once")
    phones.fleet.stop()
    let none = await phones.run("--once")

    #expect(good.code == 0, "\(good.output.err)")
    #expect(good.output.lines.compactMap { JSON(parsing: Array($0.utf8))?["outcome"]?.string } == ["up", "up"])
    #expect(bad.code == 1)
    #expect(bad.output.out.contains("silent "), "\(bad.output.out)")
    #expect(!phones.fleet.journal.entries().contains { $0.event == "coredevice-launch" })
    #expect(none.code == 3)
    #expect(none.output.err.contains("usbmux"))
  }

  @Test func `says in a dry run what it would do, beside a supervisor, and leaves no trace`() async throws {
    let phones = try SupervisedPhones()
    let child = phones.start("--dry-run")
    #expect(await child.prints { !$0.lines.isEmpty })
    try phones.fleet.perform("kill-app", on: "1")

    #expect(await child.prints { $0.err.contains("the app would be launched now") })
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(2)) == .exited(0))
    #expect(TestFolder.names(in: phones.folder.file("state")).isEmpty)
    #expect(!phones.fleet.journal.entries().contains { $0.event == "coredevice-launch" })
  }

  @Test func `answers status and why from its socket`() async throws {
    let phones = try SupervisedPhones()
    phones.configure("bodies:\n  - {udid: \(phones.udid()), name: hall}\n")
    let child = phones.start()
    #expect(await child.prints { !$0.lines.isEmpty })

    let status = await Fleetctl.run(["status"], environment: phones.environment)
    child.signal(SIGTERM)
    _ = await child.ending(within: .seconds(2))

    #expect(status.code == 0)
    #expect(status.output.out.contains("✓ hall  up"))
    #expect(!status.output.out.contains("No supervisor runs"))
  }

  @Test func `undoes what a killed run left, before it looks at the phone`() async throws {
    let phones = try SupervisedPhones()
    phones.configure("bodies:\n  - {udid: \(phones.udid()), name: hall}\n")
    let notes = UndoNoteFolder(StateFolder(path: phones.folder.file("state")))
    try phones.fleet.perform("kill-app", on: "1")
    try notes.store(
      [UndoNote(state: .notRunning, back: "in-front", scenario: "dies", run: 7)], of: phones.fleet.phones[0].udid)

    let child = phones.start()
    #expect(await child.prints { $0.lines.contains { $0.contains("hall  up") } })
    child.signal(SIGTERM)
    _ = await child.ending(within: .seconds(2))

    #expect(child.output.err.contains("run 7"), "\(child.output.err)")
    #expect(try notes.notes(of: phones.fleet.phones[0].udid).isEmpty)
    #expect(child.output.lines.count == 1, "the app was back before the first judgement")
  }
}
