import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a cut connection` {
  /// A port that says a hundred bytes and then listens for ever, on a phone with one cut.
  private func talker(_ cut: [String: String]) throws -> (TestFleet, Socket) {
    let test = try TestFleet()
    test.first.ports.listen(8080) { socket in
      do {
        try socket.write([UInt8](repeating: 5, count: 100), by: .after(soon))
        while try !socket.read(max: 64, by: .after(soon)).isEmpty {}
        test.first.record("far-end-over")
      } catch {
        test.first.record("far-end-over")
      }
    }
    try test.fleet.perform("cut", on: "1", cut)
    return (test, try test.mux().connected(1, port: 8080))
  }

  /// How many bytes come before the connection ends; -1 when it does not.
  private func drain(_ socket: Socket) -> Int {
    var count = 0
    do throws(StreamError) {
      while true {
        let part = try socket.read(max: 7, by: .after(soon))
        if part.isEmpty { return count }
        count += part.count
      }
    } catch {
      return error == .closed ? count : -1
    }
  }

  @Test(arguments: [0, 1, 99, 100])
  func `lets exactly so many of the phone's bytes pass`(after: Int) throws {
    let (test, socket) = try talker(["after": "\(after)", "port": "8080"])

    #expect(drain(socket) == after)
    #expect(holds(within: soon) { test.fleet.journal.entries().contains { $0.event == "far-end-over" } })
  }

  @Test func `lets exactly so many of the host's bytes pass`() throws {
    let test = try TestFleet()
    test.first.ports.listen(8080) { socket in
      do {
        var count = 0
        while true {
          let part = try socket.read(max: 64, by: .after(soon))
          if part.isEmpty { break }
          count += part.count
        }
        test.first.record("heard", ["bytes": .integer(Int64(count))])
      } catch {}
    }
    try test.fleet.perform("cut", on: "1", ["after": "10", "direction": "in"])
    let socket = try test.mux().connected(1, port: 8080)

    try socket.write([UInt8](repeating: 1, count: 25), by: .after(soon))

    #expect(drain(socket) == 0)
    #expect(
      holds(within: soon) { test.fleet.journal.entries().contains { $0.details["bytes"] == .integer(10) } })
  }

  @Test func `may stall instead: no byte more, and no end`() throws {
    let (test, socket) = try talker(["after": "40", "port": "8080", "kind": "stall"])

    #expect(try socket.read(exactly: 40, by: .after(soon)).count == 40)
    #expect(throws: StreamError.timedOut) { try socket.read(max: 1, by: .after(.milliseconds(50))) }
    try test.fleet.perform("detach", on: "1")

    #expect(drain(socket) == 0)
  }

  @Test func `that stalls is let go when the host leaves`() throws {
    let (test, socket) = try talker(["after": "0", "port": "8080", "kind": "stall"])

    socket.close()

    #expect(holds(within: soon) { test.fleet.journal.entries().contains { $0.event == "far-end-over" } })
  }

  @Test func `happens so often, on that port, and not when it is taken back`() throws {
    let (test, first) = try talker(["after": "3", "port": "8080", "count": "2"])
    let (second, third) = (try test.mux().connected(1, port: 8080), try test.mux().connected(1, port: 8080))

    #expect([drain(first), drain(second)] == [3, 3])
    #expect(try third.read(exactly: 100, by: .after(soon)).count == 100)
    try test.fleet.perform("cut", on: "1", ["after": "3"])
    try test.fleet.perform("cut", on: "1", ["clear": "yes"])
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  @Test func `can be a service's, wherever its port is`() throws {
    let test = try TestFleet()
    let name = "com.apple.mobile.notification_proxy"
    try test.fleet.perform("cut", on: "1", ["after": "5", "service": name])
    let session = try test.session()
    let port = try #require(try session.ask("StartService", ["Service": .string(name)])["Port"]?.int)

    let socket = try test.mux().connected(1, port: try #require(UInt16(exactly: port)))
    let service = LockdownHost(socket)

    #expect(throws: StreamError.self) { try service.startTLS(try test.record()) }
    #expect(try session.value("DeviceName") == "Phone 1")
    #expect(throws: ActionError.self) { try test.fleet.perform("cut", on: "1", ["service": "com.apple.none"]) }
  }

  @Test func `passes half a close on, as plain manners do`() throws {
    let test = try TestFleet()
    test.first.ports.listen(8080) { socket in
      do {
        while try !socket.read(max: 64, by: .after(soon)).isEmpty {}
        try socket.write([1, 2, 3], by: .after(soon))
      } catch {}
    }
    try test.fleet.perform("cut", on: "1", ["after": "2"])
    let socket = try test.mux().connected(1, port: 8080)

    socket.endSending()

    #expect(drain(socket) == 2)
  }
}

@Suite struct `a phone that is slow to take connections` {
  @Test func `takes them after its time, which is the phone's`() async throws {
    let test = try TestFleet(scale: 100)
    try test.fleet.perform("connect-delay", on: "1", ["for": "5s", "port": "62078", "count": "1"])

    let (slow, quick) = try await onWorker { () -> (Double, Int?) in
      let before = test.first.clock.now
      _ = try test.lockdown()
      return ((test.first.clock.now - before).inSeconds, try test.mux().result(MuxHost.connect(1, port: 62078)))
    }

    #expect(slow >= 5)
    #expect(quick == 0)
  }

  @Test func `is not waited for by a host that has left`() throws {
    let test = try TestFleet()
    try test.fleet.perform("connect-delay", on: "1")
    let host = try test.mux()
    try host.send(MuxHost.connect(1, port: 62078))

    host.socket.close()

    // The Connect is only noted once it is over.
    #expect(holds(within: soon) { test.requests("mux-request").contains("Connect") })
  }
}
