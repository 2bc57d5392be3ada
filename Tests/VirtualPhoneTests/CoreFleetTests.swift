import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a fleet` {
  @Test func `of 256 is ready within five seconds, and every phone is another`() async throws {
    let (test, elapsed) = try await onWorker {
      // The keys are made once a process, in under a second of an idle core; other tests share the cores.
      _ = try FleetKeys.shared.get()
      let start = ContinuousClock.now
      let test = try TestFleet(phones: 256, ios: PhonePreset.all.map(\.ios))
      return (test, ContinuousClock.now - start)
    }

    #expect(elapsed < .seconds(5))
    #expect(Set(test.fleet.phones.map(\.udid)).count == 256)
    #expect(test.fleet.phones.allSatisfy { UDID(wellFormed: $0.udid.description) != nil })
    #expect(Set(test.fleet.phones.map(\.identity.wifiAddress)).count == 256)
    #expect(Set(test.fleet.phones.map(\.identity.ecid)).count == 256)
  }

  @Test func `has the same phones every time`() throws {
    let (first, second) = (try TestFleet(phones: 5), try TestFleet(phones: 5))

    #expect(first.fleet.phones.map(\.identity) == second.fleet.phones.map(\.identity))
  }

  @Test func `gives the versions to the phones in turn`() throws {
    let test = try TestFleet(phones: 5, ios: ["16", "18.5"])

    #expect(test.fleet.phones.map(\.preset.ios) == ["16.7", "18.5", "16.7", "18.5", "16.7"])
  }

  @Test(arguments: [0, 513, -1])
  func `is refused in a number that one process does not hold`(count: Int) throws {
    #expect(throws: VirtualFleetError.phones(count)) { try TestFleet(phones: count) }
  }

  @Test func `is refused for a version without values, naming those there are`() throws {
    let error = #expect(throws: VirtualFleetError.self) { try TestFleet(ios: ["12.1"]) }

    #expect(error == .version("12.1"))
    #expect(error?.sentence.contains("15.8, 16.7, 17.6, 18.5, 26.1") == true)
  }

  @Test func `does not take another fleet's socket`() throws {
    let test = try TestFleet()

    let error = #expect(throws: VirtualFleetError.self) {
      try VirtualFleet(VirtualFleet.Options(address: test.fleet.address))
    }

    #expect(error == .socket(test.fleet.address, .system(EADDRINUSE)))
    #expect(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 1)
  }

  @Test func `ends every connection within a second and leaves no socket behind`() async throws {
    let test = try TestFleet(phones: 3)
    let hosts = try await onWorker {
      (
        idle: try test.mux().socket, listening: try test.listening(), session: try test.session().socket,
        half: try test.halfAMessage()
      )
    }

    let elapsed = try await onWorker {
      let start = ContinuousClock.now
      test.fleet.stop()
      return ContinuousClock.now - start
    }

    #expect(elapsed < .seconds(1))
    for socket in [hosts.idle, hosts.listening, hosts.session, hosts.half] {
      #expect(throws: Never.self) {
        do {
          while !(try socket.read(max: 65_536, by: .after(soon)).isEmpty) {}
        } catch StreamError.closed {}
      }
    }
    #expect(access("\(test.folder)/mux", F_OK) != 0)
    #expect(access("\(test.folder)/control", F_OK) != 0)
    #expect(throws: StreamError.system(ENOENT)) { try test.mux() }
  }

  @Test func `reboots a phone for as long as its own clock says, and a pulled cable keeps it away`() async throws {
    let test = try TestFleet(phones: 2)
    try test.fleet.perform("reboot", on: "2", ["for": "50ms"])
    try test.fleet.perform("detach", on: "2")
    try test.fleet.perform("reboot", on: "1", ["for": "400ms"])
    #expect(test.fleet.phones.allSatisfy { phone in phone.state.with { !$0.attached } })

    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    let event = try await onWorker { try listener.receivePlist() }

    #expect(event["Properties"]?["SerialNumber"]?.string == test.first.udid.description)
    let state = test.first.state.with { $0 }
    #expect(state.attached && state.locked && !state.unlockedSinceBoot && !state.developerImageMounted)
    #expect(test.fleet.phones[1].state.with { !$0.attached })
  }

  @Test func `posts the lock's changes, each once`() throws {
    let test = try TestFleet()
    let posts = Guarded([String]())
    let observation = test.first.notifications.observe { name in posts.with { $0.append(name) } }

    for action in ["lock", "lock", "unlock", "unlock"] { try test.fleet.perform(action, on: "1") }
    observation.end()

    #expect(posts.with { $0 } == ["com.apple.springboard.lockstate", "com.apple.springboard.lockstate"])
  }
}

extension TestFleet {
  fileprivate func listening() throws -> Socket {
    let host = try mux()
    _ = try host.ask(["MessageType": "Listen"])
    return host.socket
  }

  fileprivate func halfAMessage() throws -> Socket {
    let host = try mux()
    try host.socket.write([64, 0, 0], by: .after(soon))
    return host.socket
  }
}

@Suite struct `the journal` {
  @Test func `numbers its entries, and keeps the newest when it is full`() throws {
    let journal = Journal(clock: ScaledClock())
    for index in 0..<(Journal.capacity + 10) { journal.record(nil, "\(index)") }

    let entries = journal.entries()

    #expect(entries.count == Journal.capacity)
    #expect(entries.first?.seq == 11)
    #expect(entries.last?.event == "\(Journal.capacity + 9)")
    #expect(journal.entries(after: UInt64(Journal.capacity + 8)).map(\.seq).count == 2)
    #expect(journal.entries(after: UInt64.max).isEmpty)
    #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.seq + 1 == $1.seq })
  }

  @Test func `writes an entry as one line`() throws {
    let entry = JournalEntry(
      seq: 7, at: WallTime(milliseconds: 1_796_059_954_007), phoneSeconds: 2.13599, udid: UDID("ABC"), event: "paired",
      details: ["a": 1])

    #expect(
      entry.json.line
        == #"{"at":"2026-11-30T17:32:34.007Z","details":{"a":1},"event":"paired","phone_seconds":2.136,"seq":7,"udid":"ABC"}"#
    )
  }
}
