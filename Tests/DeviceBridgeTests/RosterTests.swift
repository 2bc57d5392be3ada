@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `the daemon's list` {
  @Test func `is asked for about once a second, however many phones are visited`() async throws {
    let bench = try Bench(phones: 30)
    let phones = try await bench.listed()
    let start = ContinuousClock.now

    await withTaskGroup { group in
      for phone in phones {
        group.addTask { [mux = bench.mux] in
          let lane = PhoneLane(phone, mux: mux)
          defer { lane.close() }
          _ = await lane.facts(by: .patient)
        }
      }
    }

    let seconds = Int((ContinuousClock.now - start) / .seconds(1))
    #expect(bench.count("mux-request") { $0["request"] == "ListDevices" } <= 2 + seconds)
  }

  @Test func `is waited for by others, and asked for again when it did not come`() async throws {
    let asked = Guarded(0)
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let mux = try FakeMux { socket in
      guard FakeMux.request(on: socket) != nil else { return }
      let first = asked.with {
        $0 += 1
        return $0 == 1
      }
      // The first question is never answered.
      if first { _ = try? socket.read(max: 1, by: .patient) }
      FakeMux.send(["DeviceList": [FakeMux.entry(7, udid.description)]], on: socket)
    }
    let roster = Roster()
    let hung = Task.detached {
      _ = Result { try roster.phone(udid, on: Mux(address: mux.address), Leash(), by: .patient) }
    }
    #expect(await eventually { asked.with { $0 } == 1 })

    let phone = try await Blocking.run("second") { () throws(PhoneError) in
      try roster.phone(udid, on: Mux(address: mux.address), Leash(), by: .patient)
    }

    #expect(phone.deviceID == 7)
    #expect(asked.with { $0 } == 2)
    mux.stop()
    await hung.value
  }

  @Test func `is no longer waited for once the call is cut`() async throws {
    let mux = try FakeMux { socket in while FakeMux.request(on: socket) != nil {} }
    let (roster, leashes) = (Roster(), [Leash(), Leash()])
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let ended = Guarded(0)
    for leash in leashes {
      _ = Worker(name: "asker") {
        _ = Result { try roster.phone(udid, on: Mux(address: mux.address), leash, by: .patient) }
        ended.with { $0 += 1 }
      }
    }

    for leash in leashes { leash.cut() }

    #expect(await eventually(by: .after(.seconds(10))) { ended.with { $0 } == 2 })
  }
}
