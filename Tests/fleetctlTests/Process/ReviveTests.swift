import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl revive` {
  static let keys: Set<String> = [
    "seq", "at", "body", "udid", "outcome", "reason", "was", "detail", "silent_s", "launched",
  ]

  static func outcome(_ done: Fleetctl.Done) -> String {
    let object = `a command about one phone`.object(done)
    return [object?["outcome"]?.string, object?["reason"]?.string].compactMap { $0 }.joined(separator: "/")
  }

  @Test func `brings back an app that has died, and leaves one alone that answers`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("kill-app", on: "1")

    let revived = await phones.run("revive", phones.udid(1), "--json")
    let up = await phones.run("revive", phones.udid(1), "--json")
    let text = await phones.run("revive", phones.udid(1), "-v")

    let object = `a command about one phone`.object(revived)
    #expect(revived.code == 0 && Self.outcome(revived) == "revived", "\(revived.output.err)")
    #expect(Set(object?.object.map { Array($0.keys) } ?? []) == Self.keys)
    #expect(object?["launched"] == true && object?["udid"] == .string(phones.udid(1)))
    #expect((object?["silent_s"]?.double ?? 0) > 0)
    #expect(up.code == 0 && Self.outcome(up) == "up")
    #expect(`a command about one phone`.object(up)?["launched"] == false)
    #expect(text.output.lines.count == 1 && text.output.lines[0].hasPrefix("\(phones.udid(1))  up"))
    #expect(text.output.err.contains("asking its door"))
  }

  @Test func `never launches on a locked phone, nor on one that somebody uses`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    for number in ["1", "2"] { try phones.fleet.perform("kill-app", on: number) }
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("hands-on", on: "2")

    let locked = await phones.run("revive", phones.udid(1), "--json")
    let used = await phones.run("revive", phones.udid(2), "--json")

    #expect(locked.code == 1 && Self.outcome(locked) == "locked/passcode", "\(locked.output.out)")
    #expect(locked.output.err.contains("Unlock it, then: fleetctl revive \(phones.udid(1))"))
    #expect(used.code == 1 && Self.outcome(used) == "left-alone/hands", "\(used.output.out)")
    for done in [locked, used] { #expect(`a command about one phone`.object(done)?["launched"] == false) }
  }

  @Test func `says what a phone refuses, and what keeps it from being reached`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    for number in ["1", "2", "3"] { try phones.fleet.perform("kill-app", on: number) }
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("lockdown-error", on: "2", ["error": "InvalidHostID", "request": "all"])
    let udids = (1...3).map(phones.udid)
    try phones.fleet.perform("detach", on: "3")
    let file = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\nbodies:\n"
        + udids.enumerated().map { "  - {udid: \($1), name: b\($0 + 1)}\n" }.joined(), to: "bodies.yaml")

    let refused = await phones.run("revive", "b1", "--json", "--config", file)
    let stale = await phones.run("revive", "b2", "--json", "--config", file)
    let absent = await phones.run("revive", "b3", "--json", "--config", file)

    #expect(refused.code == 1 && Self.outcome(refused) == "launch-refused/no-developer-image", "\(refused.output.out)")
    #expect(stale.code == 3 && Self.outcome(stale) == "untrusted/stale", "\(stale.output.out)")
    #expect(absent.code == 3 && Self.outcome(absent) == "unreachable/detached", "\(absent.output.out)")
    #expect(`a command about one phone`.object(absent)?["body"] == "b3")
  }

  @Test func `leaves alone a phone that somebody holds, and names them`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("kill-app", on: "1")
    let lease = try await phones.hold(1, as: Holder(pid: 4711, user: "anna", purpose: .run, run: 17))

    let held = await phones.run("revive", phones.udid(1), "--json")
    lease?.release()
    let free = await phones.run("revive", phones.udid(1), "--json")

    #expect(held.code == 1 && Self.outcome(held) == "held/run")
    #expect(held.output.err.contains("run 17 of anna (process 4711)"))
    #expect(free.code == 0 && Self.outcome(free) == "revived")
  }

  @Test func `launches nothing where no stamp can be kept`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("kill-app", on: "1")
    let environment = phones.environment.merging(["STATE_DIRECTORY": "not/absolute"]) { $1 }

    let done = await Fleetctl.run(["revive", phones.udid(1), "--json"], environment: environment)

    #expect(done.code == 3 && Self.outcome(done) == "host-fault/disk")
    #expect(done.output.err.contains("STATE_DIRECTORY is 'not/absolute'"))
  }

  @Test func `H33: fails when its outcome cannot be written`() async throws {
    let phones = try TestPhones(1)

    for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
      let done = await phones.run("revive", phones.udid(1), stdout: stdout)
      #expect(done.ending == .exited(3))
    }
  }
}
