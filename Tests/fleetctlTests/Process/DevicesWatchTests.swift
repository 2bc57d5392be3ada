import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl devices with watch` {
  static func events(_ output: ChildProcess.Output) -> [String] {
    output.lines.compactMap { JSON(parsing: Array($0.utf8))?["event"]?.string }
  }

  @Test func `tells each phone that comes and goes, until a signal`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    let child = Fleetctl.start(["devices", "--watch", "--json"], environment: phones.environment)
    #expect(await child.prints { Self.events($0).count == 2 })

    try phones.fleet.perform("detach", on: "1")
    #expect(await child.prints { Self.events($0).count == 3 })
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("attach", on: "1")
    #expect(await child.prints { Self.events($0).count == 4 })
    child.signal(SIGTERM)

    #expect(await child.ending(within: .seconds(2)) == .exited(143))
    let objects = child.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    #expect(objects.map { $0["event"] } == ["attached", "attached", "detached", "attached"])
    #expect(objects[2]["udid"] == .string(phones.udid(1)) && objects[2]["lock"] == .null)
    #expect(objects[3]["lock"] == "locked" && objects[3]["trust"] == "trusted")
    #expect(child.output.err.isEmpty, "\(child.output.err)")
  }

  @Test func `H10: says once that the daemon has gone, and once that it is back`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(["devices", "--watch"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 1 })

    try phones.fleet.perform("mux-quit", on: "1", ["for": "30s"])

    #expect(await child.prints { $0.lines.count == 2 })
    child.signal(SIGINT)
    #expect(await child.ending(within: .seconds(2)) == .exited(130))
    #expect(child.output.lines.allSatisfy { $0.contains("  attached  \(phones.udid(1))  ") }, "\(child.output.out)")
    let complaints = child.output.err.split(separator: "\n")
    #expect(complaints.count == 2, "\(child.output.err)")
    #expect(complaints.last == "fleetctl: The usbmux daemon is back.")
  }

  @Test func `waits for a daemon that is not there yet`() async throws {
    let folder = TestFolder()
    let child = Fleetctl.start(["devices", "--watch", "--mux", folder.file("mux")])
    #expect(await child.prints { $0.err.contains("There is no usbmux socket") })

    var options = VirtualFleet.Options(address: .unix(path: folder.file("mux")))
    options.phones = 1
    let fleet = try VirtualFleet(options)
    defer { fleet.stop() }

    #expect(await child.prints { $0.lines.count == 1 })
    child.signal(SIGINT)
    #expect(await child.ending(within: .seconds(2)) == .exited(130))
  }

  @Test func `H33: ends quietly when nobody reads it`() async throws {
    let phones = try TestPhones(1)

    let done = await phones.run("devices", "--watch", stdout: .pipeNobodyReads)

    #expect(done.ending == .exited(3) && done.output.err.isEmpty, "\(done.output.err)")
  }

  @Test func `is not to be waited for, and no daemon of ours is no daemon`() async throws {
    let folder = TestFolder()
    let file = folder.write("not a socket", to: "file")

    let both = await Fleetctl.run(["devices", "--watch", "--wait", "5s"])
    let wrong = await Fleetctl.run(["devices", "--watch", "--mux", file])

    #expect(both.code == 2 && both.output.err.contains("--watch goes on by itself."))
    #expect(wrong.code == 3 && wrong.output.err.contains("is no usbmux socket"))
  }
}

@Suite(.serialized) struct `a command that waits` {
  @Test func `H10: keeps waiting while the daemon is away, and succeeds when all is back`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("detach", on: "1")
    let environment = phones.environment
    let children = [["devices"], ["hello", phones.udid(1)], ["launch", phones.udid(1)]].map {
      Fleetctl.start($0 + ["--wait", "40s"], environment: environment)
    }
    await phones.asked("ListDevices", times: 3)

    try phones.fleet.perform("mux-quit", on: "1", ["for": "20s"])
    try phones.fleet.perform("attach", on: "1")

    for child in children {
      #expect(await child.ending(within: .seconds(40)) == .exited(0), "\(child.output.err)")
    }
  }

  @Test func `H34: hears the app within a second of its start to listen`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("kill-app", on: "1")
    let child = Fleetctl.start(["hello", phones.udid(1), "--wait", "30s"], environment: phones.environment)
    await phones.asked("Connect", times: 3)

    try phones.fleet.perform("launch-app", on: "1")
    let start = ContinuousClock.now

    #expect(await child.ending() == .exited(0))
    #expect(ContinuousClock.now - start < .seconds(2))
  }
}
