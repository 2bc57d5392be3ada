import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `fleetctl run` {
  static let scenarios: String = {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    return root.joined(separator: "/") + "/scenarios"
  }()

  /// A scenario that needs no patience.
  static let hello = """
    scenario: hello
    tags: [quick]
    steps:
      - request: GET /hello
        expect: {status: 200}

    """

  /// Holds the phone in the background until it is stopped.
  static let held = """
    scenario: held
    steps:
      - arrange: in-background
      - wait: 10m
    recovers:
      - request: GET /hello
        expect: {json: {active: true}}
        retry-within: 10s

    """

  static func objects(_ output: ChildProcess.Output) -> [JSON] {
    output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
  }

  @Test func `judges the project's own scenarios on virtual phones, and removes them`() async throws {
    let folder = TestFolder()
    let done = await Fleetctl.run(
      ["run", "--virtual", "3", "--ios", "16.7,18.5"]
        + ["backgrounded", "camera-busy"].map { "\(Self.scenarios)/\($0).yaml" },
      environment: ["TMPDIR": folder.path])

    #expect(done.code == 0, "\(done.output.out)\(done.output.err)")
    #expect(done.output.lines.last == "6 of 6 judged, on 3 phones: 6 passed")
    #expect(done.output.lines.count == 7)
    #expect(folder.names.isEmpty)
  }

  @Test func `prints every event as an object`() async throws {
    let folder = TestFolder()
    let file = folder.write(Self.hello, to: "hello.yaml")
    let done = await Fleetctl.run(
      ["run", "--virtual", "2", "--ios", "16.7", "--json", "--label", "nightly", "--meta", "A=b", file],
      environment: ["TMPDIR": folder.path])

    let events = Self.objects(done.output)
    #expect(events.count == done.output.lines.count)
    #expect(events.first?["event"] == "run-started" && events.last?["event"] == "run-finished")
    #expect(events.first?["label"] == "nightly" && events.first?["meta"] == ["A": "b"])
    #expect(events.first?["version"] == .string(Program.version))
    #expect(events.last?["exit"] == 0 && events.last?["counts"]?["passed"] == 2)
    #expect(events.allSatisfy { $0["at"]?.string != nil && $0["run"]?.int != nil })
    #expect(done.output.err == "2 of 2 judged, on 2 phones: 2 passed\n")
  }

  @Test func `judges only the virtual phones that are named, and refuses names that are none`() async throws {
    let folder = TestFolder()
    let file = folder.write(Self.hello, to: "hello.yaml")
    func run(_ body: String) async -> Fleetctl.Done {
      await Fleetctl.run(
        ["run", "--virtual", "3", "--ios", "16.7,18.5", "--json", "--body", body, file],
        environment: ["TMPDIR": folder.path])
    }

    let one = await run("virtual-2")
    let tagged = await run("tag:ios16")
    let several = await run("virtual")
    let nobody = await run("nobody")
    let none = await run("tag:none")

    let bodies = Self.objects(one.output).first?["bodies"]?.array
    #expect(one.code == 0 && bodies?.compactMap { $0["body"]?.string } == ["virtual-2"])
    #expect(tagged.output.err == "2 of 2 judged, on 2 phones: 2 passed\n")
    for done in [several, nobody] {
      #expect(done.code == 2 && done.output.out.isEmpty)
      #expect(done.output.err.contains("virtual-1 to virtual-3") && done.output.err.contains("tag:ios18"))
    }
    #expect(none.code == 4)
    #expect(folder.names == ["hello.yaml"])
  }

  @Test func `runs nothing when the door's token cannot be read`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.hello, to: "hello.yaml")
    let yaml = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\ndoor: {token-file: /nowhere/token}\n", to: "token.yaml")

    let done = await phones.run("run", file, "--config", yaml, "--json")

    #expect(done.code == 2 && done.output.out.isEmpty)
    #expect(done.output.err.contains("/nowhere/token"))
  }

  @Test func `says which bodies are out of service, why and until when`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    let file = phones.folder.write(Self.hello, to: "hello.yaml")
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      bodies:
        - {udid: \(phones.udid(1)), name: hall, out-of-service: {reason: battery, until: 2999-12-20}}
        - {udid: \(phones.udid(2)), name: stairs}

      """, to: "bodies.yaml")
    let notice = "hall is out of service: battery, until 2999-12-20. It is not judged."

    let hall = await phones.run("run", "--body", "hall", file, "--config", yaml)
    let rest = await phones.run("run", file, "--config", yaml)

    #expect(hall.code == 4 && hall.output.err.hasPrefix(notice))
    #expect(rest.code == 0 && rest.output.err.hasPrefix(notice), "\(rest.output.err)")
    #expect(rest.output.lines.last == "1 of 1 judged, on 1 phone: 1 passed")
  }

  @Test func `tells a failure with its place, what was expected and what came`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"], timeScale: 4)
    try phones.fleet.perform("break", on: "2", ["what": "no-409"])

    let done = await phones.run("run", "--all", "\(Self.scenarios)/backgrounded.yaml")

    #expect(done.code == 1)
    #expect(done.output.lines.last == "2 of 2 judged, on 2 phones: 1 passed, 1 failed")
    #expect(done.output.lines.contains { $0.contains("scenarios/backgrounded.yaml:") })
    #expect(done.output.lines.contains { $0.hasPrefix("      expected: status 409") }, "\(done.output.out)")
    #expect(done.output.lines.contains { $0.hasPrefix("      came:     ") })
  }

  @Test func `touches several phones only when it is told to`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    let file = phones.folder.write(Self.hello, to: "hello.yaml")

    let several = await phones.run("run", file)
    let one = await phones.run("run", "--body", phones.udid(2), file)
    let unknown = await phones.run("run", "--body", "nobody", file)

    #expect(several.code == 2 && several.output.err.contains("--all") && several.output.out.isEmpty)
    #expect(one.code == 0 && one.output.lines.last == "1 of 1 judged, on 1 phone: 1 passed")
    #expect(unknown.code == 2)
  }

  @Test func `runs nothing when the number of phones is not as expected`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.hello, to: "hello.yaml")

    let done = await phones.run("run", "--expect-bodies", "2", file)

    #expect(done.code == 3 && done.output.out.isEmpty)
  }

  @Test func `needs to know which app, where a scenario is about it`() async throws {
    let phones = try TestPhones(1)
    let environment = ["USBMUXD_SOCKET_ADDRESS": phones.fleet.address.description]
    let about = phones.folder.write(Self.held, to: "held.yaml")
    let other = phones.folder.write(Self.hello, to: "hello.yaml")

    let refused = await Fleetctl.run(["run", about], environment: environment)
    let judged = await Fleetctl.run(["run", other], environment: environment)

    #expect(refused.code == 2 && refused.output.err.contains("fleetctl init --app"))
    #expect(judged.code == 0, "\(judged.output.err)")
  }

  @Test func `ends with 4 when nothing is left to judge`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.hello, to: "hello.yaml")

    let tags = await phones.run("run", "--tag", "nightly", file)
    let excluded = await phones.run("run", "--exclude-tag", "quick", file)
    let bodies = await phones.run("run", "--body", "tag:none", file)
    try phones.fleet.perform("detach", on: "1")
    let absent = await phones.run("run", file)

    for done in [tags, excluded, bodies, absent] { #expect(done.code == 4, "\(done.output.err)") }
  }

  @Test func `runs nothing when a file is wrong`() async throws {
    let phones = try TestPhones(1)
    let wrong = phones.folder.write("scenario: x\nstep: []\n", to: "wrong.yaml")
    let right = phones.folder.write(Self.hello, to: "hello.yaml")

    let run = await phones.run("run", right, wrong)
    let lint = await phones.run("lint", right, wrong)
    let json = await phones.run("lint", "--json", wrong)
    let missing = await phones.run("run", phones.folder.file("none.yaml"))

    #expect(run.code == 2 && run.output.out.isEmpty && run.output.err.contains("\(wrong):2:1:"))
    #expect(lint.code == 2 && lint.output.lines.contains { $0.hasPrefix("\(wrong):2:1: ") })
    #expect(Self.objects(json.output).first?["file"] == .string(wrong))
    #expect(missing.code == 2)
    #expect(await phones.run("lint", right).output.lines == ["1 scenario, nothing wrong"])
  }

  struct Signal: CustomTestStringConvertible, Sendable {
    var number: Int32
    var code: Int32
    var testDescription: String { "\(code)" }
  }

  @Test(arguments: [Signal(number: SIGINT, code: 130), Signal(number: SIGTERM, code: 143)])
  func `undoes what it arranged when a signal comes, and still tells how far it got`(_ signal: Signal) async throws {
    let folder = TestFolder()
    let file = folder.write(Self.held, to: "held.yaml")
    let child = Fleetctl.start(
      ["run", "--virtual", "1", "--ios", "16.7", "--json", "--time-scale", "4", file],
      environment: ["TMPDIR": folder.path])
    #expect(await child.prints { $0.out.contains(#""step":"arrange in-background""#) })

    child.signal(signal.number)

    #expect(await child.ending() == .exited(signal.code))
    #expect(child.output.err.contains("0 of 1 judged, on 1 phone"))
    #expect(Self.objects(child.output).last?["event"] == "run-finished")
    #expect(Self.objects(child.output).last?["exit"] == .integer(Int64(signal.code)))
    #expect(folder.names == ["held.yaml"])
  }

  @Test func `brings the phone back when it is stopped, by a signal or by its own time`() async throws {
    let phones = try TestPhones(1, ios: ["16.7"], timeScale: 4)
    let file = phones.folder.write(Self.held, to: "held.yaml")
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      arrange: {in-background: {command: [\(Fleetctl.path), virtual, do, "{udid}", background]}}

      """, to: "lab.yaml")

    let child = Fleetctl.start(["run", file, "--config", yaml, "--json"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains(#""step":"arrange in-background""#) })
    child.signal(SIGTERM)
    #expect(await child.ending() == .exited(143))
    let afterSignal = await phones.run("devices", "--json")
    let timedOut = await phones.run("run", file, "--config", yaml, "--timeout", "2s", "--json")
    let afterTimeout = await phones.run("devices", "--json")

    #expect(Self.objects(afterSignal.output).first?["app"] == "front")
    #expect(timedOut.code == 3 && timedOut.output.err.contains("stopped after 2 s"), "\(timedOut.output)")
    #expect(Self.objects(timedOut.output).last?["exit"] == 3)
    #expect(Self.objects(afterTimeout.output).first?["app"] == "front")
  }

  @Test func `leaves at once at a second signal, its sockets removed`() async throws {
    let folder = TestFolder()
    let file = folder.write(Self.held, to: "held.yaml")
    let child = Fleetctl.start(
      ["run", "--virtual", "1", "--ios", "16.7", "--json", file], environment: ["TMPDIR": folder.path])
    #expect(await child.prints { $0.out.contains(#""step":"arrange in-background""#) })

    child.signal(SIGINT)
    child.signal(SIGTERM)

    // Which of two signals sent together is seen first is the system's choice.
    let ending = await child.ending(within: .seconds(5))
    #expect(ending == .exited(130) || ending == .exited(143))
    #expect(folder.names == ["held.yaml"])
  }

  @Test func `H43: stops and fails quietly when nobody reads what it prints`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.held, to: "held.yaml")

    let done = await phones.run("run", "--json", file, stdout: .pipeNobodyReads)

    #expect(done.ending == .exited(3))
    #expect(!done.output.err.contains("could not be written"))
  }
}

@Suite(.serialized) struct `a run and others who hold a phone` {
  static func events(_ done: Fleetctl.Done) -> [JSON] {
    done.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
  }

  @Test func `is an error that names the holder when the wait is over`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write("scenario: s\nsteps:\n  - request: GET /hello\n", to: "s.yaml")
    let lease = try await phones.hold(1, as: Holder(pid: 4711, user: "anna", purpose: .hold, reason: "new battery"))

    let held = await phones.run("run", file, "--json", "--lock-wait", "100ms")
    lease?.release()
    let free = await phones.run("run", file, "--json", "--lock-wait", "100ms")

    let finished = Self.events(held).first { $0["event"] == "scenario-finished" }
    #expect(held.code == 3)
    #expect(finished?["verdict"] == "error" && finished?["message"] == "held by anna (process 4711): new battery")
    #expect(held.output.err.contains("is held by anna (process 4711): new battery; it is waited for."))
    #expect(free.code == 0, "\(free.output.err)")
  }

  @Test func `waits for the phone, and holds it against others meanwhile`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write("scenario: s\nsteps:\n  - wait: 60s\n", to: "s.yaml")
    let lease = try await phones.hold(1, as: Holder(pid: 4711, user: "anna", purpose: .revive))
    let child = Fleetctl.start(["run", file, "--json"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("is held by a revival that anna asked for") })

    lease?.release()
    #expect(await child.prints { $0.out.contains("scenario-started") })
    let meanwhile = await phones.run("revive", phones.udid(1), "--json")
    try phones.fleet.perform("kill-app", on: "1")
    let silent = await phones.run("revive", phones.udid(1), "--json")
    child.signal(SIGINT)

    #expect(`fleetctl revive`.outcome(meanwhile) == "up")
    #expect(silent.code == 1 && `fleetctl revive`.outcome(silent) == "held/run")
    #expect(await child.ending(within: .seconds(5)) == .exited(130))
  }
}
