import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

/// Notes that a test can look into, and spoil.
final class TestNotes: UndoNotes {
  private let all = Guarded<[UDID: [UndoNote]]>([:])
  private let log = Guarded<[Int]>([])
  private let trouble: HostTrouble?

  init(_ notes: [UDID: [UndoNote]] = [:], trouble: HostTrouble? = nil) {
    self.trouble = trouble
    all.with { $0 = notes }
  }

  /// How many notes there were after each change.
  var history: [Int] { log.with { $0 } }

  func store(_ notes: [UndoNote], of udid: UDID) throws(HostTrouble) {
    if let trouble { throw trouble }
    all.with { $0[udid] = notes }
    log.with { $0.append(notes.count) }
  }

  func notes(of udid: UDID) -> [UndoNote] { all.with { $0[udid] ?? [] } }
}

@Suite struct `the means of a state` {
  private let answers = "  - door: answers\n    within: 10s"

  private func plan(_ state: String, _ more: String = "", recovers: String? = nil) throws -> Scenario {
    try scenario(steps: "  - arrange: \(state)\n\(more)", recovers: recovers ?? answers)
  }

  @Test func `stop the process over the cable and let it go on, with no help from the app`() async throws {
    let phone = FakePhone()

    let seen = await Stage().run([try plan("suspended", "  - door: silent")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(phone.log == ["suspend com.example.kiosk", "resume com.example.kiosk"])
    #expect(
      seen.steps[0].came
        == "the door accepts and never answers, and the app runs, by stopping com.example.kiosk over the cable")
  }

  @Test func `end the process over the cable, and launch the app again`() async throws {
    let phone = FakePhone()

    let seen = await Stage().run([try plan("not-running", "  - door: silent")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(phone.log == ["kill com.example.kiosk", "launch com.example.kiosk"])
  }

  @Test func `keep the camera busy with a clip, and wait for its end`() async throws {
    let busy = FakePhone.json(200, ["capturing": "back"])
    let free = FakePhone.json(200, ["capturing": nil])
    let phone = FakePhone { $0.answers["GET /status"] = [free, free, busy, busy, free] }

    let seen = await Stage().run([try plan("camera-busy")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(seen.steps[0].came == "status says capturing: \"back\", by a clip")
    #expect(phone.state.with { $0.requests.contains { $0.target == "/clip?camera=back&seconds=20" } })
    #expect(phone.log == [])
  }

  @Test func `believe whoever did what no phone tells, and take it back by fleet.yaml's own undo`() async throws {
    let phone = FakePhone()
    var stage = Stage()
    stage.configuration.arrange[.cameraStuck] = ArrangeMeans(
      command: ["stick"], undo: LabDeed(command: ["unstick"]))

    let seen = await stage.run([try plan("camera-stuck")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(stage.lab.log == ["stick", "unstick"])
    #expect(seen.steps[0].came == "by the command 'stick'; no phone tells whether its camera is stuck")
  }

  @Test func `start the app anew where a stuck camera has no undo of its own`() async throws {
    let phone = FakePhone()
    var stage = Stage()
    stage.configuration.arrange[.cameraStuck] = ArrangeMeans(command: ["stick"])

    let seen = await stage.run([try plan("camera-stuck")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(phone.state.with { $0.launches.map(\.fresh) } == [true])
  }

  @Test func `give the grant back before the app, which iOS ends when it changes`() async throws {
    let phone = FakePhone()
    var stage = Stage()
    stage.lab = FakeLab { command in
      phone.state.with {
        $0.grant = command.argv[0] == "deny" ? "denied" : "authorized"
        if command.argv[0] == "allow" { $0.isRunning = false }
      }
      return .exited(0)
    }
    stage.configuration.arrange = [
      .cameraDenied: ArrangeMeans(command: ["deny"]), .cameraGranted: ArrangeMeans(command: ["allow"]),
    ]

    let seen = await stage.run([try plan("camera-denied")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(stage.lab.log == ["deny", "allow"])
    #expect(phone.log == ["launch com.example.kiosk"])
  }

  @Test func `are only waiting, where somebody else brings the app back`() async throws {
    var stage = Stage()
    stage.configuration.app.launcher = .others
    let clock = stage.clock
    let box = Guarded<FakePhone?>(nil)
    let watched = FakePhone(before: { _ in
      if clock.now >= .seconds(8) { box.with { $0 }?.state.with { $0.isRunning = true } }
      return .zero
    })
    box.with { $0 = watched }

    let seen = await stage.run([try plan("not-running")], on: watched)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(watched.log == ["kill com.example.kiosk"])
  }

  @Test(arguments: ["listener-dead", "camera-stuck", "rebooted", "before-first-unlock", "camera-denied"])
  func `are missing before anything is changed`(_ state: String) async throws {
    let phone = FakePhone()

    let seen = await Stage().run([try plan(state)], on: phone)

    #expect(seen.verdict == .skipped)
    #expect(seen.message?.hasPrefix("nothing brings hall to \(state). ") == true)
    #expect(phone.log == [])
  }

  @Test func `are missing on the way back, and so nothing is changed either`() async throws {
    let phone = FakePhone()
    var stage = Stage()
    stage.configuration.arrange[.rebooted] = ArrangeMeans(command: ["reboot"])

    let seen = await stage.run([try plan("rebooted")], on: phone)

    #expect(seen.verdict == .skipped)
    #expect(
      seen.message
        == "rebooted could be brought about on hall, but nothing brings it back to unlocked. Add unlocked under arrange in "
        + "fleet.yaml, or run with --attended")
    #expect(stage.lab.log == [])
  }

  @Test func `find a restart by the bus: away, and back under another number`() async throws {
    let phone = FakePhone()
    var stage = Stage()
    let number = Guarded(1)
    stage.lab = FakeLab { command in
      if command.argv[0] == "reboot" {
        number.with { $0 = 7 }
        phone.state.with { ($0.isRunning, $0.lock) = (false, .locked) }
      } else {
        phone.state.with { $0.lock = .unlocked }
      }
      return .exited(0)
    }
    stage.configuration.arrange = [
      .rebooted: ArrangeMeans(command: ["reboot"]), .unlocked: ArrangeMeans(command: ["unlock"]),
    ]
    stage.options.presence = { body in
      body.phone.map {
        ListedPhone(
          udid: $0.udid, serial: $0.serial, deviceID: number.with { $0 }, transport: .usb, alsoNetwork: false)
      }
    }

    let seen = await stage.run([try plan("rebooted", "  - door: silent")], on: phone)

    #expect(seen.finished.map(\.message) == [nil])
    #expect(stage.lab.log == ["reboot", "unlock"])
    #expect(phone.log == ["launch com.example.kiosk"])
    #expect(seen.steps[0].came == "the phone has left the bus and is back, by the command 'reboot'")
  }

  @Test func `mount a missing developer image where the owner wants that, and only there`() async throws {
    let mounted = Guarded(false)
    let phone = FakePhone {
      $0.active = false
      $0.launchError = .launchRefused(UDID("x"), .noDeveloperImage, detail: "")
    }
    var stage = Stage()
    let plan = try scenario(steps: "  - arrange: in-front")

    let alone = await stage.run([plan], on: phone)
    stage.options.mountImage = { _ in
      mounted.with { $0 = true }
      phone.state.with { $0.launchError = nil }
      return nil
    }
    let helped = await stage.run([plan], on: phone)

    #expect(alone.verdict == .skipped)
    #expect(helped.finished.map(\.message) == [nil])
    #expect(mounted.with { $0 } && phone.log.count == 3)
    #expect(helped.steps[0].deeds == ["the developer image is mounted"])
  }

  @Test func `are told the names of a for-each and of --var, too`() async throws {
    let text =
      "scenario: x\nsteps:\n  - for-each: {camera: [front]}\n    steps:\n      - command: [aim]\n"
    let plan = try ScenarioFile.parse(Array(text.utf8), file: "f", variables: ["lamp-no": "3"])
    let stage = Stage()

    _ = await stage.run([plan], on: FakePhone())

    #expect(stage.lab.last?.environment["FLEETCTL_CAMERA"] == "front")
    #expect(stage.lab.last?.environment["FLEETCTL_LAMP_NO"] == "3")
  }

  @Test func `blame the app and not themselves for a door that stays shut after its launch`() async throws {
    let phone = FakePhone { $0.answers["GET /hello"] = [FakePhone.json(200, ["active": true]), .refused] }

    let seen = await Stage().run(
      [try plan("not-running", recovers: "  - door: answers\n    within: 5s")], on: phone)

    #expect(seen.verdict == .failed)
    #expect(seen.message?.hasPrefix("it did not recover: expected the door to answer, within 5 s") == true)
    #expect(seen.finished[0].notUndone == nil)
  }
}

@Suite struct `what a run leaves when it is killed` {
  private let udid = UDID("00008110-000A1B2C3D4E5F60")

  private func note(_ state: BodyState, _ back: String) -> UndoNote {
    UndoNote(state: state, back: back, scenario: "before", run: 3)
  }

  @Test func `is written down before anything is changed, and taken out when it is undone`() async throws {
    let notes = TestNotes()
    let seenByLab = Guarded<[UndoNote]>([])
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])
    let udid = udid
    stage.lab = FakeLab { command in
      if command.argv[0] == "back" { seenByLab.with { $0 = notes.notes(of: udid) } }
      phone.state.with { $0.active = command.argv[0] == "front" }
      return .exited(0)
    }
    stage.options.notes = notes

    _ = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(
      seenByLab.with { $0 } == [UndoNote(state: .inBackground, back: "in-front", scenario: "test", run: 7)])
    #expect(notes.history == [1, 0])
  }

  @Test func `keeps anything from being changed, where it cannot be written down`() async throws {
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])
    stage.options.notes = TestNotes(trouble: .slowDisk(limit: .seconds(10)))

    let seen = await stage.run([try scenario(steps: background, recovers: photoAgain)], on: phone)

    #expect(seen.verdict == .error)
    #expect(stage.lab.log == [] && phone.log == [])
  }

  @Test func `stays written down of a phone that was pulled out and stays away`() async throws {
    let notes = TestNotes()
    let phone = FakePhone()
    var stage = arrangeStage(phone, [.inFront: "front", .inBackground: "back"])
    stage.lab = FakeLab { command in
      guard command.argv[0] == "pull" else {
        phone.state.with { $0.active = command.argv[0] == "front" }
        return .exited(0)
      }
      phone.state.with { $0.error = .absent(phone.udid) }
      return .exited(0)
    }
    stage.configuration.app.launcher = .others
    stage.options.notes = notes

    let seen = await stage.run(
      [
        try scenario(
          steps: "  - arrange: in-background\n  - command: [pull]\n  - request: GET /hello", recovers: photoAgain)
      ], on: phone)

    #expect(seen.verdict == .error)
    #expect(seen.finished[0].notUndone != nil)
    #expect(notes.notes(of: udid).map(\.state) == [.inBackground])
  }

  @Test func `is undone by the next run before its first scenario, the last first`() async throws {
    let phone = FakePhone {
      $0.active = false
      $0.lock = .locked
    }
    var stage = arrangeStage(phone, [.inFront: "front", .unlocked: "unlock"])
    let notes = TestNotes([udid: [note(.inBackground, "in-front"), note(.locked, "unlocked")]])
    let said = Guarded<[String]>([])
    stage.options.notes = notes
    stage.options.notice = { sentence in said.with { $0.append(sentence) } }

    let seen = await stage.run([try scenario(steps: "  - request: GET /hello")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(stage.lab.log == ["unlock", "front"])
    #expect(notes.history.last == 0)
    #expect(
      said.with { $0 } == [
        "hall: run 3 was ended in the middle of 'before'; it is back to unlocked.",
        "hall: run 3 was ended in the middle of 'before'; it is back to in-front.",
      ])
  }

  @Test func `keeps its phone from being judged while it cannot be undone, and stays noted`() async throws {
    let phone = FakePhone { $0.lock = .locked }
    var stage = arrangeStage(phone)
    let notes = TestNotes([udid: [note(.locked, "unlocked")]])
    stage.options.notes = notes

    let seen = await stage.run([try scenario(steps: "  - request: GET /hello")], on: phone)

    #expect(seen.verdict == .error)
    #expect(
      seen.message?.hasPrefix("run 3 was ended in the middle of 'before' and left locked: hall is not back to unlocked")
        == true)
    #expect(notes.notes(of: udid) == [note(.locked, "unlocked")])
  }

  @Test func `is dropped where nobody understands it any more`() async throws {
    var stage = Stage()
    let notes = TestNotes([udid: [note(.locked, "sideways")]])
    stage.options.notes = notes

    let seen = await stage.run([try scenario(steps: "  - request: GET /hello")], on: FakePhone())

    #expect(seen.verdict == .passed)
    #expect(notes.notes(of: udid) == [])
  }

  @Test func `can be undone by a supervisor, too`() async throws {
    let phone = FakePhone { $0.active = false }
    let notes = TestNotes([udid: [note(.inBackground, "in-front")]])
    let leftovers = Leftovers(of: Stage().body(phone), in: notes, lab: FakeLab(), clock: TestClock())

    #expect(try !leftovers.isEmpty)
    #expect(await leftovers.undo(over: phone) == nil)

    #expect(phone.log == ["launch com.example.kiosk"])
    #expect(try leftovers.isEmpty)
  }

  @Test func `lets a stopped process go on`() async throws {
    let phone = FakePhone { $0.isStopped = true }
    var stage = Stage()
    stage.options.notes = TestNotes([udid: [note(.suspended, "in-front")]])

    let seen = await stage.run([try scenario(steps: "  - door: answers")], on: phone)

    #expect(seen.verdict == .passed)
    #expect(phone.log == ["resume com.example.kiosk"])
  }
}
