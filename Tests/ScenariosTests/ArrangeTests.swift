import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `arranging a state` {
  @Test func `takes fleet.yaml's command before the bridge, and undoes it before recovery`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["back", "front"])
    #expect(phone.log == [])
    #expect(seen.steps[0].came == "hello says active: false, by the command 'back'")
  }

  @Test func `takes the bridge where fleet.yaml names nothing`() async throws {
    let phone = FakePhone()

    let seen = await arrangeStage(phone).run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .passed)
    #expect(phone.log == ["launch com.apple.Preferences", "launch com.example.kiosk"])
  }

  @Test func `takes the operator last, and only in an attended run`() async throws {
    let phone = FakePhone { $0.launchError = .launchRefused(UDID("x"), .notOnThisIOS, detail: "") }
    var stage = arrangeStage(phone)
    let person = FakeOperator { sentence in
      phone.state.with { $0.active = !sentence.hasPrefix("Put") }
      return true
    }
    let plan = try scenario(steps: background, recovers: photoAgain)

    let alone = await stage.run([plan], on: phone)
    stage.attendant = person
    let attended = await stage.run([plan], on: phone)

    #expect(alone.verdict == .skipped)
    #expect(alone.message?.hasPrefix("hall could not be brought to in-background: ") == true)
    #expect(attended.verdict == .passed)
    #expect(
      person.log == [
        "Put the kiosk app on hall in the background: open another app", "Bring the kiosk app on hall to the front",
      ])
  }

  @Test func `asks an app's hook as fleet.yaml names it`() async throws {
    let phone = FakePhone { $0.answers["POST /test/background"] = [FakePhone.json(204, [:])] }
    var stage = arrangeStage(phone)
    stage.configuration.arrange = [.inBackground: ArrangeMeans(request: "POST /test/background")]
    phone.state.with {
      $0.answers["GET /hello"] = [FakePhone.json(200, ["active": true]), FakePhone.json(200, ["active": false])]
    }

    let seen = await stage.run([try scenario(steps: "  - arrange: in-background", recovers: "  - wait: 1s")], on: phone)

    #expect(seen.steps[0].came == "hello says active: false, by the app's hook POST /test/background")
  }

  @Test func `does nothing where the state holds already`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.inFront: "front"])

    let seen = await stage.run([try scenario(steps: "  - arrange: in-front", recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .passed)
    #expect(seen.steps[0].came == "hello says active: true")
    #expect(stage.lab.log == [])
    #expect(phone.log == [])
  }

  @Test func `is an error when a means claims what the phone denies, and is undone all the same`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.inFront: "front", .inBackground: "nothing"])

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .error)
    #expect(
      seen.message == "the command 'nothing' is done and should have made it in-background, but hello says active: true"
    )
    #expect(seen.finished[0].line == 3)
    #expect(seen.steps.map(\.step) == ["arrange in-background", "request POST /photo?camera=front"])
  }

  @Test func `fills in a command's words and environment`() async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone)
    stage.lab = FakeLab { _ in
      phone.state.with { $0.lock = $0.lock == .locked ? .unlocked : .locked }
      return .exited(0)
    }
    let command = ["press", "{udid}", "{name}-{ios}-{scenario}", "{other}"]
    stage.configuration.arrange = [.locked: ArrangeMeans(command: command), .unlocked: ArrangeMeans(command: command)]

    _ = await stage.run([try scenario(steps: "  - arrange: locked", recovers: "  - lock: unlocked")], on: phone)

    #expect(stage.lab.last?.argv == ["press", "00008110-000A1B2C3D4E5F60", "hall-16.7-test", "{other}"])
    #expect(
      stage.lab.last?.environment == [
        "FLEETCTL_UDID": "00008110-000A1B2C3D4E5F60", "FLEETCTL_NAME": "hall", "FLEETCTL_IOS": "16.7",
        "FLEETCTL_SCENARIO": "test",
      ])
  }

  @Test(arguments: [
    (LabOutcome.Ending.exited(3), "the command 'lock' ended with 3: lamp broken"),
    (.killed(signal: 9), "the command 'lock' was ended by signal 9: lamp broken"),
    (.timedOut, "the command 'lock' did not end within 60 s: lamp broken"),
    (.notStarted("No such file or directory"), "the command 'lock' could not be started: No such file or directory"),
  ])
  func `is an error when the command does not work`(_ ending: LabOutcome.Ending, _ sentence: String) async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock"])
    stage.lab = FakeLab { _ in ending }

    let seen = await stage.run([try scenario(steps: "  - arrange: locked", recovers: "  - lock: unlocked")], on: phone)

    #expect(seen.verdict == .error)
    #expect(seen.message == sentence)
  }

  @Test func `is skipped before anything is touched where there is no way back`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.locked: "lock"])

    let seen = await stage.run(
      [try scenario(steps: "  - arrange: in-background\n  - arrange: locked", recovers: "  - lock: unlocked")],
      on: phone)

    #expect(seen.verdict == .skipped)
    #expect(
      seen.message
        == "locked could be brought about on hall, but nothing brings it back to unlocked. "
        + "Add unlocked under arrange in fleet.yaml, or run with --attended")
    #expect(stage.lab.log == [])
    #expect(phone.log == [])
    #expect(seen.result.exit.number == 4)
  }

  @Test func `is skipped where nothing leads there`() async throws {
    let phone = FakePhone()

    let seen = await arrangeStage(phone).run(
      [try scenario(steps: "  - arrange: locked", recovers: "  - lock: unlocked")], on: phone)

    #expect(seen.verdict == .skipped)
    #expect(
      seen.message
        == "nothing brings hall to locked. fleet.yaml names no means and the cable has none. "
        + "Add it under arrange, or run with --attended")
  }

  @Test func `leaves launching to others where fleet.yaml says so`() async throws {
    let phone = FakePhone()

    let seen = await arrangeStage(phone).run([try scenario(steps: background, recovers: photoAgain)], on: phone) {
      $0.app.launcher = .others
    }

    #expect(seen.verdict == .skipped)
    #expect(phone.log == [])
  }

  // MARK: - Needs

  @Test func `meets a need first, and takes it back last`() async throws {
    let phone = FakePhone { $0.lock = .locked }
    let stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock"])

    let seen = await stage.run(
      [try scenario(steps: "  - lock: unlocked", recovers: "  - lock: unlocked", head: "needs: [unlocked]\n")],
      on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["unlock", "lock"])
    #expect(phone.state.with { $0.lock } == .locked)
  }

  @Test func `leaves a phone unlocked that this lab cannot lock`() async throws {
    let phone = FakePhone { $0.lock = .locked }
    let stage = arrangeStage(phone, [.unlocked: "unlock"])

    let seen = await stage.run([try scenario(steps: "  - lock: unlocked", head: "needs: [unlocked]\n")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["unlock"])
  }

  @Test(arguments: [
    ("unlocked", "the phone is locked; nothing brings hall to unlocked."),
    ("camera-granted", "status says camera: denied; nothing brings hall to camera-granted."),
    ("app-installed", "com.example.kiosk is not installed; nothing brings hall to app-installed."),
  ])
  func `skips a scenario whose need is not met, with the reason`(_ need: String, _ beginning: String) async throws {
    let phone = FakePhone {
      $0.lock = .locked
      $0.grant = "denied"
      $0.installed = false
    }

    let seen = await arrangeStage(phone).run(
      [try scenario(steps: "  - request: GET /hello", head: "needs: [\(need)]\n")], on: phone)

    #expect(seen.verdict == .skipped)
    #expect(seen.message?.hasPrefix(beginning) == true, "\(seen.message ?? "")")
    #expect(seen.finished[0].line == 2)
    #expect(seen.steps.isEmpty)
    #expect(seen.result.exit.number == 4)
  }

  @Test func `does not take an unknown lock for an unlocked one`() async throws {
    let phone = FakePhone { $0.lock = .unknown }

    let seen = await arrangeStage(phone).run(
      [try scenario(steps: "  - request: GET /hello", head: "needs: [unlocked]\n")], on: phone)

    #expect(seen.verdict == .skipped)
    #expect(seen.message?.hasPrefix("the lock cannot be read: the session broke; nothing brings hall") == true)
  }

  @Test func `of needs that hold touches nothing`() async throws {
    let phone = FakePhone()

    let seen = await arrangeStage(phone).run(
      [
        try scenario(
          steps: "  - request: GET /hello", head: "needs: [unlocked, in-front, camera-granted, app-installed]\n")
      ], on: phone)

    #expect(seen.verdict == .passed)
    #expect(phone.log == [])
  }

  // MARK: - A state that is there already

  @Test func `brings an app to the front for its recovery that was in the background before`() async throws {
    let phone = FakePhone { $0.active = false }
    let stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["front"])
  }

  @Test func `unlocks a phone for its recovery that was locked before, and locks it again`() async throws {
    let phone = FakePhone { $0.lock = .locked }
    let stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock"])

    let seen = await stage.run([try scenario(steps: "  - arrange: locked", recovers: "  - lock: unlocked")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["unlock", "lock"])
    #expect(phone.state.with { $0.lock } == .locked)
  }

  @Test func `leaves alone what a need finds`() async throws {
    let phone = FakePhone { $0.active = false }
    let stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])

    let seen = await stage.run(
      [
        try scenario(
          steps: "  - request: GET /hello", recovers: "  - door: answers", head: "needs: [in-background]\n")
      ], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == [])
  }
}
