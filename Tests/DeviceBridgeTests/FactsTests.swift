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
  }
}
