import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

/// Closed until somebody opens it; tells when somebody waits at it.
private final class Gate: Sendable {
  private let arrivals = AsyncStream<Void>.makeStream()
  private let opening = AsyncStream<Void>.makeStream()

  @discardableResult
  func pass() async -> Duration {
    arrivals.continuation.yield()
    for await _ in opening.stream {}
    return .zero
  }
  func somebodyWaits() async { for await _ in arrivals.stream { return } }
  func open() { opening.continuation.finish() }
}

@Suite struct `a run` {
  private let hello = "  - request: GET /hello\n    expect: {status: 200}"
  private let first = "00008110-000A1B2C3D4E5F60"
  private let second = "00008101-000A1B2C3D4E001E"

  @Test func `streams what happens, one object after another`() async throws {
    var stage = Stage()
    stage.options.label = "nightly"
    stage.options.meta = ["BUILD_URL": "https://ci/1"]
    var plan = try scenario(steps: hello, recovers: "  - request: GET /x\n    expect: {status: 200}")
    plan.hash = "abc"

    let seen = await stage.run([plan], on: FakePhone())

    let body = #""body":"hall""#
    let udid = #""udid":"00008110-000A1B2C3D4E5F60""#
    #expect(
      seen.lines == [
        #"{"at":"2026-11-30T12:00:00.000Z","bodies":[{"CFBundleShortVersionString":"3.2.0","CFBundleVersion":"412",\#(body),"bundle":"com.example.kiosk","ios":"16.7","model":"iPhone12,1",\#(udid),"usb_port":null}],"event":"run-started","label":"nightly","meta":{"BUILD_URL":"https://ci/1"},"run":7,"scenarios":[{"file":"s.yaml","hash":"abc","scenario":"test"}],"version":"1.0"}"#,
        #"{"at":"2026-11-30T12:00:00.000Z","attempt":1,\#(body),"event":"scenario-started","round":1,"run":7,"scenario":"test",\#(udid)}"#,
        #"{"at":"2026-11-30T12:00:00.000Z","attempt":1,\#(body),"came":"status 200, application/json, {\"active\":true,\"ok\":true}, after 0 s","event":"step-finished","expected":"status 200","line":3,"ok":true,"round":1,"run":7,"scenario":"test","seconds":0,"step":"request GET /hello",\#(udid)}"#,
        #"{"at":"2026-11-30T12:00:00.000Z","attempt":1,\#(body),"came":"status 404, application/json, {\"error\":\"there is nothing here\"}, after 0 s","event":"step-finished","expected":"status 200","line":6,"ok":false,"round":1,"run":7,"scenario":"test","seconds":0,"step":"request GET /x",\#(udid)}"#,
        #"{"at":"2026-11-30T12:00:00.000Z","attempt":1,\#(body),"event":"scenario-finished","file":"s.yaml","final":true,"line":6,"message":"it did not recover: expected status 200; came status 404, application/json, {\"error\":\"there is nothing here\"}, after 0 s","recovery_s":null,"round":1,"run":7,"scenario":"test","seconds":0,\#(udid),"verdict":"failed"}"#,
        #"{"at":"2026-11-30T12:00:00.000Z","counts":{"error":0,"failed":1,"flaky":0,"passed":0,"quarantined":0,"skipped":0},"event":"run-finished","exit":1,"run":7,"seconds":0}"#,
      ])
    #expect(seen.result.summary == "1 of 1 judged, on 1 phone: 1 failed")
  }

  @Test func `tells the exit code that it is told, once, and by the verdicts where nobody says more`() async throws {
    var stage = Stage()
    let usual = await stage.run([try scenario(steps: hello)], on: FakePhone())
    let asked = Guarded<[Int]>([])
    stage.options.exitCode = { counts in
      asked.with { $0.append(counts.all) }
      return .signal(15)
    }
    let told = await stage.run([try scenario(steps: hello)], on: FakePhone())

    #expect(usual.result.exit.number == 0 && usual.lines.last?.contains("\"exit\":0") == true)
    #expect(told.result.exit.number == 143 && told.lines.last?.contains("\"exit\":143") == true)
    #expect(asked.with { $0 } == [1])
  }

  @Test func `judges every scenario on every phone, and a lost phone harms only its own`() async throws {
    let stage = Stage()
    let well = FakePhone(udid: first)
    let lost = FakePhone(udid: second) { $0.error = .absent(UDID("00008101-000A1B2C3D4E001E")) }

    let seen = await stage.run([try scenario(steps: hello), try scenario(steps: hello)], on: well, lost)

    #expect(seen.finished.filter { $0.udid == well.udid }.map(\.verdict) == [.passed, .passed])
    #expect(seen.finished.filter { $0.udid == lost.udid }.map(\.verdict) == [.error, .error])
    #expect(seen.finished.first { $0.udid == lost.udid }?.message?.contains("is not on the bus") == true)
    #expect(seen.result.summary == "2 of 4 judged, on 2 phones: 2 passed, 2 errors")
    #expect(seen.result.exit.number == 3)
    #expect(well.state.with { $0.isClosed } && lost.state.with { $0.isClosed })
  }

  @Test func `calls it an error when the phone is lost in the middle, not a failure of the app`() async throws {
    let udid = UDID(first)
    let phone = FakePhone { $0.answers["GET /x"] = [.unreachable(.lost(udid, step: "answering"))] }

    let seen = await Stage().run([try scenario(steps: "  - request: GET /x\n    expect: {status: 200}")], on: phone)

    #expect(seen.verdict == .error)
  }

  @Test func `calls a body that is known and absent an error, and goes on`() async throws {
    let stage = Stage()
    let phones = [FakePhone(udid: first), FakePhone(udid: second)]
    let seen = Guarded<[RunEvent]>([])
    let absent = phones[1].udid
    let run = stage.prepared([try scenario(steps: hello)], on: phones) {
      if $0.udid == absent { $0.phone = nil }
    } _: { event in
      seen.with { $0.append(event) }
    }

    let result = await run.run()

    #expect(result.counts[.error] == 1)
    #expect(result.counts[.passed] == 1)
  }

  @Test func `leaves out bodies that are out of service until their day is over`() async throws {
    let phone = FakePhone()
    let plan = try scenario(steps: hello)
    func seen(until: String) async -> Seen {
      await Stage().run([plan], on: phone) {
        $0.outOfService = OutOfService(reason: "battery", until: CalendarDay(until))
      }
    }

    let still = await seen(until: "2026-11-30")
    let over = await seen(until: "2026-11-29")

    #expect(still.result.summary == "0 of 0 judged, on 0 phones")
    #expect(still.result.exit.number == 4)
    #expect(over.verdict == .passed)
  }

  @Test func `reports a known fault apart, until its day is over`() async throws {
    let failing = "  - request: GET /x\n    expect: {status: 200}"
    func seen(_ steps: String, until: String, on: String = "[hall]") async throws -> Seen {
      let head = "quarantine: {reason: the camera never calls back, until: \(until), on: \(on)}\n"
      return await Stage().run([try scenario(steps: steps, head: head)], on: FakePhone())
    }

    let apart = try await seen(failing, until: "2026-11-30")
    let passes = try await seen(hello, until: "2026-11-30")
    let over = try await seen(failing, until: "2026-11-29")
    let elsewhere = try await seen(failing, until: "2026-11-30", on: "[tag:old, stairs]")

    #expect(apart.verdict == .quarantined)
    #expect(apart.message?.hasPrefix("the camera never calls back: expected status 200") == true)
    #expect(apart.result.exit.number == 4)
    #expect(passes.verdict == .quarantined)
    #expect(passes.message == "quarantined, but passes")
    #expect(over.verdict == .failed)
    #expect(elsewhere.verdict == .failed)
  }

  @Test func `says what keeps it from sending the token`() async throws {
    var stage = Stage()
    stage.configuration.door.tokenFile = "/nowhere/token"

    let seen = await stage.run([try scenario(steps: hello)], on: FakePhone())

    #expect(seen.verdict == .error)
    #expect(seen.message == "the door's token: /nowhere/token: cannot be opened: No such file or directory")
  }

  @Test func `shows no secret of fleet.yaml`() async throws {
    var stage = Stage()
    stage.options.secrets = [Secret("s3cret")]
    stage.options.label = "s3cret"

    let seen = await stage.run(
      [try scenario(steps: "  - request: GET /s3cret\n    expect: {json: {a: s3cret}}")], on: FakePhone())

    #expect(seen.verdict == .failed)
    #expect(!seen.lines.joined().contains("s3cret"))
  }

  @Test func `works on no more phones at once than it may`() async throws {
    let most = Guarded((now: 0, most: 0))
    let phones = (0..<6).map { number in
      FakePhone(udid: "0000811\(number)-000A1B2C3D4E5F60") { _ in
      } before: { _ in
        most.with {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        for _ in 0..<20 { await Task.yield() }
        most.with { $0.now -= 1 }
        return .zero
      }
    }
    var stage = Stage()
    stage.options.jobs = 2

    let run = stage.prepared([try scenario(steps: hello)], on: phones) { _ in }
    let result = await run.run()

    #expect(result.counts[.passed] == 6)
    #expect(most.with { $0.most } <= 2)
  }

  // MARK: - Stopped

  @Test func `when stopped leaves the step, undoes, and judges nothing more`() async throws {
    let gate = Gate()
    let phone = FakePhone(before: { $0.target == "/slow" ? await gate.pass() : .zero })
    let stage = Stage()
    let plan = try scenario(
      steps: "  - arrange: in-background\n  - request: GET /slow", recovers: "  - request: GET /after")
    let events = Guarded<[RunEvent]>([])
    let run = stage.prepared([plan, plan], on: [phone]) { event in events.with { $0.append(event) } }

    let task = Task { await run.run() }
    await gate.somebodyWaits()
    task.cancel()
    let result = await task.value
    gate.open()

    let seen = Seen(result: result, events: events.with { $0 })
    #expect(result.stopped)
    #expect(result.summary == "0 of 2 judged, on 1 phone: 1 error, 1 not run, stopped")
    #expect(seen.finished.map(\.message) == ["the run was stopped before it was judged"])
    #expect(phone.log == ["launch com.apple.Preferences", "launch com.example.kiosk"])
    #expect(!phone.state.with { $0.requests }.contains { $0.target == "/after" })
    #expect(phone.state.with { $0.isClosed })
  }

  @Test func `when stopped in the middle of a lab's command ends it, and undoes what it may have done`() async throws {
    let gate = Gate()
    let phone = FakePhone()
    var stage = Stage()
    stage.configuration.arrange = [
      .locked: ArrangeMeans(command: ["lock"]), .unlocked: ArrangeMeans(command: ["unlock"]),
    ]
    stage.lab = FakeLab { command in
      guard command.argv == ["lock"] else {
        phone.state.with { $0.lock = .unlocked }
        return .exited(0)
      }
      phone.state.with { $0.lock = .locked }
      _ = await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        gate.open()
      }
      return .stopped
    }
    let run = stage.prepared(
      [try scenario(steps: "  - arrange: locked", recovers: "  - request: GET /after")], on: [phone]
    ) { _ in }

    let task = Task { await run.run() }
    await gate.somebodyWaits()
    task.cancel()
    let result = await task.value

    #expect(result.counts[.error] == 1)
    #expect(stage.lab.log == ["lock", "unlock"])
    #expect(phone.state.with { $0.lock } == .unlocked)
  }

  @Test func `that is stopped before it began judges nothing`() async throws {
    let phone = FakePhone()
    let run = Stage().prepared([try scenario(steps: hello)], on: [phone]) { _ in }

    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await run.run()
    }
    let result = await task.value

    #expect(result.summary == "0 of 1 judged, on 1 phone: 1 not run, stopped")
    #expect(phone.log == [])
  }

  @Test func `keeps a failure that came before it was stopped`() async throws {
    let gate = Gate()
    let phone = FakePhone(before: { $0.target == "/after" ? await gate.pass() : .zero })
    let events = Guarded<[RunEvent]>([])
    let run = Stage().prepared(
      [try scenario(steps: "  - request: GET /x\n    expect: {status: 200}", recovers: "  - request: GET /after")],
      on: [phone]
    ) { event in events.with { $0.append(event) } }

    let task = Task { await run.run() }
    await gate.somebodyWaits()
    task.cancel()
    let result = await task.value
    gate.open()

    #expect(result.counts[.failed] == 1)
  }
}

@Suite struct `the scenarios' clock` {
  @Test func `runs as fast as it is told, limits included`() {
    let clock = Scenarios.ScaledClock(scale: 10)

    let left = clock.deadline(after: .seconds(40)).remaining

    #expect(left > .seconds(3) && left <= .seconds(4))
  }

  @Test func `measures in its own time`() async throws {
    let clock = Scenarios.ScaledClock(scale: 1_000)
    let start = ContinuousClock.now
    let before = clock.now

    try await clock.sleep(for: .seconds(5))
    let slept = clock.now - before

    #expect(slept >= .seconds(5))
    #expect(slept <= (ContinuousClock.now - start) * 1_000)
  }
}
