import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl pair` {
  static func state(_ done: Fleetctl.Done) -> JSON? { `a command about one phone`.object(done)?["state"] }

  static func pairRequests(_ phones: TestPhones) -> Int {
    phones.fleet.journal.entries().count(where: isPairRequest)
  }

  @Sendable private static func isPairRequest(_ entry: JournalEntry) -> Bool {
    entry.event == "lockdown-request" && entry.details["request"] == "Pair"
  }

  @Test func `makes a phone trusted, and leaves one alone that is`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("untrust", on: "1")

    let first = await phones.run("pair", phones.udid(1))
    let launch = await phones.run("launch", phones.udid(1))
    let asked = Self.pairRequests(phones)
    let again = await phones.run("pair", phones.udid(1), "--json")

    #expect(first.code == 0 && first.output.lines == ["\(phones.udid(1))  trusted"], "\(first.output.err)")
    #expect(launch.code == 0, "\(launch.output.err)")
    #expect(again.code == 0 && Self.state(again) == "trusted")
    #expect(asked > 0 && Self.pairRequests(phones) == asked)
    let object = `a command about one phone`.object(again)
    #expect(Set(object?.object.map { Array($0.keys) } ?? []) == ["body", "udid", "state", "error"])
  }

  @Test func `H17: says at once what to tap, and with a wait succeeds once it has been tapped`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "ask"])

    let pending = await phones.run("pair", phones.udid(1), "--json")
    let child = Fleetctl.start(["pair", phones.udid(1), "--wait", "60s"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("tap Trust") })
    let before = Self.pairRequests(phones)
    try phones.fleet.perform("trust", on: "1", ["mode": "accept"])

    #expect(pending.code == 1 && Self.state(pending) == "pending")
    #expect(pending.output.err.contains("unlock the phone and tap Trust"))
    #expect(await child.ending(within: .seconds(30)) == .exited(0), "\(child.output.err)")
    #expect(child.output.out == "\(phones.udid(1))  trusted\n")
    #expect(Self.pairRequests(phones) > before)
  }

  @Test func `H17: is the only command that pairs`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "ask"])
    let udid = phones.udid(1)

    for command in [
      ["devices"], ["lock-state", udid], ["launch", udid], ["hello", udid], ["revive", udid], ["mount", udid],
      ["log", udid], ["unpair", udid], ["init", "--config", phones.folder.file("new.yaml")],
    ] {
      _ = await Fleetctl.run(command, environment: phones.environment)
    }

    #expect(Self.pairRequests(phones) == 0)
  }

  @Test func `H13: complains once, however long nobody taps`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "ask"])

    let child = Fleetctl.start(["pair", phones.udid(1), "--wait", "60s"], environment: phones.environment)
    #expect(await phones.tells { $0.count(where: Self.isPairRequest) >= 3 })
    try phones.fleet.perform("trust", on: "1", ["mode": "deny"])

    #expect(await child.ending(within: .seconds(30)) == .exited(1))
    // Once when it began, and once at the end.
    #expect(child.output.err.split(separator: "\n").count == 2, "\(child.output.err)")
  }

  @Test func `is a no where somebody refused`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "deny"])

    let done = await phones.run("pair", phones.udid(1), "--json", "--wait", "60s")

    #expect(done.code == 1 && Self.state(done) == "denied")
    #expect(done.output.err.contains("Replug it"))
  }

  @Test func `H19: tells a locked phone from one that has not been unlocked since its boot`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("untrust", on: "1")
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("reboot", on: "2")
    let number = phones.udid(2)

    let locked = await phones.run("pair", phones.udid(1), "--json")
    let first = await phones.run("pair", number, "--json", "--wait", "5s")
    let child = Fleetctl.start(["pair", phones.udid(1), "--wait", "60s"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("unlock, then trust") })
    try phones.fleet.perform("unlock", on: "1")

    #expect(locked.code == 1 && Self.state(locked) == "locked")
    #expect(first.code == 1 && Self.state(first) == "locked-before-first-unlock", "\(first.output.err)")
    #expect(first.output.err.contains("unlock once after the reboot"))
    #expect(await child.ending(within: .seconds(30)) == .exited(0), "\(child.output.err)")
  }

  @Test func `H23: waits for a dialog that comes late, and for the phone under its next number`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "ask"])

    let short = await phones.run("pair", phones.udid(1), "--json", "--wait", "1s")
    let child = Fleetctl.start(["pair", phones.udid(1), "--wait", "60s"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("tap Trust") })
    try phones.fleet.perform("detach", on: "1")
    await phones.asked("ListDevices", times: 3)
    try phones.fleet.perform("trust", on: "1", ["mode": "now"])
    try phones.fleet.perform("attach", on: "1")

    #expect(short.code == 1 && Self.state(short) == "pending")
    #expect(await child.ending(within: .seconds(30)) == .exited(0), "\(child.output.err)")
  }

  @Test func `H23: that ends while the phone is just being replugged says what the phone said last`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("trust", on: "1", ["mode": "ask"])
    let child = Fleetctl.start(["pair", phones.udid(1), "--json", "--wait", "3s"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("tap Trust") })

    try phones.fleet.perform("detach", on: "1")

    #expect(await child.ending(within: .seconds(20)) == .exited(1))
    #expect(child.output.out.contains("\"state\":\"pending\""))
  }

  @Test func `cannot reach a phone that is not there`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "version: 1\nbodies:\n  - {udid: 00008101-000A1B2C3D4E001E, name: stairs}\n", to: "bodies.yaml")

    let done = await phones.run("pair", "stairs", "--json", "--config", file)

    #expect(done.code == 3 && Self.state(done) == .null)
    #expect(done.output.err.contains("is not on the bus"))
  }

  @Test func `H33: fails when it cannot say what came of it`() async throws {
    let phones = try TestPhones(1)

    for command in ["pair", "mount", "unpair"] {
      for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
        let done = await phones.run(command, phones.udid(1), stdout: stdout)
        #expect(done.ending == .exited(3), "\(command): \(done.output.err)")
      }
    }
  }
}

@Suite(.serialized) struct `fleetctl unpair` {
  static func revoked(_ done: Fleetctl.Done) -> JSON? { `a command about one phone`.object(done)?["revoked"] }

  @Test func `revokes the trust at both ends, and nothing where there is none`() async throws {
    let phones = try TestPhones(1)

    let done = await phones.run("unpair", phones.udid(1), "--json")
    let devices = await phones.run("devices", "--json")
    let again = await phones.run("unpair", phones.udid(1))

    #expect(done.code == 0 && Self.revoked(done) == "both-ends", "\(done.output.err)")
    #expect(`fleetctl devices`.objects(devices).map { $0["trust"] } == ["untrusted"])
    #expect(again.code == 0 && again.output.out.contains("no trust to revoke"))
  }

  @Test func `revokes it here alone where the phone is gone`() async throws {
    let phones = try TestPhones(1)
    let udid = phones.udid(1)
    try phones.fleet.perform("detach", on: "1")

    let done = await phones.run("unpair", udid.lowercased(), "--json")
    let again = await phones.run("unpair", udid, "--json")
    let name = await phones.run("unpair", "nobody")

    #expect(done.code == 0 && Self.revoked(done) == "here-alone", "\(done.output.err)")
    #expect(done.output.err.contains("the phone was not told"))
    // Neither attached nor known to this host in any way.
    #expect(again.code == 2 && name.code == 2)
  }

  @Test func `fails where the phone does not answer`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("lockdown-error", on: "1", ["error": "MCProtected", "request": "Unpair"])

    let done = await phones.run("unpair", phones.udid(1), "--json")

    #expect(done.code == 3 && Self.revoked(done) == .null, "\(done.output.out)")
    #expect(done.output.err.contains("MCProtected"))
  }
}
