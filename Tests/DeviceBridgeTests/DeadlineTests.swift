@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a call to a phone that hangs` {
  /// Long enough for a busy machine to come to the step that hangs.
  private static let limit = Duration.seconds(2)
  /// Time for a busy machine to notice.
  private static let slack = Duration.seconds(5)

  @Test(arguments: ["QueryType", "GetValue", "StartSession", "TLS"])
  func `ends at its deadline wherever lockdownd stops, and hurts no other lane`(_ request: String) async throws {
    let bench = try Bench("16.7", "17.6")
    try bench.do("lockdown-fault", ["kind": "hang", "request": request])
    let (sick, sound) = (try await bench.lane(1), try await bench.lane(2))

    async let hung = Self.timed { await sick.facts(by: .after(Self.limit)) }
    async let fine = sound.facts(by: .patient)
    let ((sickFacts, took), soundFacts) = await (hung, fine)

    #expect(took < Self.limit + Self.slack)
    #expect(soundFacts.error == nil)
    #expect(sickFacts.trust == .unknown)
    #expect(sickFacts.lock.state == .unknown)
    guard case .silent(sick.udid, _, let limit) = sickFacts.error else {
      Issue.record("\(String(describing: sickFacts.error))")
      return
    }
    #expect(limit <= Self.limit)
  }

  private static func timed<T>(_ body: () async -> T) async -> (T, Duration) {
    let start = ContinuousClock.now
    return (await body(), ContinuousClock.now - start)
  }

  @Test func `works again once the phone does`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    _ = await lane.facts(by: .patient)
    try bench.do("lockdown-fault", ["kind": "hang", "request": "GetValue"])
    let hung = await lane.facts(by: .after(Self.limit))
    try bench.do("lockdown-fault", ["clear": "yes"])

    // Sooner than the library's own half minute: its wait has been ended.
    let facts = await lane.facts(by: .after(.seconds(15)))

    if case .silent = hung.error {} else { Issue.record("\(String(describing: hung.error))") }
    #expect(facts.error == nil)
  }

  @Test func `ends at its own deadline while it waits behind another`() async throws {
    let bench = try Bench("16.7")
    try bench.do("lockdown-fault", ["kind": "hang", "request": "StartSession"])
    let lane = try await bench.lane()
    let first = Task { await lane.facts(by: .after(.seconds(20))) }
    #expect(await eventually { bench.requests().contains("QueryType") })
    let start = ContinuousClock.now

    let second = await lane.lock(by: .after(Self.limit))

    #expect(second.state == .unknown)
    #expect(ContinuousClock.now - start < Self.limit + Self.slack)
    lane.close()
    #expect(await first.value.error == .ended(lane.udid))
  }

  @Test func `ends when its task is cancelled`() async throws {
    let bench = try Bench("16.7")
    try bench.do("lockdown-fault", ["kind": "hang", "request": "TLS"])
    let lane = try await bench.lane()
    let start = ContinuousClock.now
    let call = Task { await lane.facts(by: .after(.seconds(20))) }
    #expect(await eventually { bench.requests().contains("StartSession") })

    call.cancel()

    #expect(await call.value.error == .ended(lane.udid))
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `ends at once on a closed lane`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    _ = await lane.facts(by: .patient)

    lane.close()

    #expect(await lane.facts(by: .patient).error == .ended(lane.udid))
    await #expect(throws: PhoneError.ended(lane.udid)) { try await lane.connect(port: 8127, by: .patient) }
    #expect(await eventually { bench.connects(to: 62078) == 1 })
  }

  @Test func `ends at its deadline when the mux is silent`() async throws {
    let bench = try FakeMux { socket in while FakeMux.request(on: socket) != nil {} }
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let phone = ListedPhone(
      udid: udid, serial: udid.description, deviceID: 1, transport: .usb, alsoNetwork: false)
    let lane = PhoneLane(phone, mux: bench.address)
    let start = ContinuousClock.now

    let facts = await lane.facts(by: .after(Self.limit))
    let door = await lane.request(
      DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .after(Self.limit)))

    #expect(ContinuousClock.now - start < Self.limit * 2 + Self.slack)
    #expect(facts.error == .muxSilent(bench.address, detail: "no reply in time"))
    if case .unreachable(.muxSilent) = door.ending {} else { Issue.record("\(door.ending)") }
  }

  @Test(arguments: ["close", "half", "garbage"])
  func `H15: ends at once when the phone leaves in the middle`(_ kind: String) async throws {
    let bench = try Bench("16.7")
    let start = ContinuousClock.now
    for request in ["QueryType", "StartSession"] {
      try bench.do("lockdown-fault", ["clear": "yes"])
      try bench.do("lockdown-fault", ["kind": kind, "request": request])

      let facts = try await bench.lane().facts(by: .patient)

      switch facts.error {
      case .lost, .badReply: break
      default: Issue.record("\(kind) \(request): \(String(describing: facts.error))")
      }
    }
    #expect(ContinuousClock.now - start < .seconds(20))
  }
}
