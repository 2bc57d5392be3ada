import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

extension Bench {
  fileprivate var uploads: Int { count("image-received") }
}

@Suite struct `the personalised image` {
  private let kiosk = LaunchRequest(bundle: "com.example.kiosk")

  @Test(arguments: ["17.0", "17.6", "26.1"])
  func `is signed for the phone once, and mounted`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let images = try PersonalizedSet()
    try bench.do("unmount")
    let lane = try await bench.lane()

    let before = try await lane.developerImage(by: .patient)
    let outcome = try await lane.mount(from: images.folder, by: .patient)
    let after = try await lane.developerImage(by: .patient)

    #expect(!before.isMounted && before.isPersonalized)
    #expect(outcome == .mounted(version: "personalized", isExact: true))
    #expect(after.isMounted)
    let request = try #require(images.signing.requests.first)
    #expect(request["ApECID"]?.int == Int(bench.fleet.phones[0].identity.ecid))
    #expect(request["LoadableTrustCache"]?["EPRO"] == true)
    #expect(try await lane.mount(from: images.folder, by: .patient) == .alreadyMounted)
    #expect(bench.uploads == 1 && images.signing.requests.count == 1)
  }

  @Test func `is mounted again without any network, as the phone keeps its ticket`() async throws {
    let bench = try Bench("17.6")
    let images = try PersonalizedSet()
    try bench.do("unmount")
    let lane = try await bench.lane()
    _ = try await lane.mount(from: images.folder, by: .patient)
    try bench.do("unmount")

    #expect(
      try await lane.mount(from: images.offline, by: .patient) == .mounted(version: "personalized", isExact: true))
    #expect(images.signing.requests.count == 1)
  }

  @Test func `makes launches possible, over the tunnel that was open before`() async throws {
    let bench = try Bench("18.5")
    let images = try PersonalizedSet()
    try bench.do("unmount")
    let lane = try await bench.lane()

    let before = await lane.ending(of: kiosk)
    _ = try await lane.mount(from: images.folder, by: .patient)
    let after = await lane.ending(of: kiosk)

    #expect(before?.refusal == .noDeveloperImage)
    #expect(before?.sentence.contains("fleetctl mount") == true)
    #expect(after == nil)
    #expect(bench.count("tunnel-opened") == 1)
  }

  @Test func `is not signed offline, nor by a server that refuses, is silent, or talks nonsense`() async throws {
    let bench = try Bench("17.6")
    let images = try PersonalizedSet()
    try bench.do("unmount")
    let lane = try await bench.lane()

    func outcome(_ folder: ImageFolder) async throws -> (MountRefusal?, String) {
      guard case .refused(let refusal, let detail) = try await lane.mount(from: folder, by: .patient) else {
        return (nil, "")
      }
      return (refusal, detail)
    }

    let offline = try await outcome(images.offline)
    #expect(offline.0 == .notSigned && offline.1.contains("switched off"))
    for (manner, words) in [
      (SigningServer.Manner.refuses, "94: This device isn't eligible"), (.garbage, "REQUEST_STRING"),
      (.unavailable, "HTTP 503"),
    ] {
      images.signing.manner = manner
      let refused = try await outcome(images.folder)
      #expect(refused.0 == .notSigned && refused.1.contains(words), "\(refused.1)")
    }
    images.signing.manner = .silent
    let error = await #expect(throws: PhoneError.self) {
      try await lane.mount(from: images.folder, by: .after(.seconds(1)))
    }
    if case .silent = error {} else { Issue.record("\(String(describing: error))") }
    #expect(bench.uploads == 0)
  }

  @Test func `is refused by the phone where its ticket is another phone's`() async throws {
    let bench = try Bench("17.6")
    let images = try PersonalizedSet()
    images.signing.manner = .wrongPhone
    try bench.do("unmount")

    let outcome = try await bench.lane().mount(from: images.folder, by: .patient)

    #expect(outcome == .refused(.refused, detail: "ImageMountFailed: The ticket is for another device"))
  }

  @Test func `H26: is not sent while developer mode is off, nor to a locked phone`() async throws {
    let bench = try Bench("17.6", "18.5")
    let images = try PersonalizedSet()
    for phone in 1...2 { try bench.do("unmount", on: phone) }
    try bench.do("developer-mode", on: 1, ["on": "no"])
    try bench.do("lock", on: 2)

    #expect(
      try await bench.lane(1).mount(from: images.folder, by: .patient)
        == .refused(.developerModeOff, detail: "DeveloperModeStatus"))
    #expect(
      try await bench.lane(2).mount(from: images.folder, by: .patient) == .refused(.locked, detail: "DeviceLocked"))
    #expect(bench.uploads == 0)
  }

  @Test func `is named where a part of it is missing, or the phone's model is`() async throws {
    let bench = try Bench("17.6")
    let images = try PersonalizedSet()
    try bench.do("unmount")
    let lane = try await bench.lane()

    images.remove("Image.dmg")
    let part = try await lane.mount(from: images.folder, by: .patient)
    images.remove("BuildManifest.plist")
    let all = try await lane.mount(from: images.folder, by: .patient)

    #expect(part == .noImage(.missing("\(images.path)/personalized/Image.dmg")))
    #expect(all == .noImage(.noPersonalizedImage("\(images.path)/personalized")))
    #expect(all.sentence(lane.udid).contains("personalized"))
  }
}

@Suite struct `a signing server's address` {
  @Test(arguments: [
    ("http://gs.apple.com", SigningService.apple), ("http://gs.apple.com/", .apple),
    ("http://10.0.0.1:8080/sign?x=1", SigningService(host: "10.0.0.1", port: 8080, target: "/sign?x=1")),
    ("http://[::1]:81", SigningService(host: "::1", port: 81)), ("https://gs.apple.com", nil), ("gs.apple.com", nil),
    ("http://", nil), ("http://a b", nil), ("http://a:0", nil), ("http://a:x", nil), ("http://a/\r\nb", nil),
    ("http://[nonsense]", nil), ("http://a\r\nHost: b", nil),
  ])
  func `is read, or is none`(_ text: String, _ expected: SigningService?) {
    #expect(SigningService(text) == expected)
  }
}
