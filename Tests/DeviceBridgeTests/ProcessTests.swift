import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

private let kiosk = "com.example.kiosk"

extension PhoneLane {
  fileprivate func hello(within limit: Duration) async -> DoorAnswer.Ending {
    await request(DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .after(limit))).ending
  }
}

@Suite struct `the app's process` {
  @Test func `is stopped so that its door accepts and never answers, and goes on later`() async throws {
    let bench = try Bench("16.7")
    try bench.do("mount")
    let lane = try await bench.lane()
    try await lane.launch(LaunchRequest(bundle: kiosk), by: .patient)

    #expect(try await lane.suspend(kiosk, by: .patient))
    let stopped = await lane.hello(within: .seconds(1))
    #expect(try await lane.resume(kiosk, by: .patient))
    let running = await lane.hello(within: .seconds(30))

    if case .silent = stopped {} else { Issue.record("\(stopped)") }
    if case .response = running {} else { Issue.record("\(running)") }
  }

  @Test func `is ended, and that is no crash of a lane`() async throws {
    let bench = try Bench("15.8")
    try bench.do("mount")
    let lane = try await bench.lane()
    try await lane.launch(LaunchRequest(bundle: kiosk), by: .patient)
    let executable = try await lane.app(kiosk, by: .patient)?.executable ?? ""

    let killed = try await lane.kill(kiosk, by: .patient)

    #expect(killed)
    #expect(try await lane.isRunning(executable: executable, by: .patient) == false)
    #expect(try await lane.kill(kiosk, by: .patient) == false)
    #expect(try await lane.suspend(kiosk, by: .patient) == false)
    #expect(try await lane.resume(kiosk, by: .patient) == false)
  }

  @Test func `can't be reached without the developer image, and why is said`() async throws {
    let bench = try Bench("16.7")
    try bench.do("mount")
    let lane = try await bench.lane()
    try await lane.launch(LaunchRequest(bundle: kiosk), by: .patient)
    try bench.do("unmount")

    let error = await #expect(throws: PhoneError.self) { try await lane.suspend(kiosk, by: .patient) }

    guard case .launchRefused(lane.udid, .noDeveloperImage, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: ["17.0"])
  func `is out of reach from 17.0 to 17.3`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()

    let error = await #expect(throws: PhoneError.self) { try await lane.kill(kiosk, by: .patient) }

    guard case .launchRefused(lane.udid, .notOnThisIOS, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `of an app that is not installed is told by name`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    await #expect(throws: PhoneError.launchRefused(lane.udid, .notInstalled, detail: "com.example.none")) {
      try await lane.suspend("com.example.none", by: .patient)
    }
  }
}
