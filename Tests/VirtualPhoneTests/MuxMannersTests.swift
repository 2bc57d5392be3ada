import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

extension TestFleet {
  /// A fleet whose mux behaves as usbmuxd does, with its phones listed.
  static func real(phones: Int = 1, trusted: Bool = true) throws -> TestFleet {
    let test = try TestFleet(phones: phones, trusted: trusted, manners: .real)
    try #require(test.lists(phones))
    return test
  }

  /// The device list's numbers.
  func numbers() throws -> [Int] {
    try mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.compactMap { $0["DeviceID"]?.int } ?? []
  }

  func serials() throws -> [String] {
    try mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?
      .compactMap { $0["Properties"]?["SerialNumber"]?.string } ?? []
  }

  /// Whether so many phones are listed soon.
  func lists(_ count: Int) -> Bool { holds(within: soon) { (try? numbers().count) == count } }

  /// Whether preflight has come to that end with the phone soon, so many times.
  func preflight(ends outcome: String, of phone: VirtualPhone? = nil, times: Int = 1) -> Bool {
    let udid = (phone ?? first).udid
    return holds(within: soon) {
      fleet.journal.entries().count {
        $0.event == "preflight" && $0.udid == udid && $0.details["outcome"]?.string == outcome
      } >= times
    }
  }

  func hasRecord(_ phone: VirtualPhone? = nil) throws -> Bool {
    let id = Plist.string((phone ?? first).udid.description)
    return try mux().ask(["MessageType": "ReadPairRecord", "PairRecordID": id])["PairRecordData"] != nil
  }
}

@Suite struct `a mux with the real daemon's manners` {
  @Test func `lists a phone only after it has opened a session with it, by itself`() throws {
    let test = try TestFleet.real()

    #expect(test.preflight(ends: "listed"))
    #expect(test.requests("lockdown-request") == ["QueryType", "StartSession", "StopSession"])
    let entries = test.fleet.journal.entries()
    let listed = try #require(entries.first { $0.event == "preflight" })
    #expect(listed.phoneSeconds >= 0.17)
  }

  @Test func `announces the phone to listeners then, and no sooner`() throws {
    let test = try TestFleet(manners: .real)
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])

    let event = try listener.receivePlist()

    #expect(event["MessageType"] == "Attached")
    #expect(test.fleet.journal.entries().contains { $0.details["request"] == "StartSession" })
  }

  @Test(arguments: ["QueryType", "StartSession"])
  func `hides a phone whose lockdownd hangs just then, until it is replugged`(request: String) throws {
    let test = try TestFleet.real(phones: 2)
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "hang", "request": request])
    try test.fleet.perform("attach", on: "1")
    #expect(holds(within: soon) { test.fleet.phones[0].state.with { $0.lockdownFaults.isEmpty == false } })

    #expect(try test.numbers() == [2])
    try test.fleet.perform("lockdown-fault", on: "1", ["clear": "yes"])
    #expect(try test.numbers() == [2])
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("attach", on: "1")

    #expect(test.lists(2))
    // Number 3 was the one never shown; the free place in the table is taken again.
    #expect(try test.numbers() == [4, 2])
  }

  @Test func `hides a phone whose lockdownd closes just then`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "close", "request": "QueryType"])
    try test.fleet.perform("attach", on: "1")

    #expect(test.preflight(ends: "hidden"))
    #expect(try test.numbers().isEmpty)
    #expect(try test.hasRecord())
  }

  @Test func `deletes the pair record when TLS breaks just then, asks the phone for trust, and lists it`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "close", "request": "TLS", "count": "1"])
    test.first.state.with { $0.trust = .pending }

    try test.fleet.perform("attach", on: "1")

    #expect(test.lists(1))
    #expect(test.preflight(ends: "record-deleted"))
    #expect(try !test.hasRecord())
    #expect(test.requests("lockdown-request").contains("Pair"))
  }

  @Test func `deletes the pair record when the cable is pulled in the middle of preflight`() throws {
    let test = try TestFleet.real()

    for round in 1...5 {
      try test.fleet.perform("trust", on: "1")
      let before = test.requests("lockdown-request").count { $0 == "StartSession" }
      try test.fleet.perform("detach", on: "1")
      try test.fleet.perform("attach", on: "1")
      try #require(holds(within: soon) { test.requests("lockdown-request").count { $0 == "StartSession" } > before })
      try test.fleet.perform("detach", on: "1")

      #expect(test.preflight(ends: "record-deleted", times: round))
      #expect(try !test.hasRecord())
    }
  }

  @Test func `pairs by itself with a phone that knows nobody, and says Paired when somebody has tapped`() throws {
    let test = try TestFleet(trusted: false, manners: .real)
    test.first.state.with { $0.trust = .pending }
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    let attached = try listener.receivePlist()
    let hadRecord = try test.hasRecord()

    try test.fleet.perform("trust", on: "1", ["mode": "accept"])
    let paired = try listener.receivePlist()

    #expect(attached["MessageType"] == "Attached")
    #expect(!hadRecord)
    #expect(paired == ["MessageType": "Paired", "DeviceID": 1])
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  @Test func `lists a phone that refuses the session otherwise, keeps its record, and sends no Pair`() throws {
    let test = try TestFleet.real()

    try test.fleet.perform("reboot", on: "1")

    #expect(test.lists(1))
    #expect(try test.hasRecord())
    #expect(!test.requests("lockdown-request").contains("Pair"))
  }

  @Test func `sends Pair to a phone that answers InvalidHostID before its first unlock, and keeps the record`() throws {
    let test = try TestFleet.real()

    try test.fleet.perform("reboot", on: "1", ["first-unlock": "invalid-host-id"])

    #expect(test.lists(1))
    #expect(try test.hasRecord())
    #expect(test.preflight(ends: "not-paired"))
  }

  @Test func `shows the phone again when it is told to mind its manners no more`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "hang", "request": "QueryType"])
    try test.fleet.perform("attach", on: "1")

    try test.fleet.perform("mux-manners", on: "1", ["as": "plain"])

    #expect(try test.numbers() == [2])
  }

  @Test func `never lists a phone by its network`() throws {
    let test = try TestFleet.real(phones: 2)

    try test.fleet.perform("list-as", on: "1", ["network": "after"])
    #expect(try test.numbers() == [1, 2])
    try test.fleet.perform("list-as", on: "1", ["network": "only"])

    #expect(try test.numbers() == [2])
  }

  @Test func `leaves its socket behind when it ends, and meets the phones one by one when it is back`() async throws {
    let test = try TestFleet.real(phones: 3)
    try test.fleet.perform("mux-quit", on: "1", ["for": "1h", "lost": "1"])

    #expect(throws: StreamError.system(ECONNREFUSED)) { try test.mux() }
    #expect(access("\(test.folder)/mux", F_OK) == 0)
    test.fleet.stop()

    #expect(access("\(test.folder)/mux", F_OK) != 0)
  }
}

@Suite struct `odd requests to the real daemon` {
  private func frame(_ payload: [UInt8], version: UInt32 = 1) -> [UInt8] {
    MuxFrame(version: version, tag: 9, payload: payload).bytes
  }

  @Test func `meet silence when they cannot be read, and the connection goes on`() throws {
    let test = try TestFleet.real()
    let host = try test.mux()

    for payload in [Array("no plist".utf8), Plist.dictionary(["NoType": true]).xml, Plist("text").xml] {
      try host.socket.write(frame(payload), by: .after(soon))
    }
    try host.socket.write(frame(Plist.dictionary(["MessageType": "ReadBUID"]).binary), by: .after(soon))
    try host.send(["MessageType": "ListDevices"], tag: 11)

    #expect(try host.receive().tag == 11)
  }

  @Test func `of version 2 are answered by result 6 of the binary protocol`() throws {
    let test = try TestFleet.real()
    let host = try test.mux()

    try host.socket.write(frame([], version: 2), by: .after(soon))
    let answer = try host.receive()

    #expect(answer == MuxFrame(version: 0, message: 1, tag: 9, payload: [6, 0, 0, 0]))
    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"] != nil)
  }

  @Test func `on a listening connection end it without a word`() throws {
    let test = try TestFleet.real()
    let host = try test.mux()
    _ = try host.ask(["MessageType": "Listen"])
    _ = try host.receivePlist()

    try host.send(["MessageType": "ListDevices"])

    #expect(try host.isEnded())
  }

  @Test func `have the numbers that were seen`() throws {
    let test = try TestFleet.real()
    let host = try test.mux()

    #expect(try host.result(["MessageType": "Connect", "DeviceID": 1, "PortNumber": "62078"]) == 3)
    #expect(
      try host.result(["MessageType": "SavePairRecord", "PairRecordID": "X", "PairRecordData": .data([1, 2])]) == 22)
    #expect(try host.result(["MessageType": "DeletePairRecord"]) == 22)
    let record: Plist = ["HostID": "A", "WiFiMACAddress": "02:00:00:00:00:01"]
    _ = try host.result(["MessageType": "SavePairRecord", "PairRecordID": "X", "PairRecordData": .data(record.binary)])
    let read = try host.ask(["MessageType": "ReadPairRecord", "PairRecordID": "X"])["PairRecordData"]?.bytes
    #expect(try #require(read).starts(with: Array("<?xml".utf8)))
    try host.socket.write([1, 0, 1, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0], by: .after(soon))
    #expect(try host.isEnded())
  }
}

@Suite struct `connections through the real daemon` {
  @Test func `are reset when the host finishes sending, and the answer is lost`() throws {
    let test = try TestFleet.real()
    let asked = Latch()
    test.first.ports.listen(8080) { socket in
      do {
        while try !socket.read(max: 64, by: .after(soon)).isEmpty {}
        asked.open()
        try socket.write([1, 2, 3], by: .after(soon))
      } catch {}
    }
    let socket = try test.mux().connected(1, port: 8080)

    try socket.write([9], by: .after(soon))
    socket.endSending()

    #expect(asked.wait(until: .after(soon)))
    #expect(holds(within: soon) { (try? socket.read(max: 8, by: .after(soon)).isEmpty) ?? true })
  }

  @Test func `carry a megabyte each way, and end when the phone has said all`() async throws {
    let test = try TestFleet.real()
    let (size, chunk) = (1 << 20, [UInt8](repeating: 7, count: 1 << 16))
    test.first.ports.listen(8080) { socket in
      do {
        var got = 0
        while got < size { got += try socket.read(max: 1 << 16, by: .after(soon)).count }
        for _ in 0..<(size / chunk.count) { try socket.write(chunk, by: .after(soon)) }
      } catch {}
    }

    let came = try await onWorker {
      let socket = try test.mux().connected(1, port: 8080)
      for _ in 0..<(size / chunk.count) { try socket.write(chunk, by: .after(soon)) }
      let came = try socket.read(exactly: size, by: .after(soon)).count
      return try socket.read(max: 1, by: .after(soon)).isEmpty ? came : -1
    }

    #expect(came == size)
  }

  @Test func `to a phone that accepts and closes get no answer at all, every fourth time`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("cut", on: "1", ["after": "0", "port": "8127"])

    let answers = try (0..<8).map { _ -> Bool in
      let host = try test.mux()
      try host.send(MuxHost.connect(1, port: 8127))
      let first = try host.socket.read(max: 1, by: .after(soon))
      return !first.isEmpty
    }

    #expect(answers.count { $0 } == 6)
  }

  @Test func `that wait for the phone are refused the moment it is unplugged`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("connect-delay", on: "1", ["port": "8127"])
    let host = try test.mux()
    try host.send(MuxHost.connect(1, port: 8127))
    #expect(throws: StreamError.timedOut) { try host.socket.read(max: 1, by: .after(.milliseconds(50))) }

    try test.fleet.perform("detach", on: "1")

    #expect(try host.receivePlist()["Number"] == 3)
  }

  @Test func `wait in a queue of five, and further ones are turned away`() throws {
    let test = try TestFleet.real()
    try test.fleet.perform("mux-silent", on: "1", ["accept": "no"])
    guard case .unix(let path) = test.fleet.address else { return }

    // One that is taken just before the pause, and six in the queue: Linux counts one more than was said.
    let waiting = (0..<12).map { _ in Self.knock(path) }
    let turnedAway = waiting.count { $0 == nil }
    try test.fleet.perform("mux-silent", on: "1", ["on": "no"])

    #expect((5...6).contains(turnedAway))
    #expect(try test.numbers() == [1])
  }

  /// A connect that does not wait.
  private static func knock(_ path: String) -> Socket? {
    do throws(StreamError) {
      return try Socket.connect(to: .unix(path: path), by: .after(.zero))
    } catch {
      return nil
    }
  }
}
