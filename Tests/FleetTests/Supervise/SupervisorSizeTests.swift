import DeviceBridge
import Fleet
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a supervisor of a hundred phones` {
  @Test func `is late for nobody by a tenth of a second while twenty of them hang`() async throws {
    let bed = try SupervisorBed(phones: 100, scale: 1)
    let hanging = Set((1...20).map { bed.udid($0) })
    for phone in 1...20 { try bed.do("door-fault", on: phone, ["kind": "silent"]) }
    let every = Duration.seconds(2)
    try await bed.start(
      bed.configuration {
        $0.supervise.every = every
        $0.supervise.answerWithin = .seconds(2)
        $0.supervise.grace = .seconds(60)
      })
    // Until all are on their way, with their sessions and locks read.
    #expect(await eventually { bed.rows.with { $0.count } >= 80 })
    try await ContinuousClock().sleep(for: .seconds(1))
    let from = bed.fleet.journal.entries().count
    try await ContinuousClock().sleep(for: .milliseconds(4_500))

    var asked: [UDID: [Duration]] = [:]
    for entry in bed.fleet.journal.entries().dropFirst(from) where entry.event == "door-request" {
      if let udid = entry.udid { asked[udid, default: []].append(.seconds(entry.phoneSeconds)) }
    }
    let healthy = asked.filter { !hanging.contains($0.key) }
    #expect(healthy.count == 80)
    let gaps = healthy.values.flatMap { moments in zip(moments.dropFirst(), moments).map { $0 - $1 } }.sorted()
    #expect(gaps.count >= 80)
    // One in a hundred may meet another program's moment on this machine.
    #expect(gaps[gaps.count * 99 / 100 - 1] <= every + .milliseconds(100))
    // A phone that hangs is asked again when its probe has ended, and not before.
    for moments in asked.filter({ hanging.contains($0.key) }).values {
      for (next, one) in zip(moments.dropFirst(), moments) { #expect(next - one >= .milliseconds(1_900)) }
    }
  }

  @Test func `ends within two seconds, however its phones hang`() async throws {
    let bed = try SupervisorBed(phones: 10)
    for phone in 1...10 { try bed.do("lockdown-fault", on: phone, ["kind": "hang"]) }
    for phone in 1...10 { try bed.do("door-fault", on: phone, ["kind": "silent"]) }
    let supervisor = try await bed.start()
    try await ContinuousClock().sleep(for: .milliseconds(700))

    let start = ContinuousClock.now
    #expect(supervisor.stop(by: .after(.seconds(5))))
    #expect(.now - start < .seconds(2))
  }

  @Test func `takes an answer of a hundred megabytes for a bad reply, and keeps none of it`() async throws {
    let bed = try SupervisorBed("18.5")
    let supervisor = try await bed.start()
    #expect(await bed.rows("up"))
    try bed.do(
      "door-fault",
      ["kind": "raw", "text": "HTTP/1.1 500 No\\r\\nContent-Length: 104857600\\r\\n\\r\\nabc"])

    #expect(await eventually { supervisor.bodies().first?.silent != nil })
    #expect(await bed.rounds(1))
    #expect(supervisor.bodies().first?.words == OutcomeWords(.up), "not before the grace is over")
  }

  @Test func `shows a device name of 4 KiB with control characters as one line`() async throws {
    let bed = try SupervisorBed("16.7")
    try bed.do("name", ["to": String(repeating: "\u{1B}[31m\n", count: 800)])
    let supervisor = try await bed.start()
    #expect(await eventually { supervisor.bodies().first?.deviceName != nil })

    let name = try #require(supervisor.bodies().first?.json["device_name"]?.string)
    #expect(name.unicodeScalars.count <= 300)
    #expect(name.unicodeScalars.allSatisfy { !$0.steers })
  }

  @Test func `has as many threads and descriptors after many rounds as after a few`() async throws {
    let bed = try SupervisorBed(phones: 10)
    try await bed.start()
    #expect(await eventually { bed.rows.with { $0.count } == 10 })
    #expect(await bed.rounds(4))
    let before = (Scratch.names(in: "/proc/self/fd").count, Scratch.names(in: "/proc/self/task").count)
    #expect(await bed.rounds(8))

    #expect(abs(Scratch.names(in: "/proc/self/fd").count - before.0) <= 5)
    // A thread that has asked a door waits a while for the next one to ask: at most one for each phone.
    #expect(abs(Scratch.names(in: "/proc/self/task").count - before.1) <= 12)
  }

  @Test(arguments: [("none", "up", ExitCode.done), ("kill-app", "up", .no), ("detach", "unreachable/detached", .no)])
  func `looks once, and ends with what it found`(_ action: String, _ words: String, _ code: ExitCode) async throws {
    let bed = try SupervisorBed("16.7")
    var configuration = bed.configuration()
    configuration.bodies = [BodyEntry(udid: bed.udid(), name: "hall", under: configuration)]
    // The record knows it as up.
    try await bed.start(configuration)
    #expect(await bed.rows("up"))
    bed.stop()
    if action != "none" { try bed.do(action) }

    let look = try await bed.start(configuration).lookOnce()

    #expect(look.exitCode == code)
    #expect(look.bodies.map { $0.words?.text } == [words])
    #expect(bed.launches() == 0)
  }

  @Test func `looks once without a daemon, which is the host's trouble`() async throws {
    let bed = try SupervisorBed("16.7")
    try bed.do("mux-quit", ["for": "600s"])

    let look = try await bed.start().lookOnce()

    #expect(look.exitCode == .harness)
    #expect(look.trouble?.words == OutcomeWords(.unreachable, .noUsbmuxd))
  }
}
