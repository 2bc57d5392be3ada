import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a visit to a phone` {
  @Test(arguments: ["15.8", "16.7", "17.6", "18.5", "26.1"])
  func `tells name, model, iOS, trust, lock and battery on each iOS`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let phone = bench.fleet.phones[0]
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)

    #expect(facts.error == nil)
    #expect(facts.deviceName == phone.identity.name)
    #expect(facts.model == phone.preset.productType)
    #expect(facts.ios == ios)
    #expect(facts.trust == .trusted)
    #expect(facts.lock.state == .unlocked)
    #expect(facts.batteryPercent == 87)
    #expect(bench.connects(to: 62078) == 1)
  }

  @Test func `keeps one session from visit to visit`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    for _ in 0..<5 { #expect(await lane.facts(by: .patient).error == nil) }

    #expect(bench.connects(to: 62078) == 1)
  }

  @Test func `finds the phone again under its next number`() async throws {
    let bench = try Bench("16.7", "17.6")
    let lane = try await bench.lane()
    _ = await lane.facts(by: .patient)

    try bench.do("detach")
    let away = await lane.facts(by: .patient)
    try bench.do("attach")
    let back = await lane.facts(by: .patient)

    #expect(away.error == .absent(lane.udid))
    #expect(away.deviceName == nil)
    #expect(away.trust == .unknown)
    #expect(back.error == nil)
    #expect(back.deviceName == bench.fleet.phones[0].identity.name)
  }

  @Test func `H02: reads the record under the spelling that exists`() async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["serial": "hyphenless", "record": "own"])
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .trusted)
    #expect(lane.udid.description == bench.fleet.phones[0].udid.description)
  }

  @Test func `H02: reads the record under the bare spelling as well`() async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["serial": "hyphenless"])
    let lane = try await bench.lane()

    #expect(await lane.facts(by: .patient).trust == .trusted)
  }

  @Test(arguments: ["テスト", "テストab", ""])
  func `H08: gives the name exactly as the phone has it`(_ name: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("name", ["to": name])

    let facts = try await bench.lane().facts(by: .patient)

    #expect(facts.deviceName == name)
    #expect(facts.error == nil)
  }

  @Test func `H08: gives no name where the phone has none`() async throws {
    let bench = try Bench("16.7")
    try bench.do("set-value", ["DeviceName": "x", "type": "absent"])

    let facts = try await bench.lane().facts(by: .patient)

    #expect(facts.deviceName == nil)
    #expect(facts.error == nil)
  }

  @Test func `H09: reads characters written as numbers`() async throws {
    let bench = try Bench("16.7")
    try bench.do("set-value", ["DeviceName": "<string>Lab &#128664; &amp; &#x1F4F1;</string>", "type": "xml"])

    let name = try await bench.lane().facts(by: .patient).deviceName

    #expect(name.map { Array($0.utf8) } == Array("Lab \u{1F698} & \u{1F4F1}".utf8))
  }

  @Test func `never connects to a phone that is on the network only`() async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["network": "only"])
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)
    let port = await #expect(throws: PhoneError.self) { try await lane.connect(port: 8127, by: .patient) }

    #expect(facts.error == .networkOnly(lane.udid))
    #expect(port == .networkOnly(lane.udid))
    #expect(bench.count("mux-request") { $0["request"] == "Connect" } == 0)
  }

  @Test(arguments: ["before", "after"])
  func `H01: connects over USB whichever entry comes first`(_ order: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["network": order])
    let lane = try await bench.lane()

    #expect(await lane.facts(by: .patient).error == nil)

    let usb = bench.fleet.phones[0].state.with { $0.deviceID }
    let ids = bench.fleet.journal.entries().compactMap { $0.details["device_id"]?.int }
    #expect(Set(ids) == [Int(usb)])
    #expect(try await bench.listed().count == 1)
  }

  @Test(arguments: ["a", "b", "c", "d", "e", "f"])
  func `H58: is listed and reached over USB in whatever layout its network address comes`(_ layout: String) async throws
  {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["network": "before", "address": layout])
    let lane = try await bench.lane()

    let both = try await bench.listed()
    let facts = await lane.facts(by: .patient)
    try bench.do("list-as", ["network": "only", "address": layout])
    let alone = try await bench.listed()

    #expect(both.map(\.transport) == [.usb] && both[0].alsoNetwork)
    #expect(facts.error == nil)
    #expect(alone.map(\.transport) == [.network])
  }
}

@Suite struct `trust` {
  @Test func `is missing without a record, and the phone is not asked for it`() async throws {
    let bench = try Bench("16.7", trusted: false)
    let phone = bench.fleet.phones[0]
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .untrusted)
    #expect(facts.error == .untrusted(lane.udid, .untrusted))
    #expect(facts.deviceName == phone.identity.name)
    #expect(facts.model == phone.preset.productType)
    #expect(facts.ios == "16.7")
    #expect(facts.lock == LockReading(state: .unknown, why: "no session: untrusted"))
    let asked = Set(bench.requests())
    #expect(asked.isSubset(of: ["QueryType", "GetValue"]))
    #expect(bench.count("mux-request") { $0["request"] == "SavePairRecord" } == 0)
  }

  @Test(arguments: [
    ("InvalidHostID", Trust.stale), ("PasswordProtected", .lockedBeforeFirstUnlock),
    ("PairingDialogResponsePending", .pending), ("UserDeniedPairing", .denied),
  ])
  func `H18: follows the phone's word at the session's start, and the record stays`(
    _ token: String, _ trust: Trust
  ) async throws {
    let bench = try Bench("16.7")
    try bench.do("lockdown-error", ["error": token])

    let facts = try await bench.lane().facts(by: .patient)

    #expect(facts.trust == trust)
    #expect(facts.deviceName == bench.fleet.phones[0].identity.name)
    #expect(facts.lock.state == (trust == .lockedBeforeFirstUnlock ? .locked : .unknown))
    #expect(bench.requests().contains("Pair") == false)
    for writing in ["SavePairRecord", "DeletePairRecord"] {
      #expect(bench.count("mux-request") { $0["request"] == .string(writing) } == 0)
    }
  }

  @Test func `H05: of one sick phone is stale, and the others are whole`() async throws {
    let bench = try Bench("16.7", "17.6", "18.5")
    try bench.do("lockdown-error", on: 2, ["error": "InvalidHostID", "request": "GetValue"])

    var facts: [PhoneFacts] = []
    for number in 1...3 { facts.append(try await bench.lane(number).facts(by: .patient)) }

    #expect(facts.map(\.trust) == [.trusted, .stale, .trusted])
    #expect(facts[1].deviceName == nil)
    #expect(facts[1].model == nil)
    #expect(facts[0].deviceName == bench.fleet.phones[0].identity.name)
    #expect(facts[2].deviceName == bench.fleet.phones[2].identity.name)
  }

  @Test func `H05: carries nothing over from the visit before`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    _ = await lane.facts(by: .patient)
    try bench.do("lockdown-error", ["error": "InvalidHostID", "request": "all"])

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .stale)
    #expect(facts.deviceName == nil)
    #expect(facts.batteryPercent == nil)
  }

  @Test func `is not known of a phone whose word we do not know, which is kept`() async throws {
    let bench = try Bench("16.7")
    try bench.do("lockdown-error", ["error": "MCProtected"])
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .unknown)
    #expect(facts.error == .lockdown(lane.udid, step: "opening a session", token: "MCProtected", code: -38))
  }

  @Test func `H21: is not known when TLS breaks, and the record stays`() async throws {
    let bench = try Bench("16.7")
    try bench.do("lockdown-fault", ["kind": "close", "request": "TLS"])
    let lane = try await bench.lane()

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .unknown)
    if case .tls = facts.error {} else { Issue.record("\(String(describing: facts.error))") }
    #expect(bench.count("mux-request") { $0["request"] == "DeletePairRecord" } == 0)
  }

  @Test func `is not known when the record is damaged, and nothing pairs`() async throws {
    let bench = try Bench("16.7")
    let udid = bench.fleet.phones[0].udid.description
    let mux = try FakeMux.answering([
      "ListDevices": ["DeviceList": [FakeMux.entry(1, udid)]], "ReadPairRecord": ["PairRecordData": .data([1, 2, 3])],
    ])
    let lane = PhoneLane(
      ListedPhone(udid: UDID(udid), serial: udid, deviceID: 1, transport: .usb, alsoNetwork: false), mux: mux.address)

    let facts = await lane.facts(by: .patient)

    #expect(facts.trust == .unknown)
    #expect(
      facts.error == .badReply(lane.udid, step: "reading its pair record", detail: "the record is damaged"))
  }

  @Test func `is lost before the first unlock, and back after it`() async throws {
    let bench = try Bench("16.7")
    try bench.do("reboot")
    let lane = try await bench.lane()

    let before = await lane.facts(by: .patient)
    try bench.do("unlock")
    let after = await lane.facts(by: .patient)

    #expect(before.trust == .lockedBeforeFirstUnlock)
    #expect(before.lock.state == .locked)
    #expect(after.trust == .trusted)
    #expect(after.lock.state == .unlocked)
  }
}

@Suite struct `the lock` {
  @Test func `H20: is read anew each time`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()

    let first = await lane.lock(by: .patient)
    try bench.do("lock")
    let second = await lane.lock(by: .patient)
    try bench.do("unlock")
    let third = await lane.lock(by: .patient)

    #expect(first.state == .unlocked)
    #expect(second.state == .locked)
    #expect(third.state == .unlocked)
    #expect(third.why.contains("no passcode"))
  }

  @Test(arguments: [
    ("absent", "x", LockState.unknown), ("integer", "1", .locked), ("integer", "0", .unknown),
    ("string", "false", .unknown),
    ("boolean", "true", .locked),
  ])
  func `H20: is never taken for open`(_ type: String, _ value: String, _ state: LockState) async throws {
    let bench = try Bench("17.6")
    try bench.do("set-value", ["PasswordProtected": value, "type": type])

    let reading = try await bench.lane().lock(by: .patient)

    #expect(reading.state == state)
  }
}
