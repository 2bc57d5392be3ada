import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a phone before its first unlock` {
  @Test(arguments: ["password-protected", "invalid-host-id", "session-only"])
  func `H19: is known as such in each of the three ways, and as trusted after it`(_ mode: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("reboot", ["first-unlock": mode])
    let lane = try await bench.lane()

    let before = await lane.facts(by: .patient)
    try bench.do("unlock")
    let after = await lane.facts(by: .patient)

    #expect(before.trust == .lockedBeforeFirstUnlock)
    #expect(before.lock.state == .locked)
    #expect(before.lock.why.contains("not unlocked since it was switched on"))
    #expect(before.deviceName == bench.fleet.phones[0].identity.name)
    #expect(after.trust == .trusted)
    #expect(after.error == nil)
    #expect(!bench.requests().contains("Pair"))
  }

  @Test func `is not one that was merely locked again`() async throws {
    let bench = try Bench("16.7")
    try bench.do("lock")

    let facts = try await bench.lane().facts(by: .patient)

    #expect(facts.trust == .trusted)
    #expect(facts.lock.state == .locked)
    #expect(facts.error == nil)
  }

  @Test func `H18: is not one that has forgotten this host and is unlocked`() async throws {
    let bench = try Bench("16.7")
    try bench.do("trust", ["mode": "forget"])

    #expect(try await bench.lane().facts(by: .patient).trust == .stale)
  }
}
