import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl install` {
  static let keys: Set<String> = [
    "body", "udid", "installed", "bundle", "old", "new", "token", "detail", "error",
  ]

  static func objects(_ done: Fleetctl.Done) -> [String: JSON] {
    let objects = done.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    return Dictionary(objects.map { ($0["udid"]?.string ?? "", $0) }) { first, _ in first }
  }

  static func package(_ phones: TestPhones, version: String = "4.0.0", least: String = "12.0") -> String {
    phones.folder.write(Package.bytes(version: version, build: "500", least: least), to: "Kiosk \(least).ipa")
  }

  @Test func `puts a build on phones, and says the old and the new one`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("uninstall-app", on: "2")
    let file = Self.package(phones)

    let done = await phones.run("install", phones.udid(1), phones.udid(2), phones.udid(1), file, "--json")
    let text = await phones.run("install", phones.udid(1), file)
    let launch = await phones.run("launch", phones.udid(2))

    let objects = Self.objects(done)
    let (first, second) = (objects[phones.udid(1)], objects[phones.udid(2)])
    #expect(done.code == 0 && done.output.lines.count == 2, "\(done.output.err)")
    #expect(Set(first?.object.map { Array($0.keys) } ?? []) == Self.keys)
    #expect(first?["old"] == ["version": "3.2.0", "build": "412"] && second?["old"] == .null)
    for object in [first, second] {
      #expect(object?["new"] == ["version": "4.0.0", "build": "500"])
      #expect(object?["installed"] == true && object?["bundle"] == "com.example.kiosk" && object?["error"] == .null)
    }
    #expect(text.code == 0)
    #expect(text.output.out == "\(phones.udid(1))  com.example.kiosk  4.0.0 (500) → 4.0.0 (500)\n")
    // Progress is for screens only.
    #expect(text.output.err.isEmpty, "\(text.output.err)")
    #expect(launch.code == 0, "\(launch.output.err)")
  }

  @Test func `tells a phone's own refusal, which outweighs a phone that is not reached`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    try phones.fleet.perform(
      "install-fault", on: "1", ["error": "ApplicationVerificationFailed", "text": "No profile\u{1B}[2J for it"])
    try phones.fleet.perform("untrust", on: "3")
    let file = Self.package(phones)

    let done = await phones.run("install", phones.udid(1), phones.udid(2), phones.udid(3), file, "--json")
    let unreached = await phones.run("install", phones.udid(2), phones.udid(3), file)

    let objects = Self.objects(done)
    #expect(done.code == 1)
    #expect(objects[phones.udid(1)]?["installed"] == false)
    #expect(objects[phones.udid(1)]?["token"] == "ApplicationVerificationFailed")
    #expect(objects[phones.udid(2)]?["installed"] == true)
    #expect(objects[phones.udid(3)]?["installed"] == false && objects[phones.udid(3)]?["token"] == .null)
    #expect(done.output.err.contains("ApplicationVerificationFailed") && !done.output.err.contains("\u{1B}"))
    #expect(unreached.code == 3 && unreached.output.err.contains("is not trusted"))
  }

  @Test func `is refused by a phone that is too old for the build`() async throws {
    let phones = try TestPhones(1, ios: ["15.8"])

    let done = await phones.run("install", phones.udid(1), Self.package(phones, least: "16.0"))

    #expect(done.code == 1 && done.output.out.contains("refused  DeviceOSVersionTooLow"), "\(done.output.out)")
    #expect(done.output.err.contains("newer iOS than the phone has"))
  }

  @Test func `does nothing without a package`() async throws {
    let phones = try TestPhones(1)
    let text = phones.folder.write("hello", to: "text.ipa")

    let none = await phones.run("install", phones.udid(1), "/nonexistent.ipa")
    let wrong = await phones.run("install", phones.udid(1), text)
    let missing = await phones.run("install", phones.udid(1))
    let unknown = await phones.run("install", "nobody", text)

    for done in [none, wrong, missing, unknown] { #expect(done.code == 2, "\(done.output.err)") }
    #expect(none.output.err.contains("There is no file /nonexistent.ipa"))
    #expect(wrong.output.err.contains("is no package"))
    #expect(!phones.fleet.journal.entries().contains { $0.event == "install-requested" })
  }

  @Test func `holds the phone meanwhile, and waits for whoever has it`() async throws {
    let phones = try TestPhones(1)
    let file = Self.package(phones)
    let lease = try await phones.hold(1, as: Holder(pid: 4711, user: "anna", purpose: .run, run: 17))
    let child = Fleetctl.start(["install", phones.udid(1), file], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("is held by run 17 of anna (process 4711); it is waited for.") })
    try phones.fleet.perform("install-fault", on: "1", ["kind": "hang"])

    lease?.release()
    #expect(await phones.saw("install-requested"))
    try phones.fleet.perform("kill-app", on: "1")
    let revive = await phones.run("revive", phones.udid(1), "--json")
    child.signal(SIGTERM)

    #expect(`fleetctl revive`.outcome(revive) == "held/run")
    #expect(revive.output.err.contains("an installation of "))
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
    #expect(try await phones.hold(1, as: Holder(purpose: .hold)) != nil)
  }

  @Test func `H33: fails when it cannot say what came of it`() async throws {
    let phones = try TestPhones(1)
    let file = Self.package(phones)

    for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
      let done = await phones.run("install", phones.udid(1), file, stdout: stdout)
      #expect(done.ending == .exited(3), "\(done.output.err)")
    }
  }
}
