@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `the list of phones` {
  static let old = "0123456789abcdef0123456789abcdef01234567"

  private func list(_ entries: [Plist]) async throws -> [ListedPhone] {
    let mux = try FakeMux.answering(["ListDevices": ["DeviceList": .array(entries)]])
    return try await Mux(address: mux.address).phones(by: .patient)
  }

  @Test(arguments: [false, true])
  func `H01: shows a phone once, over USB, whichever entry comes first`(_ networkFirst: Bool) async throws {
    let entries = [FakeMux.entry(4, Self.old), FakeMux.entry(9, Self.old, "Network")]

    let phones = try await list(networkFirst ? entries.reversed() : entries)

    #expect(
      phones == [
        ListedPhone(udid: UDID(Self.old), serial: Self.old, deviceID: 4, transport: .usb, alsoNetwork: true)
      ])
  }

  @Test func `shows the newest of two USB entries`() async throws {
    let phones = try await list([FakeMux.entry(7, Self.old), FakeMux.entry(3, Self.old)])

    #expect(phones.map(\.deviceID) == [7])
    #expect(phones.first?.alsoNetwork == false)
  }

  @Test func `H02: gives a bare serial its hyphen and keeps what the mux wrote`() async throws {
    let phones = try await list([FakeMux.entry(1, "00008101000A1B2C3D4E001E")])

    #expect(phones.first?.udid.description == "00008101-000A1B2C3D4E001E")
    #expect(phones.first?.serial == "00008101000A1B2C3D4E001E")
    #expect(phones.first?.udid == UDID("00008101000a1b2c3d4e001e"))
  }

  @Test func `H03: shows the mux's letter case and equals any other`() async throws {
    let phones = try await list([FakeMux.entry(1, Self.old.uppercased())])

    #expect(phones.first?.udid.description == Self.old.uppercased())
    #expect(phones.first?.udid == UDID(Self.old))
  }

  @Test func `leaves out entries that cannot be used, and no others`() async throws {
    let good = FakeMux.entry(5, Self.old)
    let phones = try await list([
      FakeMux.entry(0, "a"), FakeMux.entry(2, ""), FakeMux.entry(3, "b", "Pigeon"), ["DeviceID": 4], "text",
      FakeMux.entry(-1, "c"), FakeMux.entry(6, "red \u{1B}[31m"), FakeMux.entry(8, String(repeating: "x", count: 65)),
      good,
    ])

    #expect(phones.map(\.deviceID) == [5])
  }

  @Test func `H06: is whole with forty phones in small pieces`() async throws {
    let bench = try Bench(phones: 40)
    try bench.do("mux-chunk", ["bytes": "1024", "pause": "5ms", "single": "16"])
    let start = ContinuousClock.now

    let phones = try await bench.listed()

    #expect(Set(phones.map(\.udid)) == Set(bench.fleet.phones.map(\.udid)))
    #expect(phones.count == 40)
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `names a silent mux at the deadline`() async throws {
    let mux = try FakeMux { socket in
      _ = try? socket.read(max: 1, by: .patient); _ = Latch().wait(until: .after(.seconds(1)))
    }

    await #expect(throws: PhoneError.muxSilent(mux.address, detail: "no reply in time")) {
      try await Mux(address: mux.address).phones(by: .after(.milliseconds(100)))
    }
  }

  @Test(arguments: [
    [UInt8](repeating: 0xFF, count: 64), MuxFrame(tag: 1, payload: Array("<plist><dict>".utf8)).bytes,
    MuxFrame(tag: 1, payload: []).bytes, MuxFrame(FakeMux.result(1), tag: 1).bytes,
    MuxFrame(["DeviceList": "none"], tag: 1).bytes,
  ])
  func `calls nonsense nonsense`(_ bytes: [UInt8]) async throws {
    let mux = try FakeMux { socket in
      _ = FakeMux.request(on: socket)
      try? socket.write(bytes, by: .patient)
      _ = FakeMux.request(on: socket)
    }

    await #expect {
      try await Mux(address: mux.address).phones(by: .patient)
    } throws: {
      if case PhoneError.muxSilent = $0 { true } else { false }
    }
  }

  @Test func `asks again after a reset before the first byte`() async throws {
    let calls = Guarded(0)
    let mux = try FakeMux { socket in
      guard FakeMux.request(on: socket) != nil,
        calls.with({
          $0 += 1; return $0
        }) > 2
      else { return }
      FakeMux.send(["DeviceList": [FakeMux.entry(1, Self.old)]], on: socket)
    }

    let phones = try await Mux(address: mux.address).phones(by: .patient)

    #expect(phones.count == 1)
    #expect(calls.with { $0 } == 3)
  }

  @Test func `comes to sixty-four who ask at once, although the daemon lets five wait`() async throws {
    let mux = try FakeMux(backlog: 5) { socket in
      guard FakeMux.request(on: socket) != nil else { return }
      FakeMux.send(["DeviceList": [FakeMux.entry(1, Self.old)]], on: socket)
    }

    let counts = await withTaskGroup { group in
      for _ in 0..<64 {
        group.addTask { (try? await Mux(address: mux.address).phones(by: .patient))?.count }
      }
      return await group.reduce(into: [Int?]()) { $0.append($1) }
    }

    #expect(counts == [Int?](repeating: 1, count: 64))
  }
}

@Suite struct `the gate before the daemon` {
  @Test func `lets as many in as it has places, the next when one leaves, and none after the deadline`() {
    let gate = ConnectGate(slots: 2)

    #expect(gate.enter(by: .patient))
    #expect(gate.enter(by: .patient))
    #expect(!gate.enter(by: .after(.milliseconds(20))))
    gate.leave()
    #expect(gate.enter(by: .after(.milliseconds(20))))
    let next = Guarded<Bool?>(nil)
    let waiter = Worker(name: "waiter") {
      let came = gate.enter(by: .patient)
      next.with { $0 = came }
    }
    gate.leave()
    #expect(waiter.join(by: .patient))
    #expect(next.with { $0 } == true)
  }
}
