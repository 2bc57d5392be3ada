import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

private let kiosk = "com.example.kiosk"

@Suite struct `an app's process, through the tunnel` {
  @Test(arguments: ["17.6", "26.1"])
  func `is stopped, continued and ended`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()
    let app = bench.fleet.phones[0].app
    func hello(within limit: Duration) async -> DoorAnswer.Ending {
      await lane.request(DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .after(limit))).ending
    }

    #expect(try await lane.suspend(kiosk, by: .patient))
    let stopped = await hello(within: .seconds(1))
    #expect(try await lane.resume(kiosk, by: .patient))
    let running = await hello(within: .seconds(30))
    #expect(try await lane.kill(kiosk, by: .patient))

    if case .silent = stopped {} else { Issue.record("\(stopped)") }
    if case .response = running {} else { Issue.record("\(running)") }
    #expect(app.processes.isEmpty)
    #expect(try await lane.kill(kiosk, by: .patient) == false)
    #expect(try await lane.suspend(kiosk, by: .patient) == false)
    // Where lists come in pieces the plain one may never be answered.
    #expect(bench.calls.contains("streamprocesslist") == (ios == "26.1"))
    #expect(bench.calls.contains("listprocesses") == (ios != "26.1"))
  }

  @Test func `of an app that is not installed is told by name`() async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()

    await #expect(throws: PhoneError.launchRefused(lane.udid, .notInstalled, detail: "com.example.none")) {
      try await lane.kill("com.example.none", by: .patient)
    }
  }
}

@Suite struct `the screen, through the tunnel` {
  @Test(arguments: ["17.6", "26.1"])
  func `is a picture in memory`(_ ios: String) async throws {
    let bench = try Bench(ios)

    let picture = try await bench.lane().screen(by: .patient)

    #expect(picture.format == .png && picture.width > 0 && picture.height > 0)
    #expect(bench.calls == ["capturescreenshot"])
  }

  @Test func `needs the image`() async throws {
    let bench = try Bench("18.5")
    try bench.do("unmount")
    let lane = try await bench.lane()

    let error = await #expect(throws: PhoneError.self) { try await lane.screen(by: .patient) }

    #expect(error?.refusal == .noDeveloperImage)
  }
}

@Suite struct `a tunnel` {
  private let request = LaunchRequest(bundle: kiosk)

  @Test func `is opened once and kept, under one name of this host`() async throws {
    let bench = try Bench("18.5", "27.2")
    for phone in 1...2 {
      let (first, second) = (try await bench.lane(phone), try await bench.lane(phone))
      for lane in [first, second, first, second] { #expect(await lane.ending(of: request) == nil) }
    }

    let hosts = bench.fleet.journal.entries().filter { $0.event == "rsd-host" }.map { $0.details["uuid"] }
    #expect(bench.count("tunnel-opened") == 4)
    #expect(hosts.count == 4, "\(hosts)")
    #expect(Set(hosts.map { $0?.string }).count == 1)
    #expect(bench.count("rsd-services-closed") == 0)
  }

  @Test func `is closed when nobody has needed it for a while, and opened again`() async throws {
    let bench = try Bench("18.5")
    let phone = try #require(try await bench.listed().first)
    let lane = PhoneLane(phone, mux: bench.mux, tunnelIdle: .milliseconds(30))

    _ = try await lane.screen(by: .patient)
    #expect(await eventually { bench.count("tunnel-closed") == 1 })
    _ = try await lane.screen(by: .patient)

    #expect(bench.count("tunnel-opened") == 2)
  }

  @Test(arguments: ["drop", "garbage", "sleep"])
  func `that has died is rebuilt by the next call`(_ kind: String) async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()
    _ = try await lane.screen(by: .patient)
    try bench.do("tunnel-now", ["kind": kind])

    _ = try await lane.screen(by: .patient)

    #expect(bench.count("tunnel-opened") == 2)
  }

  @Test func `is found out anew where the phone was restarted`() async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()
    _ = try await lane.screen(by: .patient)
    try bench.do("reboot")
    try bench.do("unlock")

    let error = await #expect(throws: PhoneError.self) { try await lane.screen(by: .patient) }

    // The image has gone with the boot; everything else works.
    #expect(error?.refusal == .noDeveloperImage, "\(String(describing: error))")
  }

  @Test(arguments: ["drop", "sleep", "garbage", "oversized", "shape"], ["handshake", "reply", "after"])
  func `that goes wrong at once is a fault of the call, by its deadline, and the next call works`(
    _ kind: String, _ moment: String
  ) async throws {
    let bench = try Bench("18.5")
    try bench.do("tunnel-fault", ["kind": kind, "when": moment, "count": "1"])
    let lane = try await bench.lane()
    let start = ContinuousClock.now

    let error = await #expect(throws: PhoneError.self) { try await lane.screen(by: .after(.seconds(2))) }

    switch error {
    case .lost, .badReply, .silent: break
    default: Issue.record("\(String(describing: error))")
    }
    #expect(ContinuousClock.now - start < .seconds(8))
    _ = try await lane.screen(by: .patient)
  }

  @Test(arguments: ["drip", "foreign"])
  func `is as good when its bytes come oddly, or belong to others`(_ kind: String) async throws {
    let bench = try Bench("18.5")
    try bench.do("tunnel-fault", ["kind": kind, "when": "after", "count": "1"])

    #expect(try await bench.lane().ending(of: request) == nil)
  }
}

@Suite struct `an answer in the tunnel` {
  @Test(
    arguments: [
      "silent", "mute", "close", "half", "stall", "shape", "mistyped", "deep", "oversized", "garbage", "stranger",
      "error",
    ])
  func `that is none is a fault of the call, by its deadline, and the next call works`(_ kind: String) async throws {
    let bench = try Bench("18.5")
    try bench.do("coredevice-fault", ["kind": kind, "call": "capturescreenshot", "levels": "10000", "count": "1"])
    let lane = try await bench.lane()
    let start = ContinuousClock.now

    let error = await #expect(throws: PhoneError.self) { try await lane.screen(by: .after(.seconds(2))) }

    switch error {
    case .lost, .badReply, .silent, .lockdown, .launchRefused(_, .failed, _): break
    default: Issue.record("\(String(describing: error))")
    }
    #expect(ContinuousClock.now - start < .seconds(8))
    _ = try await lane.screen(by: .patient)
  }

  @Test(arguments: ["slow", "drip"])
  func `may take its time`(_ kind: String) async throws {
    let bench = try Bench("18.5")
    try bench.do("coredevice-fault", ["kind": kind, "call": "getlockstate", "pause": "1ms", "count": "1"])

    #expect(try await bench.lane().ending(of: LaunchRequest(bundle: kiosk)) == nil)
  }

  @Test func `about what runs may be missing, and the launch is watched in another way`() async throws {
    let bench = try Bench("18.5")
    try bench.do("coredevice-fault", ["kind": "shape", "call": "listprocesses"])

    #expect(try await bench.lane().ending(of: LaunchRequest(bundle: kiosk)) == nil)
  }
}
