import Testing
import Transport
import VirtualPhone
import Wire

@testable import DeviceBridge

private let kiosk = LaunchRequest(bundle: "com.example.kiosk")

@Suite struct `a launch through the tunnel` {
  @Test(arguments: ["17.6", "18.5", "26.1"])
  func `starts the app with arguments and environment`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()
    try bench.do("kill-app")

    let error = await lane.ending(
      of: LaunchRequest(
        bundle: "com.example.kiosk", arguments: ["-mode", "a b"], environment: [("LANG", "de"), ("EMPTY", "")]))

    #expect(error == nil)
    let launch = try #require(bench.fleet.journal.entries().last { $0.event == "coredevice-launch" }?.details)
    #expect(launch["arguments"] == ["-mode", "a b"])
    #expect(launch["environment"] == ["LANG": "de", "EMPTY": ""])
    #expect(launch["terminate_existing"] == false)
    #expect(bench.fleet.phones[0].app.processes.values.contains("Kiosk"))
  }
}
