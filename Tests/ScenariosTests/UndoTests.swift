import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `what a scenario has arranged` {
  /// A phone that leaves when the lab first brings its app to the front, and comes back after five seconds.
  private func leaving(_ clock: TestClock, failing: Bool = false) -> (FakePhone, FakeLab) {
    let box = Guarded<FakePhone?>(nil)
    let phone = FakePhone(before: { _ in
      if clock.now >= .seconds(5) { box.with { $0 }?.state.with { $0.error = nil } }
      return .zero
    })
    box.with { $0 = phone }
    let hasLeft = Guarded(false)
    let lab = FakeLab { command in
      guard command.argv[0] == "front" else {
        phone.state.with { $0.active = false }
        return .exited(0)
      }
      let isFirst = hasLeft.with { was in
        defer { was = true }
        return !was
      }
      phone.state.with {
        if isFirst { $0.error = .absent(phone.udid) }
        if !isFirst || failing { $0.active = true }
      }
      return .exited(failing ? 1 : 0)
    }
    return (phone, lab)
  }

  @Test func `undoes again once a phone is back that was away`() async throws {
    var stage = arrangeStage(FakePhone(), [.inFront: "front", .inBackground: "back"])
    stage.configuration.app.launcher = .others
    let (phone, lab) = leaving(stage.clock)
    stage.lab = lab

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(lab.log == ["back", "front", "front"])
  }

  @Test func `calls nothing left behind that the phone, once it is back, shows as undone`() async throws {
    var stage = arrangeStage(FakePhone(), [.inFront: "front", .inBackground: "back"])
    stage.configuration.app.launcher = .others
    let (phone, lab) = leaving(stage.clock, failing: true)
    stage.lab = lab

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(lab.log == ["back", "front"])
  }

  @Test func `gives up an undo that does not work, and then blames no app`() async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])
    stage.configuration.app.launcher = .others
    stage.lab = FakeLab { command in
      if command.argv[0] == "back" { phone.state.with { $0.active = false } }
      return .exited(command.argv[0] == "back" ? 0 : 1)
    }

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .error)
    #expect(seen.message?.hasPrefix("not undone: hall is not back to in-front: the command 'front' ended") == true)
    #expect(seen.message?.contains("; afterwards: expected status 200") == true)
    #expect(seen.finished[0].notUndone?.hasPrefix("hall is not back to in-front: ") == true)
    #expect(stage.lab.log == ["back", "front", "front"])
  }

  @Test func `waits a minute with its undo for a phone that stays away`() async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])
    stage.configuration.app.launcher = .others
    stage.lab = FakeLab { command in
      phone.state.with {
        if command.argv[0] == "back" { $0.active = false } else { $0.error = .absent(phone.udid) }
      }
      return .exited(0)
    }

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .error)
    #expect(seen.finished[0].notUndone?.contains("is not on the bus") == true)
    #expect(stage.lab.log == ["back", "front"])
    #expect(stage.clock.now >= .seconds(60) && stage.clock.now < .seconds(70))
  }

  @Test func `undoes in reverse order after a failure, each once`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock", .inFront: "front", .inBackground: "back"])

    let seen = await stage.run(
      [
        try scenario(
          steps: "  - arrange: in-background\n  - arrange: locked\n  - request: GET /hello\n    expect: {status: 500}",
          recovers: photoAgain)
      ], on: phone)

    #expect(seen.verdict == .failed)
    #expect(stage.lab.log == ["back", "lock", "unlock", "front"])
    #expect(seen.finished[0].recoverySeconds == 0)
  }

  @Test func `finds undone what the scenario took back itself`() async throws {
    let phone = FakePhone()
    let stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock"])

    let seen = await stage.run(
      [try scenario(steps: "  - arrange: locked\n  - arrange: unlocked", recovers: "  - lock: unlocked")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["lock", "unlock"])
  }

  @Test func `is an error when what was arranged stays`() async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.locked: "lock", .unlocked: "unlock"])
    stage.lab = FakeLab { command in
      if command.argv == ["lock"] { phone.state.with { $0.lock = .locked } }
      return command.argv == ["lock"] ? .exited(0) : .exited(1)
    }

    let seen = await stage.run(
      [try scenario(steps: "  - arrange: locked", recovers: "  - request: GET /hello")], on: phone)

    #expect(seen.verdict == .error)
    #expect(
      seen.message
        == "not undone: hall is not back to unlocked: the command 'unlock' ended with 1: lamp broken")
  }
}
