import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a host that listens` {
  @Test func `hears of the phones that are there, then of each change, all under tag 0`() throws {
    let test = try TestFleet(phones: 2)
    let host = try test.mux()

    try host.send(["MessageType": "Listen"], tag: 5)
    let result = try host.receive()
    let replayed = [try host.receive(), try host.receive()]
    try test.fleet.perform("detach", on: "2")
    let gone = try host.receive()
    try test.fleet.perform("attach", on: "2")
    let back = try host.receive()

    #expect(result.tag == 5)
    #expect(try Plist(parsing: result.payload)["Number"]?.int == 0)
    #expect(try replayed.map { try Plist(parsing: $0.payload)["DeviceID"]?.int } == [1, 2])
    #expect((replayed + [gone, back]).map(\.tag) == [0, 0, 0, 0])
    #expect(try Plist(parsing: gone.payload) == ["MessageType": "Detached", "DeviceID": 2])
    let attached = try Plist(parsing: back.payload)
    #expect(attached["MessageType"] == "Attached")
    #expect(attached["DeviceID"]?.int == 3)
    #expect(attached["Properties"]?["SerialNumber"]?.string == test.fleet.phones[1].udid.description)
  }

  @Test func `H07: gets 1 for a question on that connection, which then ends`() throws {
    let test = try TestFleet()
    let host = try test.mux()
    _ = try host.ask(["MessageType": "Listen"])
    _ = try host.receive()

    #expect(try host.result(["MessageType": "ListDevices"]) == 1)
    #expect(try host.isEnded())
  }

  @Test func `H07: finds a phone that came between its list and its Listen, once`() throws {
    let test = try TestFleet(phones: 2)
    try test.fleet.perform("detach", on: "2")
    try test.fleet.perform("attach", on: "2", ["when": "listen"])
    let before = try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count
    let host = try test.mux()
    _ = try host.ask(["MessageType": "Listen"])

    let replayed = [try host.receivePlist(), try host.receivePlist()]
    try test.fleet.perform("detach", on: "2")

    #expect(before == 1)
    #expect(replayed.map { $0["DeviceID"]?.int } == [1, 3])
    #expect(try host.receivePlist()["MessageType"] == "Detached")
  }

  @Test func `hears that a phone was paired when its record is stored`() throws {
    let test = try TestFleet()
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    _ = try listener.receive()

    let saved = try test.mux().result([
      "MessageType": "SavePairRecord", "PairRecordID": .string(test.first.udid.description), "DeviceID": 1,
      "PairRecordData": .data(try test.record().binary),
    ])

    #expect(saved == 0)
    #expect(try listener.receivePlist() == ["MessageType": "Paired", "DeviceID": 1])
  }

  @Test func `hears a reboot as gone and back under a new number`() throws {
    let test = try TestFleet()
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    _ = try listener.receive()

    try test.fleet.perform("reboot", on: "1")

    #expect(try listener.receivePlist() == ["MessageType": "Detached", "DeviceID": 1])
    #expect(try listener.receivePlist()["DeviceID"]?.int == 2)
  }

  @Test func `and never reads loses its connection, and nobody else waits for it`() async throws {
    let test = try TestFleet(phones: 2)
    let deaf = try test.mux()
    _ = try deaf.ask(["MessageType": "Listen"])

    try await onWorker {
      for _ in 0..<1_500 {
        try test.fleet.perform("detach", on: "2")
        try test.fleet.perform("attach", on: "2")
      }
    }

    #expect(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 2)
    // Its thread ends by itself, some moments after it was cut off.
    let limit = Deadline.after(.seconds(10))
    try await onWorker {
      while try test.mux().ask(["MessageType": "ListListeners"])["ListenerList"]?.array?.isEmpty == false,
        !limit.hasPassed
      {}
    }
    #expect(try test.mux().ask(["MessageType": "ListListeners"])["ListenerList"] == .array([]))
  }
}

@Suite struct `a phone that the mux lists oddly` {
  private func entries(_ test: TestFleet) throws -> [Plist] {
    try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array ?? []
  }

  @Test(arguments: [("after", ["USB", "Network"]), ("before", ["Network", "USB"])])
  func `H01: stands there twice, by cable and by network, in either order`(order: String, kinds: [String]) throws {
    let test = try TestFleet()

    try test.fleet.perform("list-as", on: "1", ["network": order])
    let list = try entries(test)

    #expect(list.map { $0["Properties"]?["ConnectionType"]?.string } == kinds)
    #expect(Set(list.map { $0["Properties"]?["SerialNumber"]?.string }).count == 1)
    let network = try #require(list.first { $0["Properties"]?["ConnectionType"] == "Network" })
    let address = try #require(network["Properties"]?["NetworkAddress"]?.bytes)
    #expect(address.count == 28)
    #expect(address.prefix(2) == [0x1C, 0x1E])
    #expect(network["Properties"]?["EscapedFullServiceName"]?.string?.hasSuffix("._apple-mobdev2._tcp.local.") == true)
  }

  @Test func `H01: loses only its network entry when the network goes`() throws {
    let test = try TestFleet()
    try test.fleet.perform("list-as", on: "1", ["network": "after"])
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    let replayed = [try listener.receivePlist(), try listener.receivePlist()]

    try test.fleet.perform("list-as", on: "1")
    let event = try listener.receivePlist()

    #expect(replayed.map { $0["DeviceID"]?.int } == [1, 2])
    #expect(event == ["MessageType": "Detached", "DeviceID": 2])
    #expect(try entries(test).map { $0["DeviceID"]?.int } == [1])
  }

  @Test func `H02: has no hyphen, calls itself by it, and is paired under the hyphen alone`() throws {
    let test = try TestFleet()
    let udid = test.first.udid.description

    try test.fleet.perform("list-as", on: "1", ["serial": "hyphenless", "record": "own"])
    let listed = try #require(try entries(test)[0]["Properties"]?["SerialNumber"]?.string)

    #expect(listed == udid.filter { $0 != "-" })
    #expect(try test.mux().result(["MessageType": "ReadPairRecord", "PairRecordID": .string(listed)]) == 2)
    #expect(try test.session().value("UniqueDeviceID")?.string == udid)
  }

  @Test func `H02: is found under the listed spelling too unless told otherwise`() throws {
    let test = try TestFleet()
    try test.fleet.perform("list-as", on: "1", ["serial": "hyphenless"])
    let listed = test.first.udid.bare.uppercased()

    let answer = try test.mux().ask(["MessageType": "ReadPairRecord", "PairRecordID": .string(listed)])

    #expect(answer["PairRecordData"]?.bytes == (try test.record()).xml)
  }

  @Test func `H03: has other letters than its fleet file`() throws {
    let test = try TestFleet(ios: ["15.8"])
    let udid = test.first.udid.description

    try test.fleet.perform("list-as", on: "1", ["serial": "upper"])

    #expect(udid.utf8.count == 40)
    #expect(try entries(test)[0]["Properties"]?["SerialNumber"]?.string == udid.uppercased())
    #expect(udid != udid.uppercased())
  }

  @Test func `stands there twice by one cable`() throws {
    let test = try TestFleet()

    try test.fleet.perform("list-as", on: "1", ["twice": "yes"])

    #expect(try entries(test).map { $0["DeviceID"]?.int } == [1, 2])
    #expect(Set(try entries(test).map { $0["Properties"]?["SerialNumber"]?.string }).count == 1)
  }
}
