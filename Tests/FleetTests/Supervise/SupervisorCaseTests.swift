import DeviceBridge
import Fleet
import Testing
import Transport
import VirtualPhone
import Wire

/// A host's clocks that can jump.
final class JumpingClock: HostClock {
  private let base: SystemClock
  private let jumps = Guarded<(elapsed: Duration, wall: Duration)>((.zero, .zero))

  init(_ base: SystemClock) { self.base = base }

  var scale: Double { base.scale }
  var boot: String { base.boot }
  var wall: Duration { base.wall + jumps.with { $0.wall } }
  var now: HostMoment {
    let now = base.now
    return HostMoment(awake: now.awake, elapsed: now.elapsed + jumps.with { $0.elapsed })
  }
  func sleep(for span: Duration) async throws(CancellationError) { try await base.sleep(for: span) }
  func deadline(after span: Duration) -> Deadline { base.deadline(after: span) }

  /// The host sleeps; the wall clock goes on.
  func sleepHost(_ span: Duration) { jumps.with { ($0.elapsed, $0.wall) = ($0.elapsed + span, $0.wall + span) } }
  func setWall(by span: Duration) { jumps.with { $0.wall += span } }
}

@Suite(.serialized) struct `a supervisor in the field` {
  @Test func `H10: writes one row when the daemon goes, and one when it is back`() async throws {
    let bed = try SupervisorBed("16.7", "18.5")
    try await bed.start()
    #expect(await bed.rows("up"))
    #expect(await bed.rows("up", of: 2))

    try bed.do("mux-quit", ["for": "6s"])

    #expect(await bed.rows("unreachable/no-usbmuxd", "up", of: nil))
    #expect(await bed.rounds(2))
    #expect(bed.words(1) == ["up"])
    #expect(bed.words(2) == ["up"])
    #expect(bed.said.with { $0.count } == 2, "once when it went, once when it was back")
  }

  @Test func `H13: has one row and no flood of lines for a phone that nobody has trusted`() async throws {
    let bed = try SupervisorBed("16.7")
    try bed.do("untrust")
    try bed.do("kill-app")
    try await bed.start()

    #expect(await bed.rows("untrusted/no-record"))
    #expect(await bed.rounds(6))
    #expect(bed.words() == ["untrusted/no-record"])
    #expect(bed.said.with { $0.isEmpty })
  }

  @Test func `H14: hears the daemon anew as often as it hangs up, and sees nobody leave`() async throws {
    let bed = try SupervisorBed("16.7")
    try await bed.start()
    #expect(await bed.rows("up"))

    for _ in 0..<20 {
      try bed.do("mux-drop")
      try await ContinuousClock().sleep(for: .milliseconds(60))
    }

    #expect(await bed.rounds(2))
    #expect(bed.words() == ["up"])
    try bed.do("detach")
    #expect(await bed.rows("up", "unreachable/detached"))
  }

  @Test func `H19: leaves a phone alone before its first unlock, and begins a fresh grace after it`() async throws {
    let bed = try SupervisorBed("16.7")
    try await bed.start()
    #expect(await bed.rows("up"))

    try bed.do("reboot", ["for": "1s"])

    #expect(await bed.rows("up", "locked/before-first-unlock"))
    #expect(await bed.rounds(2))
    #expect(bed.launches() == 0)
    try bed.do("mount")
    try bed.do("unlock")
    #expect(await bed.rows("up", "locked/before-first-unlock", "revived"))
    #expect(bed.launches() == 1)
  }

  @Test func `H35: launches once for a door that takes and never answers, and is up when it answers again`()
    async throws
  {
    // A launch is only believed when the app has lived a second, which is one on the wall.
    let bed = try SupervisorBed("18.5", scale: 8)
    try await bed.start()
    #expect(await bed.rows("up"))

    try bed.do("door-fault", ["kind": "silent"])

    #expect(await bed.rows("up", "launched-no-answer/no-answer"), "\(bed.rows.with { $0 })")
    #expect(bed.launches() == 1)
    try bed.do("door-fault", ["kind": "none"])
    #expect(await bed.rows("up", "launched-no-answer/no-answer", "up"))
  }

  @Test func `H44: keeps its connections to the others when one phone reboots`() async throws {
    let bed = try SupervisorBed("16.7", "17.6", "18.5")
    try await bed.start()
    for phone in 1...3 { #expect(await bed.rows("up", of: phone)) }
    #expect(await bed.rounds(1))
    let before = [bed.connects(1, port: 8127), bed.connects(3, port: 8127)]

    try bed.do("reboot", on: 2, ["for": "8s", "unlock": "6s", "image": "mounted"])

    #expect(
      await bed.rows("up", "unreachable/detached", "locked/before-first-unlock", "revived", of: 2)
    )
    #expect([bed.connects(1, port: 8127), bed.connects(3, port: 8127)] == before)
    #expect(bed.words(1) == ["up"])
    #expect(bed.words(3) == ["up"])
    #expect(bed.launches(2) == 1)
  }

  @Test func `H45: counts a drop of the cable that is shorter than the settle time, and writes no row`() async throws {
    let bed = try SupervisorBed("16.7")
    let supervisor = try await bed.start(bed.configuration { $0.supervise.settle = .seconds(8) })
    #expect(await bed.rows("up"))

    for _ in 0..<2 {
      let flaps = supervisor.bodies()[0].flaps
      try bed.do("detach", ["for": "5s"])
      #expect(await eventually { supervisor.bodies()[0].flaps == flaps + 1 })
      // Only what has stayed for the settle time has come back.
      #expect(await bed.rounds(6))
    }

    #expect(bed.words() == ["up"])
    #expect(bed.launches() == 0)
  }

  @Test func `H46: launches when the grace is over, however the wall clock jumps, and numbers go on rising`()
    async throws
  {
    let bed = try SupervisorBed("18.5")
    let clock = JumpingClock(bed.clock)
    try await bed.start { $0.clock = clock }
    #expect(await bed.rows("up"))
    let began = clock.now.awake

    try bed.do("kill-app")
    clock.setWall(by: .seconds(-3_600))
    #expect(await eventually { clock.now.awake - began > .seconds(2) })
    clock.setWall(by: .seconds(7_200))

    #expect(await bed.rows("up", "revived"))
    #expect(clock.now.awake - began >= .seconds(4), "not before the grace is over")
    #expect(await eventually { bed.kept.with { $0.compactMap(\.seq) } == [1, 2] })
  }

  @Test func `H47: takes the host's sleep for no silence, and asks afresh before it launches`() async throws {
    let bed = try SupervisorBed("18.5")
    let clock = JumpingClock(bed.clock)
    try await bed.start { $0.clock = clock }
    #expect(await bed.rows("up"))

    try bed.do("door-fault", ["kind": "reset"])
    #expect(await bed.rounds(1))
    clock.sleepHost(.seconds(600))
    try bed.do("door-fault", ["kind": "none"])
    #expect(await bed.rounds(3))
    #expect(bed.words() == ["up"])
    #expect(bed.launches() == 0)

    try bed.do("kill-app")
    #expect(await bed.rounds(1))
    clock.sleepHost(.seconds(600))
    #expect(await bed.rows("up", "revived"))
    #expect(bed.rows.with { $0.last?.detail?.contains("interrupted") } == true)
    #expect((bed.rows.with { $0.last?.silent } ?? .zero) < .seconds(60))
  }
}
