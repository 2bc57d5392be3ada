import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `watching the mux` {
  static let one = "00008101-000A1B2C3D4E001E"

  @Test func `H07: asks nothing on the listening connection and misses no phone`() async throws {
    let bench = try Bench("16.7", "17.6")
    let late = bench.fleet.phones[1].udid
    try bench.do("detach", on: 2)
    try bench.do("attach", on: 2, ["when": "listen"])
    let before = try await bench.listed()
    let watch = MuxWatch(bench.mux)
    var events = watch.events.makeAsyncIterator()

    var seen: [MuxEvent] = []
    while seen.count < 3, let event = await events.next() { seen.append(event) }
    let after = try await bench.listed()
    watch.stop()

    #expect(before.count == 1)
    #expect(after.count == 2)
    #expect(seen.first == .connected)
    #expect(seen.dropFirst().compactMap(\.attached).count == 2)
    #expect(seen.contains { $0.attached == late })
    #expect(bench.count("mux-request") { $0["request"] == "after-listen" } == 0)
  }

  @Test func `H01: reports nothing when only the network entry of a cabled phone leaves`() async throws {
    let mux = try FakeMux { socket in
      guard FakeMux.request(on: socket) != nil else { return }
      FakeMux.send(FakeMux.result(0), on: socket)
      FakeMux.send(FakeMux.entry(9, Self.one, "Network"), on: socket, tag: 0)
      FakeMux.send(FakeMux.entry(4, Self.one), on: socket, tag: 0)
      FakeMux.send(["MessageType": "Paired", "DeviceID": 4], on: socket, tag: 0)
      FakeMux.send(["MessageType": "Detached", "DeviceID": 77], on: socket, tag: 0)
      FakeMux.send(["MessageType": "Detached", "DeviceID": 4], on: socket, tag: 0)
      FakeMux.send(["MessageType": "Detached", "DeviceID": 9], on: socket, tag: 0)
      _ = FakeMux.request(on: socket)
    }
    let watch = MuxWatch(mux.address)
    var events = watch.events.makeAsyncIterator()
    let udid = UDID(Self.one)
    func phone(_ id: Int, _ transport: PhoneTransport, _ also: Bool) -> ListedPhone {
      ListedPhone(udid: udid, serial: Self.one, deviceID: id, transport: transport, alsoNetwork: also)
    }

    var seen: [MuxEvent] = []
    while seen.count < 6, let event = await events.next() { seen.append(event) }

    #expect(
      seen == [
        .connected, .attached(phone(9, .network, false)), .changed(phone(4, .usb, true)), .paired(udid),
        .changed(phone(9, .network, false)), .detached(udid),
      ])
  }

  @Test func `H14: sees one attach and one detach after fifty lost connections, with nothing left over`() async throws {
    let connections = Guarded(0)
    let mux = try FakeMux { socket in
      guard FakeMux.request(on: socket) != nil else { return }
      FakeMux.send(FakeMux.result(0), on: socket)
      guard
        connections.with({
          $0 += 1; return $0
        }) > 50
      else { return }
      FakeMux.send(FakeMux.entry(1, Self.one), on: socket, tag: 0)
      FakeMux.send(["MessageType": "Detached", "DeviceID": 1], on: socket, tag: 0)
      _ = FakeMux.request(on: socket)
    }
    let watch = MuxWatch(mux.address, pauses: [.milliseconds(1)])
    var events = watch.events.makeAsyncIterator()

    var seen: [MuxEvent] = []
    while seen.last?.detached == nil, let event = await events.next() { seen.append(event) }

    #expect(seen.count { $0 == .connected } == 51)
    #expect(seen.compactMap(\.attached) == [UDID(Self.one)])
    #expect(seen.compactMap(\.detached) == [UDID(Self.one)])
  }

  @Test func `says once that the mux is away, and ends when told`() async throws {
    let folder = try Folder()
    let address = MuxAddress.unix(path: "\(folder.path)/nothing")
    let watch = MuxWatch(address, pauses: [.milliseconds(1)])
    var events = watch.events.makeAsyncIterator()

    let first = await events.next()
    _ = Worker(name: "stopper") {
      _ = Latch().wait(until: .after(.milliseconds(50)))
      watch.stop()
    }
    let second = await events.next()

    #expect(first == .lost(.noMux(address)))
    #expect(second == nil)
  }

  @Test func `reports phones again when the mux comes back`() async throws {
    let folder = try Folder()
    let path = "\(folder.path)/mux"
    let watch = MuxWatch(.unix(path: path), pauses: [.milliseconds(10)])
    var events = watch.events.makeAsyncIterator()
    let away = await events.next()
    var options = VirtualFleet.Options(address: .unix(path: path))
    options.phones = 1
    let fleet = try VirtualFleet(options)

    let back = await events.next()
    let phone = await events.next()
    fleet.stop()
    let gone = await events.next()

    #expect(away == .lost(.noMux(.unix(path: path))))
    #expect(back == .connected)
    #expect(phone?.attached == fleet.phones[0].udid)
    if case .lost = gone {} else { Issue.record("\(String(describing: gone))") }
  }
}

extension MuxEvent {
  fileprivate var attached: UDID? { if case .attached(let phone) = self { phone.udid } else { nil } }
  fileprivate var detached: UDID? { if case .detached(let udid) = self { udid } else { nil } }
}
