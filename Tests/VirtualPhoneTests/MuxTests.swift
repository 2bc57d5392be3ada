import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the mux's answers` {
  @Test func `list every phone by its cable, in the shape that both kinds of client read`() throws {
    let test = try TestFleet(phones: 3, ios: PhonePreset.all.map(\.ios))

    let devices = try #require(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array)

    #expect(devices.count == 3)
    for (device, phone) in zip(devices, test.fleet.phones) {
      let properties = try #require(device["Properties"])
      #expect(device["MessageType"] == "Attached")
      #expect(device["DeviceID"] == properties["DeviceID"])
      #expect(device["DeviceID"]?.int ?? 0 >= 1)
      #expect(properties["ConnectionType"] == "USB")
      #expect(properties["SerialNumber"]?.string == phone.udid.description)
    }
  }

  @Test(arguments: [0, 1, 0xFFFF_FFFF] as [UInt32])
  func `carry the request's tag, version 1 and XML`(tag: UInt32) throws {
    let test = try TestFleet()
    let host = try test.mux()

    try host.send(["MessageType": "ReadBUID"], tag: tag)
    let frame = try host.receive()

    #expect(frame.tag == tag)
    #expect(frame.version == 1)
    #expect(frame.message == 8)
    #expect(frame.payload.starts(with: Array("<?xml".utf8)))
  }

  @Test func `refuse a message type nobody knows with 1, and the connection goes on`() throws {
    let test = try TestFleet()
    let host = try test.mux()

    #expect(try host.result(["MessageType": "MakeCoffee"]) == 1)
    #expect(try host.result(["NoType": true]) == 1)
    #expect(try host.ask(["MessageType": "ReadBUID"])["BUID"]?.string?.utf8.count == 36)
  }

  @Test func `refuse an unreadable property list with 1 and another version with 6`() throws {
    let test = try TestFleet()
    let host = try test.mux()

    try host.socket.write(MuxFrame(tag: 1, payload: Array("no plist".utf8)).bytes, by: .after(soon))
    let unreadable = try host.receivePlist()
    try host.socket.write(MuxFrame(version: 0, message: 3, tag: 2, payload: []).bytes, by: .after(soon))
    let binary = try host.receive()

    #expect(unreadable["Number"]?.int == 1)
    #expect(binary.tag == 2)
    #expect(try Plist(parsing: binary.payload)["Number"]?.int == 6)
  }

  @Test(arguments: [15, 65_537, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
  func `end the connection when a message claims a length no message has`(length: UInt32) throws {
    let test = try TestFleet()
    let host = try test.mux()
    let header = [length, 1, 8, 1].flatMap { field in withUnsafeBytes(of: field.littleEndian) { Array($0) } }

    try host.socket.write(header, by: .after(soon))

    #expect(try host.isEnded())
    #expect(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 1)
  }

  @Test func `take a message of exactly 65,536 bytes`() throws {
    let test = try TestFleet()
    let host = try test.mux()
    let xml = Plist.dictionary(["MessageType": "ReadBUID"]).xml
    let padding = [UInt8](repeating: UInt8(ascii: "\n"), count: 65_536 - MuxFrame.headerSize - xml.count)

    try host.socket.write(MuxFrame(tag: 3, payload: xml + padding).bytes, by: .after(soon))

    #expect(try host.receivePlist()["BUID"] != nil)
  }

  @Test func `H06: forty phones in pieces of 1,024 bytes, the header byte by byte, are forty phones`() async throws {
    let test = try TestFleet(phones: 40, ios: PhonePreset.all.map(\.ios))
    try test.fleet.perform("mux-chunk", on: "1", ["bytes": "1024", "pause": "5ms", "single": "16"])

    let (devices, pieces) = try await onWorker {
      let host = try test.mux()
      try host.send(["MessageType": "ListDevices"])
      let first = try host.socket.read(max: 4, by: .after(soon))
      let header = first + (try host.socket.read(exactly: 16 - first.count, by: .after(soon)))
      let (_, size) = try MuxFrame.header(header, limit: 1 << 20)
      let payload = try host.socket.read(exactly: size, by: .after(soon))
      return (try Plist(parsing: payload)["DeviceList"]?.array?.count, first.count)
    }

    #expect(devices == 40)
    #expect(pieces < 4)
  }

  @Test func `name those who listen`() throws {
    let test = try TestFleet()
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen", "ProgName": "watcher", "kLibUSBMuxVersion": 3])

    let list = try #require(try test.mux().ask(["MessageType": "ListListeners"])["ListenerList"]?.array)

    #expect(list.map { $0["ProgName"]?.string } == ["watcher"])
    #expect(list[0]["Blacklisted"] == false)
  }

  @Test func `come over a loopback port as well`() throws {
    let test = try TestFleet(tcp: true)

    #expect(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array?.count == 1)
  }
}

@Suite struct `a Connect` {
  @Test func `of an unknown number is a bad device, of a closed port refused; the connection goes on`() throws {
    let test = try TestFleet()
    let host = try test.mux()

    #expect(try host.result(MuxHost.connect(99, port: 62078)) == 2)
    #expect(try host.result(MuxHost.connect(1, port: 9)) == 3)
    #expect(
      try host.result(["MessageType": "Connect", "DeviceID": 1, "PortNumber": "62078"]) == 3)
    #expect(try host.result(["MessageType": "Connect", "DeviceID": 1, "PortNumber": 100_000]) == 3)
    #expect(try host.result(["MessageType": "Connect"]) == 1)
    #expect(try host.result(["MessageType": "Connect", "DeviceID": 1, "PortNumber": 32498]) == 0)
  }

  @Test func `turns the connection into the device port's stream, on the same thread`() throws {
    let test = try TestFleet()
    test.first.ports.listen(8080) { socket in
      do {
        let bytes = try socket.read(exactly: 4, by: .after(soon))
        try socket.write(bytes.reversed(), by: .after(soon))
      } catch {}
    }

    // 8080 travels as 36895.
    let host = try test.mux()
    #expect(try host.result(["MessageType": "Connect", "DeviceID": 1, "PortNumber": 36895]) == 0)
    try host.socket.write([1, 2, 3, 4], by: .after(soon))

    #expect(try host.socket.read(exactly: 4, by: .after(soon)) == [4, 3, 2, 1])
    #expect(try host.isEnded())
  }

  @Test func `H16: to the old number after replugging is a bad device, to the new one works`() throws {
    let test = try TestFleet()
    let old = try test.lockdown()

    try test.fleet.perform("detach", on: "1")
    try test.fleet.perform("attach", on: "1")

    #expect(old.isEnded())
    #expect(try test.mux().result(MuxHost.connect(1, port: 62078)) == 2)
    #expect(try test.mux().result(MuxHost.connect(2, port: 62078)) == 0)
  }

  @Test func `of fifty hosts at once opens fifty sessions`() async throws {
    let test = try TestFleet(phones: 5, ios: PhonePreset.all.map(\.ios), tcp: true)

    let names = try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await onWorker {
            let session = try test.session(test.fleet.phones[index % 5])
            return try session.value("DeviceName")?.string
          }
        }
      }
      return try await group.reduce(into: [String: Int]()) { $0[$1 ?? "none", default: 0] += 1 }
    }

    #expect(names == ["Phone 1": 10, "Phone 2": 10, "Phone 3": 10, "Phone 4": 10, "Phone 5": 10])
  }
}
