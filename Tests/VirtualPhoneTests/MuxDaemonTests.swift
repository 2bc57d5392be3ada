import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a mux in trouble` {
  private func serials(_ test: TestFleet) throws -> [Int?] {
    try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.map { $0["DeviceID"]?.int } ?? []
  }

  @Test func `H10: quits, its socket goes, and it is back with numbers from 1`() async throws {
    let test = try TestFleet(phones: 2)
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("attach", on: "1")
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    let (session, before) = (try test.session(), try serials(test))

    try test.fleet.perform("mux-quit", on: "1", ["for": "300ms"])
    let isGone = access("\(test.folder)/mux", F_OK) != 0
    let host = try await onWorker { try test.muxOnceItIsBack() }

    #expect(before == [2, 3])
    #expect(isGone)
    #expect(session.isEnded())
    #expect(try host.ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 2)
    #expect(try serials(test) == [1, 2])
    #expect(test.fleet.phones[1].state.with { $0.deviceID } == 1)
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  @Test func `H10: comes back on the same loopback port`() async throws {
    let test = try TestFleet(tcp: true)

    try test.fleet.perform("mux-quit", on: "1", ["for": "0s"])
    let host = try await onWorker { try test.muxOnceItIsBack() }

    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"] != nil)
  }

  @Test func `comes back with its phones one by one, and without those that are lost`() async throws {
    let test = try TestFleet(phones: 4, scale: 10)
    try test.fleet.perform("mux-quit", on: "1", ["for": "1s", "apart": "2s", "lost": "1"])

    let host = try await onWorker { try test.muxOnceItIsBack() }
    _ = try host.ask(["MessageType": "Listen"])
    let events = try (0..<3).map { _ in try host.receivePlist()["DeviceID"]?.int }
    // The last one is found like the others, under a number of its own, and stays hidden.
    let isFound = holds(within: soon) { test.fleet.phones[3].state.with { $0.deviceID } == 4 }
    let listed = try serials(test)
    try test.fleet.perform("detach", on: "4")
    try test.fleet.perform("attach", on: "4")

    #expect(events == [1, 2, 3])
    #expect(isFound)
    #expect(listed == [1, 2, 3])
    #expect(try host.receivePlist()["DeviceID"] == 5)
  }

  @Test func `H11: leaves its socket behind when it is killed, and takes the place again`() async throws {
    let test = try TestFleet()
    try test.fleet.perform("mux-quit", on: "1", ["for": "300ms", "hard": "yes"])

    #expect(throws: StreamError.system(ECONNREFUSED)) { try test.mux() }
    let host = try await onWorker { try test.muxOnceItIsBack() }

    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"] != nil)
  }

  @Test func `finds a phone that was plugged in while it was away`() async throws {
    let test = try TestFleet(phones: 2)
    try test.fleet.perform("mux-quit", on: "1", ["for": "300ms"])
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("attach", on: "1")

    _ = try await onWorker { try test.muxOnceItIsBack() }

    #expect(try serials(test) == [1, 2])
    #expect(test.first.state.with { $0.deviceID } == 2)
  }

  @Test func `hangs after so many answers`() throws {
    let test = try TestFleet()
    try test.fleet.perform("mux-silent", on: "1", ["after": "2"])
    let host = try test.mux()

    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"] != nil)
    #expect(try test.mux().ask(["MessageType": "ReadBUID"])["BUID"] != nil)
    try host.send(["MessageType": "ReadBUID"])
    #expect(throws: StreamError.timedOut) { try host.socket.read(max: 1, by: .after(.milliseconds(50))) }
    try test.fleet.perform("mux-silent", on: "1", ["on": "no"])

    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"] != nil)
  }

  @Test func `does not come back when the fleet has ended`() throws {
    let test = try TestFleet()
    try test.fleet.perform("mux-quit", on: "1", ["for": "1h"])

    test.fleet.stop()

    #expect(access("\(test.folder)/mux", F_OK) != 0)
    #expect(throws: StreamError.system(ENOENT)) { try test.mux() }
  }

  @Test func `H14: drops those who listen, who may listen again`() throws {
    let test = try TestFleet()

    for _ in 0..<50 {
      let listener = try test.mux()
      _ = try listener.ask(["MessageType": "Listen"])
      _ = try listener.receivePlist()
      try test.fleet.perform("mux-drop", on: "1")
      #expect(try listener.isEnded())
    }

    #expect(try serials(test) == [1])
  }

  @Test func `takes requests and answers none until it is told otherwise`() throws {
    let test = try TestFleet()
    try test.fleet.perform("mux-silent", on: "1")
    let host = try test.mux()

    try host.send(["MessageType": "ListDevices"])
    #expect(throws: StreamError.timedOut) { try host.socket.read(max: 1, by: .after(.milliseconds(50))) }
    try test.fleet.perform("mux-silent", on: "1", ["on": "no"])

    #expect(try host.ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 1)
  }
}

extension TestFleet {
  /// A connection to the mux that has quit, once it is back.
  fileprivate func muxOnceItIsBack() throws -> MuxHost {
    let (deadline, journal) = (Deadline.after(soon), fleet.journal)
    var last: UInt64 = 0
    while !deadline.hasPassed {
      let news = journal.entries(after: last)
      if news.contains(where: { $0.event == "mux-back" }) { break }
      last = news.last?.seq ?? last
      _ = journal.wait(after: last, until: deadline)
    }
    return try mux()
  }
}
