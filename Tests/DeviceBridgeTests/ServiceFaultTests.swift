import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a service that goes wrong` {
  private enum Asked: CaseIterable, Sendable {
    case app, power, files, crash, image

    var service: String {
      switch self {
      case .app: "com.apple.mobile.installation_proxy"
      case .power: "com.apple.mobile.diagnostics_relay"
      case .files: "com.apple.mobile.house_arrest"
      case .crash: "com.apple.crashreportcopymobile"
      case .image: "com.apple.mobile.mobile_image_mounter"
      }
    }

    func ask(_ lane: PhoneLane, by deadline: Deadline) async throws(PhoneError) {
      switch self {
      case .app: _ = try await lane.app("com.example.kiosk", by: deadline)
      case .power: _ = try await lane.power(by: deadline)
      case .files: _ = try await lane.files(in: "tmp", of: "com.example.kiosk", by: deadline)
      case .crash: _ = try await lane.crash(of: "Kiosk", within: nil, by: deadline)
      case .image: _ = try await lane.developerImage(by: deadline)
      }
    }
  }

  @Test(arguments: ["hang", "close", "garbage", "half", "tls-hang", "no-port"])
  func `is an error of its kind by the deadline, and the lane works on`(_ kind: String) async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    // Only these wait for the deadline; the others end by themselves, however busy the machine is.
    let limit = Duration.seconds(["hang", "half", "tls-hang", "garbage"].contains(kind) ? 2 : 60)
    for asked in Asked.allCases {
      try bench.do("service-fault", ["service": asked.service, "kind": kind])
      let start = ContinuousClock.now

      let error = await #expect(throws: PhoneError.self) { try await asked.ask(lane, by: .after(limit)) }

      #expect(ContinuousClock.now - start < limit + .seconds(10))
      switch (kind, error) {
      case ("hang", .silent), ("half", .silent), ("half", .lost), ("tls-hang", .silent), ("close", .lost),
        ("no-port", .refused):
        break
      // What is no message may claim a length that never comes.
      case ("garbage", .badReply), ("garbage", .silent), ("garbage", .lost): break
      default: Issue.record("\(kind) \(asked): \(String(describing: error))")
      }
      try bench.do("service-fault", ["clear": "yes"])
    }

    for asked in Asked.allCases { try await asked.ask(lane, by: .patient) }
  }
}
