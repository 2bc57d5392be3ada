import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `tunnels in number` {
  private static let kiosk = LaunchRequest(bundle: "com.example.kiosk")

  // Threads, descriptors and interfaces are the process's own: these run in one of their own.

  @Test func `leave nothing behind in many rounds, whatever becomes of them`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("18.5")
      let faults: [(String, [String: String])?] = [
        nil, ("tunnel-fault", ["kind": "drop", "when": "handshake", "count": "1"]),
        ("tunnel-fault", ["kind": "garbage", "when": "reply", "count": "1"]),
        ("tunnel-fault", ["kind": "drop", "when": "after", "count": "1"]),
        ("tunnel-fault", ["kind": "drop", "bytes": "4000", "count": "1"]),
        ("coredevice-fault", ["kind": "half", "call": "capturescreenshot", "count": "1"]),
        ("coredevice-fault", ["kind": "oversized", "call": "capturescreenshot", "count": "1"]),
        ("coredevice-fault", ["kind": "close", "call": "rsd", "count": "1"]),
      ]
      func round(_ number: Int) async throws {
        let lane = try await bench.lane()
        defer { lane.close() }
        let fault = faults[number % faults.count]
        if let (action, values) = fault { try bench.do(action, values) }
        do throws(PhoneError) {
          _ = try await lane.screen(by: .patient)
          #expect(fault == nil, "round \(number)")
        } catch {
          #expect(fault != nil, "round \(number): \(error)")
          // None of these faults is one to wait for.
          if case .silent = error { Issue.record("round \(number): \(error)") }
        }
        // The next call works, over the same tunnel or another one.
        do throws(PhoneError) { _ = try await lane.screen(by: .patient) } catch {
          Issue.record("round \(number), the call after it: \(error)")
        }
      }
      for number in 0..<faults.count { try await round(number) }
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for number in 0..<Rounds.number {
        do { try await round(number) } catch { Issue.record("round \(number): \(error)") }
      }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
    }
  }

  @Test func `serve sixteen phones side by side, and no packet goes astray`() async throws {
    let bench = try Bench("17.6", "18.5", "26.1", phones: 16)
    let phones = try await bench.listed()

    let errors = await withTaskGroup { group in
      for phone in phones {
        group.addTask { [mux = bench.mux] in
          let lane = PhoneLane(phone, mux: mux)
          defer { lane.close() }
          return await lane.ending(of: Self.kiosk)
        }
      }
      return await group.reduce(into: [PhoneError?]()) { $0.append($1) }
    }

    #expect(errors.count == 16)
    #expect(errors.compactMap(\.self).isEmpty)
    for phone in bench.fleet.phones {
      let launches = bench.fleet.journal.entries().count { $0.event == "coredevice-launch" && $0.udid == phone.udid }
      #expect(launches == 1)
    }
  }

  @Test func `end with a call that is cancelled or whose lane is closed, at once`() async throws {
    let bench = try Bench("18.5", "18.5")
    for phone in 1...2 { try bench.do("coredevice-fault", on: phone, ["kind": "silent", "call": "all"]) }
    let (first, second) = (try await bench.lane(1), try await bench.lane(2))
    let cancelled = Task { await first.ending(of: Self.kiosk) }
    let closed = Task { await second.ending(of: Self.kiosk) }
    #expect(await eventually { bench.count("remote-service-connected") >= 4 })
    let start = ContinuousClock.now

    cancelled.cancel()
    second.close()

    #expect(await cancelled.value == .ended(first.udid))
    #expect(await closed.value == .ended(second.udid))
    #expect(ContinuousClock.now - start < .seconds(5))
  }
}
