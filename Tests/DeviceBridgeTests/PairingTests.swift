@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

extension Bench {
  fileprivate var pairRequests: Int { requests().count { $0 == "Pair" } }

  /// How often the daemon was asked to change its records.
  fileprivate var recordChanges: Int {
    count("mux-request") { $0["request"] == "SavePairRecord" || $0["request"] == "DeletePairRecord" }
  }
}

@Suite struct `pairing` {
  @Test func `makes a phone trusted, and a session proves it`() async throws {
    let bench = try Bench("16.7", trusted: false)
    let lane = try await bench.lane()
    #expect(await lane.facts(by: .patient).trust == .untrusted)

    let state = try await lane.pair(by: .patient)

    #expect(state == .trusted)
    #expect(await lane.facts(by: .patient).trust == .trusted)
    #expect(try await bench.lane().facts(by: .patient).trust == .trusted)
    #expect(bench.count("mux-request") { $0["request"] == "SavePairRecord" } == 1)
  }

  @Test func `leaves trust that stands as it is`() async throws {
    let bench = try Bench("16.7")

    let state = try await bench.lane().pair(by: .patient)

    #expect(state == .trusted)
    #expect(bench.pairRequests == 0)
    #expect(bench.recordChanges == 0)
  }

  @Test func `H17: is pending until somebody taps Trust, and asks at most once a second`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("trust", ["mode": "ask", "answers": "2"])
    let lane = try await bench.lane()
    let start = ContinuousClock.now
    var states: [PairState] = []

    for _ in 0..<3 { states.append(try await lane.pair(by: .patient)) }

    #expect(states == [.pending, .pending, .trusted])
    #expect(ContinuousClock.now - start >= .seconds(2))
    #expect(bench.pairRequests == 3)
    #expect(PairState.pending.sentence(lane.udid).contains("unlock the phone and tap Trust"))
    #expect(PairState.pending.mayChange)
  }

  @Test func `H17: is never begun by a look at the phone`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("trust", ["mode": "ask"])
    let lane = try await bench.lane()

    _ = await lane.facts(by: .patient)
    _ = await lane.lock(by: .patient)
    _ = try? await lane.app("com.example.kiosk", by: .patient)
    _ = try? await lane.power(by: .patient)

    #expect(bench.pairRequests == 0)
    #expect(bench.recordChanges == 0)
  }

  @Test func `is denied where somebody tapped Don't Trust`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("trust", ["mode": "deny"])

    #expect(try await bench.lane().pair(by: .patient) == .denied)
    #expect(!PairState.denied.mayChange)
    #expect(bench.recordChanges == 0)
  }

  @Test func `H19: waits for the unlock on a locked phone that was never trusted`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("lock")
    let lane = try await bench.lane()

    let locked = try await lane.pair(by: .patient)
    try bench.do("unlock")
    let after = try await lane.pair(by: .patient)

    #expect(locked == .locked)
    #expect(PairState.locked.sentence(lane.udid).contains("unlock, then trust"))
    #expect(after == .trusted)
  }

  @Test(arguments: ["password-protected", "invalid-host-id"])
  func `H19: pairs nothing anew before the first unlock of a trusted phone`(_ mode: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("reboot", ["first-unlock": mode])
    let lane = try await bench.lane()

    let state = try await lane.pair(by: .patient)

    #expect(state == .lockedBeforeFirstUnlock)
    #expect(state.sentence(lane.udid).contains("unlock once after the reboot"))
    #expect(bench.pairRequests == 0)
    #expect(bench.recordChanges == 0)
  }

  @Test func `H18: replaces a record that the phone has forgotten`() async throws {
    let bench = try Bench("16.7")
    try bench.do("trust", ["mode": "forget"])
    let lane = try await bench.lane()
    #expect(await lane.facts(by: .patient).trust == .stale)
    #expect(bench.recordChanges == 0)

    let state = try await lane.pair(by: .patient)

    #expect(state == .trusted)
    #expect(bench.count("mux-request") { $0["request"] == "DeletePairRecord" } == 0)
  }

  @Test func `H18: keeps the record of a phone that has forgotten it while nobody has tapped`() async throws {
    let bench = try Bench("16.7")
    let before = try record(bench)
    try bench.do("trust", ["mode": "forget"])
    bench.fleet.phones[0].state.with { $0.trust = .pending }

    #expect(try await bench.lane().pair(by: .patient) == .pending)

    #expect(try record(bench) == before)
  }

  @Test func `H21: is not begun over a handshake that breaks, and the record stays`() async throws {
    let bench = try Bench("16.7")
    let before = try record(bench)
    try bench.do("lockdown-fault", ["kind": "close", "request": "TLS"])
    let lane = try await bench.lane()

    let error = await #expect(throws: PhoneError.self) { try await lane.pair(by: .patient) }

    if case .tls = error {} else { Issue.record("\(String(describing: error))") }
    #expect(bench.pairRequests == 0)
    #expect(bench.recordChanges == 0)
    #expect(try record(bench) == before)
  }

  @Test func `H22: says nothing of keys, records or names of hosts when it fails`() async throws {
    let bench = try Bench("16.7")
    let secrets = try record(bench)
    let plist = try Plist(parsing: secrets)
    let lane = try await bench.lane()
    var texts: [String] = []
    for token in ["InvalidHostID", "MCProtected", "SessionActive"] {
      try bench.do("lockdown-error", ["error": token, "request": "all"])
      let facts = await lane.facts(by: .patient)
      texts += [facts.error?.sentence ?? "", "\(facts)", String(reflecting: facts)]
      do throws(PhoneError) { texts.append("\(try await lane.pair(by: .patient))") } catch { texts.append("\(error)") }
    }

    let names = [plist["HostID"]?.string, plist["SystemBUID"]?.string].compactMap(\.self)
    #expect(names.count == 2)
    for text in texts {
      #expect(!text.isEmpty)
      #expect(!text.contains("BEGIN "))
      #expect(!text.contains("EscrowBag"))
      for name in names { #expect(!text.contains(name)) }
    }
  }

  @Test func `H23: goes on with the phone's next number`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("trust", ["mode": "ask"])
    let lane = try await bench.lane()
    let first = try await lane.pair(by: .patient)
    try bench.do("detach")
    let away = await #expect(throws: PhoneError.self) { try await lane.pair(by: .patient) }
    try bench.do("trust", ["mode": "now"])
    try bench.do("attach")

    let last = try await lane.pair(by: .patient)

    #expect(first == .pending)
    #expect(away == .absent(lane.udid))
    #expect(last == .trusted)
  }

  @Test func `fails by name when the daemon can't keep the record`() async throws {
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let phone = ListedPhone(
      udid: udid, serial: udid.description, deviceID: 1, transport: .usb, alsoNetwork: false)
    let mux = try FakeMux.answering(["SavePairRecord": FakeMux.result(28)])

    let error = await #expect(throws: PhoneError.self) {
      try await Blocking.run("save") { () throws(PhoneError) in
        try Mux(address: mux.address).savePairRecord("x", [1], of: phone, by: .patient)
      }
    }

    #expect(error == .host(code: 28, step: "saving the pair record"))
  }

  @Test func `ends by its deadline when the phone hangs at Pair`() async throws {
    let bench = try Bench("16.7", trusted: false)
    try bench.do("lockdown-fault", ["kind": "hang", "request": "Pair"])
    let lane = try await bench.lane()

    let error = await #expect(throws: PhoneError.self) { try await lane.pair(by: .after(.seconds(5))) }

    if case .silent = error {} else { Issue.record("\(String(describing: error))") }
    #expect(bench.recordChanges == 0)
  }
}

@Suite struct `unpairing` {
  @Test func `revokes the trust at both ends`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    let outcome = try await lane.unpair(by: .patient)

    #expect(outcome == .bothEnds)
    #expect(bench.count("unpaired") == 1)
    #expect(await lane.facts(by: .patient).trust == .untrusted)
    #expect(try await lane.unpair(by: .patient) == .nothing)
  }

  @Test func `is done here alone where the phone has forgotten already`() async throws {
    let bench = try Bench("16.7")
    try bench.do("trust", ["mode": "forget"])
    let lane = try await bench.lane()

    #expect(try await lane.unpair(by: .patient) == .hereAlone(.untrusted(lane.udid, .stale)))
    #expect(await lane.facts(by: .patient).trust == .untrusted)
  }

  @Test func `is done here alone where the phone is gone`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    try bench.do("detach")

    #expect(try await lane.unpair(by: .patient) == .hereAlone(.absent(lane.udid)))
    #expect(try await lane.unpair(by: .patient) == .nothing)
  }

  @Test func `H02: finds the record under whichever spelling it has`() async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["serial": "hyphenless"])
    let lane = try await bench.lane()

    #expect(try await lane.unpair(by: .patient) == .bothEnds)
    #expect(await lane.facts(by: .patient).trust == .untrusted)
  }

  @Test func `keeps the record when the phone hangs`() async throws {
    let bench = try Bench("16.7")
    let before = try record(bench)
    try bench.do("lockdown-fault", ["kind": "hang", "request": "Unpair"])
    let lane = try await bench.lane()

    let error = await #expect(throws: PhoneError.self) { try await lane.unpair(by: .after(.seconds(5))) }

    if case .silent = error {} else { Issue.record("\(String(describing: error))") }
    #expect(try record(bench) == before)
  }
}

/// Phone 1's pair record as the daemon has it.
private func record(_ bench: Bench) throws -> [UInt8] {
  let mux = Mux(address: bench.mux)
  let id = bench.fleet.phones[0].udid.description
  guard let record = try mux.readPairRecord(id, by: .patient) else { throw Trouble("no record") }
  return record
}
