import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the actions on the app` {
  @Test func `have the names that scenarios use`() {
    let names = Set(AppActions.all.map(\.name))

    #expect(names.count == AppActions.all.count)
    #expect(
      names.isSuperset(of: [
        "background", "foreground", "launch-app", "kill-app", "suspend", "resume", "kill-listener", "open-listener",
        "hold-camera", "release-camera", "stick-camera", "unstick-camera", "grant", "revoke", "place", "hands-on",
        "hands-off", "door-fault", "break", "mend", "install-app", "uninstall-app", "locked-launch", "launch-fault",
        "token",
      ]))
  }

  @Test func `do not share a name with those on the phone`() {
    #expect(Set(FleetDesk.actions.map(\.name)).count == FleetDesk.actions.count)
  }

  @Test func `say in one line what they do, and every key they take`() {
    for action in AppActions.all {
      #expect(!action.summary.isEmpty)
      #expect(!action.summary.contains("\n"))
      #expect(action.keys.allSatisfy { action.summary.contains("\($0)=") || action.name == "revoke" }, "\(action.name)")
    }
  }

  @Test(
    arguments: [
      ("break", ["what": "stay-busy"], "stays-busy"), ("grant", ["camera": "yes"], "authorized"),
      ("door-fault", ["kind": "silence"], "silent"), ("hold-camera", ["camera": "frnt"], "front"),
      ("locked-launch", ["mode": "deny"], "refuse"), ("launch-fault", ["kind": "lock"], "locked"),
      ("background", ["app": "com.nobody"], "com.apple.Preferences"), ("background", ["for": "soon"], "for=5s"),
      ("break", [:], "break what="),
    ] as [(String, [String: String], String)])
  func `refuse a word they do not know and name one to type`(
    name: String, values: [String: String], word: String
  ) throws {
    let phone = try TestPhone()

    let error = #expect(throws: ActionError.self) { try phone.perform(name, values) }

    #expect(error?.sentence.contains(word) == true)
  }

  @Test(arguments: ["kill-app", "suspend", "resume", "open-listener", "kill-listener", "hold-camera"])
  func `that need the app to run say so`(name: String) throws {
    let phone = try TestPhone(runs: false)

    let error = #expect(throws: ActionError.self) { try phone.perform(name) }

    #expect(error?.sentence.contains("Try: ") == true)
  }
}

@Suite struct `the phone's timers` {
  private final class Notes: Sendable {
    private let kept = Guarded([String]())
    func add(_ note: String) { kept.with { $0.append(note) } }
    var all: [String] { kept.with { $0 } }
  }

  @Test func `run what is due, in the order of its moments`() {
    let clock = ManualPhoneClock()
    let timers = PhoneTimers(clock: clock)
    let notes = Notes()
    timers.schedule(at: .seconds(30)) { notes.add("late") }
    timers.schedule(at: .seconds(10)) { notes.add("early") }
    timers.schedule(at: .seconds(20)) { notes.add("between") }

    clock.advance(by: .seconds(20))
    #expect(holds { notes.all == ["early", "between"] })
    clock.advance(by: .seconds(10))

    #expect(holds { notes.all == ["early", "between", "late"] })
    #expect(holds { !timers.isAtWork })
  }

  @Test func `forget what is cancelled, and end when nothing is left`() {
    let clock = ManualPhoneClock()
    let timers = PhoneTimers(clock: clock)
    let notes = Notes()
    let ticket = timers.schedule(at: .seconds(10)) { notes.add("cancelled") }

    timers.cancel(ticket)
    #expect(holds { !timers.isAtWork })
    timers.schedule(at: .seconds(20)) { notes.add("kept") }
    clock.advance(by: .seconds(20))

    #expect(holds { notes.all == ["kept"] })
  }

  @Test func `end with their owner`() {
    let clock = ManualPhoneClock()
    let notes = Notes()
    var timers: PhoneTimers? = PhoneTimers(clock: clock)
    timers?.schedule(at: .seconds(10)) { notes.add("never") }
    #expect(clock.awaitSleeper(until: .seconds(10)))

    timers = nil

    #expect(holds { !clock.hasSleepers })
    clock.advance(by: .seconds(10))
    #expect(notes.all.isEmpty)
  }
}
