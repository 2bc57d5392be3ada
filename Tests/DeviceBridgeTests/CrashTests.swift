import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `the newest crash report` {
  @Test func `tells type and place, in the system and in the app`() async throws {
    let bench = try Bench("17.6")
    try bench.do("crash-app", ["kind": "abort"])

    let report = try await bench.lane().crash(of: "Kiosk", within: .seconds(3600), by: .patient)

    #expect(report?.name.hasPrefix("Kiosk-") == true)
    #expect(report?.type == "EXC_CRASH (SIGABRT)")
    #expect(report?.topFrame?.contains("__pthread_kill") == true)
    #expect(report?.ownFrame?.contains("CameraQueue.fail") == true)
    #expect(report?.age.map { $0 < .seconds(600) } == true)
  }

  @Test func `tells that the system ended the app for its memory, once the mover has brought that`() async throws {
    let bench = try Bench("16.7")
    try bench.do("old-crash", ["age": "1h"])
    try bench.do("crash-app", ["kind": "memory"])

    let lane = try await bench.lane()
    let report = try await lane.crash(of: "Kiosk", within: .seconds(600), by: .patient)
    let other = try await lane.crash(of: "SpringBoard", within: nil, by: .patient)

    #expect(report?.name.hasPrefix("JetsamEvent-") == true)
    #expect(report?.type == "out of memory (per-process-limit)")
    #expect(report?.topFrame == nil)
    #expect(other == nil)
  }

  @Test func `is the app's own where that came after the last one for its memory`() async throws {
    let bench = try Bench("16.7")
    try bench.do("old-crash", ["age": "1h", "kind": "memory"])
    try bench.do("crash-app", ["kind": "abort"])

    let report = try await bench.lane().crash(of: "Kiosk", within: nil, by: .patient)

    #expect(report?.type == "EXC_CRASH (SIGABRT)")
  }

  @Test func `is none where there is none, only an old one, or another app's`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    let none = try await lane.crash(of: "Kiosk", within: nil, by: .patient)
    try bench.do("old-crash", ["age": "2h"])

    let old = try await lane.crash(of: "Kiosk", within: .seconds(3600), by: .patient)
    let any = try await lane.crash(of: "Kiosk", within: nil, by: .patient)
    let other = try await lane.crash(of: "Kios", within: nil, by: .patient)

    #expect(none == nil)
    #expect(old == nil)
    #expect(any?.age.map { $0 > .seconds(7000) && $0 < .seconds(7500) } == true)
    #expect(other == nil)
  }
}
