import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `a run that goes on` {
  private let plan = "  - request: GET /x\n    expect: {status: 200}"
  private static let good = FakePhone.json(200, [:])
  private static let bad = FakePhone.json(500, [:])

  /// A phone whose door answers so, one after another; the last one stays.
  private func phone(_ answers: DoorAnswer.Ending..., udid: String = "00008110-000A1B2C3D4E5F60") -> FakePhone {
    FakePhone(udid: udid) { $0.answers["GET /x"] = answers }
  }

  @Test func `tries a failed scenario again, keeps every attempt, and calls the pass flaky`() async throws {
    var stage = Stage()
    stage.options.retries = 2

    let seen = await stage.run([try scenario(steps: plan)], on: phone(Self.bad, Self.bad, Self.good))

    #expect(seen.finished.map(\.verdict) == [.failed, .failed, .flaky])
    #expect(seen.finished.map(\.attempt) == [1, 2, 3] && seen.finished.map(\.isFinal) == [false, false, true])
    #expect(seen.message == "passed at attempt 3 of 3")
    #expect(seen.steps.map(\.attempt) == [1, 2, 3])
    #expect(seen.result.summary == "1 of 1 judged, on 1 phone: 1 flaky")
    #expect(seen.result.exit.number == 0)
  }

  @Test func `gives up when its attempts are used up, and tries neither skips nor known faults again`() async throws {
    var stage = Stage()
    stage.options.retries = 1
    let skipped = try scenario(
      steps: "  - request: GET /x", recovers: "  - wait: 1s", head: "needs: [locked]\nabout: x\n")
    var known = try scenario(steps: plan)
    known.name = "known"
    known.quarantine = Quarantine(reason: "slow", until: nil, ticket: nil, on: [])

    let failed = await stage.run([try scenario(steps: plan)], on: phone(Self.bad))
    let others = await stage.run([skipped, known], on: phone(Self.bad))

    #expect(failed.finished.map(\.verdict) == [.failed, .failed])
    #expect(failed.result.summary == "1 of 1 judged, on 1 phone: 1 failed")
    #expect(others.finished.map(\.verdict) == [.skipped, .quarantined])
  }

  @Test func `runs everything several times`() async throws {
    var stage = Stage()
    stage.options.rounds = 3
    var second = try scenario(steps: plan)
    second.name = "second"

    let seen = await stage.run([try scenario(steps: plan), second], on: phone(Self.good))

    #expect(seen.finished.map(\.round) == [1, 1, 2, 2, 3, 3])
    #expect(seen.result.summary == "6 of 6 judged, on 1 phone: 6 passed")
    guard case .runStarted(let started) = seen.events[0].happening else { throw Trouble("\(seen.events[0])") }
    #expect(started.planned == 6)
  }

  @Test func `stops at its first failure, also on the other phones`() async throws {
    var stage = Stage()
    stage.options.rounds = .max
    stage.options.untilFailure = true
    stage.options.jobs = 1

    let seen = await stage.run(
      [try scenario(steps: plan)], on: phone(Self.good, Self.good, Self.bad),
      phone(Self.good, udid: "00008101-000A1B2C3D4E001E"))

    #expect(seen.finished.map(\.verdict) == [.passed, .passed, .failed])
    #expect(seen.result.summary == "3 of 3 judged, on 2 phones: 2 passed, 1 failed")
  }

  @Test func `takes another order for each number and round, and the same for the same`() throws {
    let scenarios = try (1...8).map { number in
      var plan = try scenario(steps: plan)
      plan.name = "\(number)"
      return plan
    }
    func names(_ seed: UInt64?, round: Int = 1) -> [String] {
      var options = ScenarioRun.Options(number: 1, version: "1")
      options.seed = seed
      return options.order(scenarios, round: round).map(\.name)
    }

    #expect(names(nil) == (1...8).map { "\($0)" })
    #expect(names(42) == names(42))
    #expect(names(42) != names(43) && names(42) != names(42, round: 2))
    #expect(names(42).sorted() == names(nil))
  }

  @Test func `runs only what is selected, and plans no more`() async throws {
    var stage = Stage()
    stage.options.selects = { scenario, _ in scenario.name == "second" }
    var second = try scenario(steps: plan)
    second.name = "second"

    let seen = await stage.run([try scenario(steps: plan), second], on: phone(Self.good))

    #expect(seen.finished.map(\.scenario) == ["second"])
    #expect(seen.result.summary == "1 of 1 judged, on 1 phone: 1 passed")
  }

  @Test(arguments: ["412", "3.2.0"]) func `runs on the build that is expected`(_ build: String) async throws {
    var stage = Stage()
    stage.options.expectedBuild = build

    #expect(await stage.run([try scenario(steps: plan)], on: phone(Self.good)).verdict == .passed)
  }

  @Test func `runs nothing on another build`() async throws {
    var stage = Stage()
    stage.options.expectedBuild = "413"

    let seen = await stage.run([try scenario(steps: plan)], on: phone(Self.good))

    #expect(seen.events == [])
    #expect(seen.result.exit.number == 3)
    #expect(seen.result.refusal == "hall has 3.2.0 (412)")
  }

  @Test func `is no success with skips or flakes, where it is told so`() {
    var counts = VerdictCounts()
    counts.add(.passed)
    counts.add(.skipped)
    counts.add(.flaky)

    #expect(counts.exitCode.number == 0)
    #expect(counts.exitCode(failOnSkip: true).number == 1)
    #expect(counts.exitCode(failOnFlaky: true).number == 1)
  }

  @Test func `brings the configured app back in front after another one, whatever happened`() async throws {
    let phone = FakePhone { $0.active = true }
    var stage = Stage()
    stage.options.notes = TestNotes()
    let configured = stage.body(phone)
    stage.options.configured = [phone.udid: configured]

    let seen = await stage.run(
      [try scenario(steps: "  - launch: {fresh: true}")], on: phone, change: { $0.app.bundle = "com.example.other" })

    #expect(seen.verdict == .passed)
    #expect(phone.log == ["launch com.example.other", "launch com.example.kiosk"])
  }

  @Test func `says so where the configured app does not come back, and is no success`() async throws {
    let phone = FakePhone { $0.active = false }
    var stage = Stage()
    stage.configuration.app.launcher = .others
    stage.configuration.arrange[.inFront] = ArrangeMeans(command: ["front"])
    stage.lab = FakeLab { _ in .exited(1) }
    let said = Guarded<[String]>([])
    stage.options.notice = { sentence in said.with { $0.append(sentence) } }
    stage.options.configured = [phone.udid: stage.body(phone)]

    let seen = await stage.run(
      [try scenario(steps: "  - request: GET /hello")], on: phone, change: { $0.app.bundle = "com.example.other" })

    #expect(seen.verdict == .passed)
    #expect(seen.result.exit.number == 3)
    #expect(said.with { $0 }.first?.hasPrefix("hall is not back to in-front: ") == true)
  }

  /// It took as long as was left, or it only began when the time was over.
  @Test(arguments: [Duration.seconds(1), .zero])
  func `takes no look that its own end cut short for trouble of the cable`(_ took: Duration) async throws {
    let clock = TestClock()
    let udid = UDID("00008110-000A1B2C3D4E5F60")
    // Each request takes a second; the last one would need more time than is left.
    let phone = FakePhone(before: { _ in
      clock.advance(by: .seconds(1))
      return took
    })
    phone.state.with {
      $0.answers["GET /x"] = [
        Self.bad, .unreachable(.muxSilent(.system, detail: "no reply in time")), .unreachable(.absent(udid)),
      ]
    }
    var stage = Stage()
    stage.clock = clock

    let late = await stage.run(
      [try scenario(steps: "  - request: GET /x\n    expect: {status: 200}\n    retry-within: 2200ms")], on: phone)

    #expect(late.verdict == .failed)
    #expect(late.message?.hasPrefix("expected status 200, within 2.2 s; came at last status 500") == true)
  }
}
