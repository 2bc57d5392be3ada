import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `the rules of a run` {
  private static let status = "scenario: status\nsteps:\n  - request: GET /status\n    expect: {status: 200}\n"
  private static let locked =
    "scenario: locked\nneeds: [locked]\nsteps:\n  - request: GET /hello\nrecovers:\n  - door: answers\n"

  private static func objects(_ done: Fleetctl.Done) -> [JSON] {
    done.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
  }

  @Test func `make gates that are not green on nothing`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.status, to: "status.yaml")
    let skipped = phones.folder.write(Self.locked, to: "locked.yaml")

    let build = await phones.run("run", file, "--expect-build", "999", "--json")
    let right = await phones.run("run", file, "--expect-build", "412")
    let skip = await phones.run("run", file, skipped)
    let strict = await phones.run("run", file, skipped, "--fail-on-skip")

    #expect(build.code == 3 && build.output.out.isEmpty)
    #expect(build.output.err.contains("has 3.2.0 (412); --expect-build says 999, and nothing ran."))
    #expect(right.code == 0, "\(right.output.err)")
    #expect(skip.code == 0 && strict.code == 1)
  }

  @Test func `run again what failed, where it failed, and nothing else`() async throws {
    let phones = try TestPhones(2)
    let file = phones.folder.write(Self.status, to: "status.yaml")
    let other = phones.folder.write(
      "scenario: hello\nsteps:\n  - request: GET /hello\n    expect: {status: 200}\n", to: "hello.yaml")
    try phones.fleet.perform("door-fault", on: "2", ["kind": "empty", "path": "/status"])
    let none = await phones.run("run", "--all", file, "--rerun-failed")

    let first = await phones.run("run", "--all", file, other)
    try phones.fleet.perform("mend", on: "2")
    let second = await phones.run("run", "--all", file, other, "--rerun-failed", "--json")
    let third = await phones.run("run", "--all", file, other, "--rerun-failed")

    #expect(none.code == 4)
    #expect(first.code == 1 && first.output.lines.last == "4 of 4 judged, on 2 phones: 3 passed, 1 failed")
    #expect(second.code == 0, "\(second.output.err)")
    let judged = Self.objects(second).filter { $0["event"] == "scenario-finished" }
    #expect(judged.map { $0["scenario"]?.string } == ["status"])
    #expect(judged.map { $0["udid"]?.string } == [phones.udid(2)])
    #expect(third.code == 4 && third.output.err.contains("has left nothing"))
  }

  @Test func `try again, repeat, and shuffle`() async throws {
    let phones = try TestPhones(1)
    let names = ["a", "b", "c", "d", "e"]
    for name in names {
      _ = phones.folder.write("scenario: \(name)\nsteps:\n  - request: GET /hello\n", to: "x-\(name).yaml")
    }
    let files = names.map { phones.folder.file("x-\($0).yaml") }
    func order(_ options: String...) async -> [String] {
      let done = await Fleetctl.run(["run", "--json"] + files + options, environment: phones.environment)
      return Self.objects(done).filter { $0["event"] == "scenario-finished" }.compactMap { $0["scenario"]?.string }
    }

    let plain = await order("--repeat", "2")
    let shuffled = await order("--shuffle", "7")
    let again = await order("--shuffle", "7")

    #expect(plain == names + names)
    #expect(shuffled == again && shuffled != names && shuffled.sorted() == names)
  }

  @Test func `stop at the first failure, and count every attempt once`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.status, to: "status.yaml")
    let fleet = phones.fleet
    let child = Fleetctl.start(
      ["run", file, "--json", "--until-failure", "--retries", "1"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains(#""round":2"#) })

    try fleet.perform("door-fault", on: "1", ["kind": "empty", "path": "/status"])

    #expect(await child.ending() == .exited(1))
    let finished = child.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
      .filter { $0["event"] == "scenario-finished" }
    #expect(finished.suffix(2).map { $0["final"]?.boolean } == [false, true])
    #expect(finished.dropLast(2).allSatisfy { $0["verdict"] == "passed" })
    #expect(child.output.err.contains("1 failed"))
  }

  @Test func `fill in what --var gives, in lint as well`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "scenario: v\nsteps:\n  - request: POST /photo?camera={camera}\n    expect: {status: 503}\n", to: "v.yaml")

    let without = await phones.run("lint", file)
    let with = await phones.run("lint", file, "--var", "camera=side")
    let run = await phones.run("run", file, "--var", "camera=side")
    let odd = await phones.run("run", file, "--var", "udid=x")

    #expect(without.code == 2 && without.output.out.contains("{camera} has no value here"))
    #expect(with.code == 0)
    #expect(run.code == 0, "\(run.output.out)")
    #expect(odd.code == 2)
  }

  @Test func `take another app for one run, and bring the configured one back`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write("scenario: other\nsteps:\n  - launch: {fresh: true}\n", to: "other.yaml")

    let done = await phones.run("run", file, "--app", "com.apple.Preferences", "--json")

    #expect(done.code == 0, "\(done.output)")
    #expect(Self.objects(done).first?["bodies"]?.array?.first?["bundle"] == "com.apple.Preferences")
    #expect(phones.fleet.phones[0].app.isActive)
  }

  @Test func `undo first what a run that was killed has left`() async throws {
    let phones = try TestPhones(1, timeScale: 4)
    let file = phones.folder.write(`fleetctl run`.held, to: "held.yaml")
    let next = phones.folder.write(
      "scenario: next\nsteps:\n  - request: GET /hello\n    expect: {json: {active: true}}\n", to: "next.yaml")
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      arrange: {in-background: {command: [\(Fleetctl.path), virtual, do, "{udid}", background]}}

      """, to: "lab.yaml")
    let child = Fleetctl.start(["run", file, "--config", yaml, "--json"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains(#""step":"arrange in-background""#) })

    child.signal(SIGKILL)
    _ = await child.ending()
    #expect(!phones.fleet.phones[0].app.isActive)
    let done = await phones.run("run", next, "--config", yaml)
    let again = await phones.run("run", next, "--config", yaml)

    #expect(done.code == 0, "\(done.output)")
    #expect(done.output.err.contains("was ended in the middle of 'held'; it is back to in-front."))
    #expect(!again.output.err.contains("was ended in the middle"))
  }

  @Test func `print the schema, and want a terminal for an operator`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(Self.status, to: "status.yaml")

    let schema = await phones.run("lint", "--schema")
    let attended = await phones.run("run", file, "--attended")

    #expect(JSON(parsing: Array(schema.output.out.utf8))?["title"] == "A scenario of fleetctl")
    #expect(attended.code == 2 && attended.output.err.contains("--attended needs somebody at a terminal"))
  }

  @Test func `warn of a quarantine that ends soon`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "scenario: q\nquarantine: {reason: slow, until: 2020-02-29, ticket: K-1}\nsteps:\n  - request: GET /hello\n",
      to: "q.yaml")

    let done = await phones.run("lint", file)

    #expect(done.code == 0)
    #expect(done.output.err == "q: its quarantine (K-1) ended with 2020-02-29; it counts again\n")
  }
}

@Suite struct `an operator at the terminal` {
  private let pipe: (read: Int32, write: Int32)
  private let body: Body

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(Glibc.pipe(&ends) == 0)
    pipe = (ends[0], ends[1])
    body = Body(BodyEntry(udid: UDID("x"), name: "hall", under: FleetConfiguration()), phone: nil)
  }

  private func answer(_ text: String, by deadline: Deadline = .after(.seconds(20))) async throws -> Bool {
    defer {
      close(pipe.read)
      close(pipe.write)
    }
    let person = try TerminalOperator(Output(stderr: open("/dev/null", O_WRONLY)), input: pipe.read, isTerminal: true)
    let bytes = Array(text.utf8)
    _ = write(pipe.write, bytes, bytes.count)
    return await person.ask("Unlock hall", about: body, by: deadline)
  }

  @Test func `says yes with Enter`() async throws { #expect(try await answer("\n")) }
  @Test func `says yes with a word`() async throws { #expect(try await answer("Yes\n")) }
  @Test func `says no`() async throws { #expect(try await answer("n\n") == false) }
  @Test func `says nothing in time, which is no yes`() async throws {
    #expect(try await answer("", by: .after(.milliseconds(50))) == false)
  }
}

@Suite struct `a day of the calendar` {
  @Test(arguments: [
    ("2026-03-01", "2026-02-28", 1), ("2024-03-01", "2024-02-28", 2), ("2027-01-01", "2026-12-31", 1),
    ("2026-12-20", "2026-12-27", -7), ("2100-03-01", "2100-02-28", 1), ("2026-11-30", "2026-11-30", 0),
  ])
  func `is so many days after another`(_ later: String, _ earlier: String, _ days: Int) throws {
    #expect(try #require(CalendarDay(later)).days(since: try #require(CalendarDay(earlier))) == days)
  }
}
