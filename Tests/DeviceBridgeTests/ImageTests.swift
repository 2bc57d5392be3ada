@testable import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

extension Bench {
  fileprivate var uploads: Int { count("image-received") }
}

@Suite struct `the developer image` {
  @Test func `is mounted on an older phone, and launches work then`() async throws {
    let bench = try Bench("15.8")
    try bench.do("unmount")
    let images = try ImageSet("15.8")
    let lane = try await bench.lane()
    let sent = Guarded<[Progress]>([])
    #expect(try await lane.developerImage(by: .patient).isMounted == false)

    let outcome = try await lane.mount(from: images.folder, by: .patient) { step in sent.with { $0.append(step) } }

    #expect(outcome == .mounted(version: "15.8", isExact: true))
    #expect(
      try await lane.developerImage(by: .patient) == DeveloperImage(ios: "15.8", isMounted: true, isPersonalized: false)
    )
    #expect(sent.with { $0.last } == .sent(bytes: 3 << 20, of: 3 << 20))
    #expect(bench.count("image-received") { $0["bytes"]?.int == 3 << 20 } == 1)
    try await lane.launch(LaunchRequest(bundle: "com.example.kiosk"), by: .patient)
  }

  @Test func `is not sent again while one is mounted`() async throws {
    let bench = try Bench("16.7")
    try bench.do("mount")
    let images = try ImageSet("16.7")

    #expect(try await bench.lane().mount(from: images.folder, by: .patient) == .alreadyMounted)
    #expect(bench.uploads == 0)
  }

  @Test func `H26: is not sent while developer mode is off, and 15 has no such switch`() async throws {
    let bench = try Bench("16.7", "15.8")
    let images = try ImageSet("16.7", "15.8")
    for phone in 1...2 {
      try bench.do("unmount", on: phone)
      try bench.do("developer-mode", on: phone, ["on": "no"])
    }

    let newer = try await bench.lane(1).mount(from: images.folder, by: .patient)
    let older = try await bench.lane(2).mount(from: images.folder, by: .patient)

    #expect(newer == .refused(.developerModeOff, detail: "DeveloperModeStatus"))
    #expect(newer.sentence(UDID("x")).contains("Privacy & Security, Developer Mode"))
    #expect(older == .mounted(version: "15.8", isExact: true))
    #expect(bench.uploads == 1)
  }

  @Test func `is refused by a locked phone in its own words`() async throws {
    let bench = try Bench("15.8")
    try bench.do("unmount")
    try bench.do("lock")
    let images = try ImageSet("15.8")

    #expect(
      try await bench.lane().mount(from: images.folder, by: .patient) == .refused(.locked, detail: "DeviceLocked"))
  }

  @Test(arguments: ["17.6", "18.5"])
  func `is no file for one version from iOS 17 on`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let images = try ImageSet("16.4")
    let lane = try await bench.lane()
    try bench.do("unmount")

    let file = ImageFiles(version: "16.4", image: "x", signature: "y")
    #expect(try await lane.mount(file, by: .patient) == .refused(.notOnThisIOS, detail: "iOS \(ios)"))
    #expect(
      try await lane.mount(from: images.folder, by: .patient)
        == .noImage(.noPersonalizedImage("\(images.folder.path)/personalized")))
    #expect(bench.uploads == 0)
  }

  @Test(arguments: ["failed", "empty", "error"])
  func `H25: counts as mounted only when the phone says so`(_ reply: String) async throws {
    let bench = try Bench("15.8")
    try bench.do("unmount")
    try bench.do("mount-fault", ["reply": reply])
    let images = try ImageSet("15.8", bytes: 1000)
    let lane = try await bench.lane()

    let outcome = try await lane.mount(from: images.folder, by: .patient)

    guard case .refused(.refused, let detail) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    let words = ["failed": "ImageMountFailed", "empty": "neither status nor error", "error": "InternalError"]
    #expect(words[reply].map(detail.contains) == true)
    #expect(outcome.sentence(lane.udid).contains(detail))
    #expect(bench.uploads == 1)
    #expect(try await lane.developerImage(by: .patient).isMounted == false)
  }

  @Test(arguments: ["array", "single", "present"])
  func `is known as mounted in each way in which phones say it`(_ way: String) async throws {
    let bench = try Bench("15.8")
    try bench.do("mount")
    try bench.do("mount-fault", ["lookup": way])

    #expect(try await bench.lane().developerImage(by: .patient).isMounted)
  }

  @Test func `ends by its deadline when the phone takes nothing more`() async throws {
    let bench = try Bench("15.8")
    try bench.do("unmount")
    try bench.do(
      "cut",
      ["service": "com.apple.mobile.mobile_image_mounter", "after": "300000", "direction": "in", "kind": "stall"])
    let images = try ImageSet("15.8", bytes: 24 << 20)
    let lane = try await bench.lane()
    let start = ContinuousClock.now

    let error = await #expect(throws: PhoneError.self) {
      try await lane.mount(from: images.folder, by: .after(.seconds(3)))
    }

    if case .silent = error {} else { Issue.record("\(String(describing: error))") }
    #expect(ContinuousClock.now - start < .seconds(8))
  }
}

@Suite struct `the folder of images` {
  @Test func `H59: has the exact image or none, and names the versions`() throws {
    let images = try ImageSet("15.4", "16.0", bytes: 1)

    let error = #expect(throws: ImageFolderError.self) { try images.folder.image(for: "15.6.1") }

    #expect(error?.clause.contains("15.6.1") == true)
    #expect(error?.clause.contains("15.4, 16.0") == true)
    #expect(try images.folder.image(for: "16.0").version == "16.0")
    #expect(try images.folder.image(for: "16.0.2").version == "16.0")
  }

  @Test func `H59: has a near image only where that is asked for, and says so`() throws {
    let images = try ImageSet("15.4", "14.5", "16.0", bytes: 1)

    let near = try images.folder.image(for: "15.6.1", near: true)

    #expect(near.version == "15.4")
    #expect(!near.isExact)
    #expect(throws: ImageFolderError.self) { try images.folder.image(for: "13.7", near: true) }
    #expect(throws: ImageFolderError.self) { try images.folder.image(for: "14.1", near: true) }
  }

  @Test func `H59: is looked at with the phone's version of today`() async throws {
    let bench = try Bench("15.8")
    try bench.do("unmount")
    let images = try ImageSet("15.4", "16.0", bytes: 1000)
    let lane = try await bench.lane()

    let before = try await lane.mount(from: images.folder, by: .patient)
    try bench.do("set-value", ["ProductVersion": "16.0"])
    let after = try await lane.mount(from: images.folder, by: .patient)

    #expect(before == .noImage(.noMatch(wanted: "15.8", present: ["15.4", "16.0"], folder: images.folder.path)))
    #expect(before.sentence(lane.udid).contains("--near"))
    #expect(after == .mounted(version: "16.0", isExact: true))
  }

  @Test func `is incomplete without the signature`() throws {
    let images = try ImageSet("15.4", bytes: 1)
    images.removeSignature(of: "15.4")

    let error = #expect(throws: ImageFolderError.self) { try images.folder.image(for: "15.4") }

    #expect(error?.clause.contains("signature") == true)
  }

  @Test func `that is not there is said by name`() {
    let error = #expect(throws: ImageFolderError.self) { try ImageFolder(path: "/nonexistent").image(for: "15.4") }

    #expect(error == .unreadable("/nonexistent", code: ENOENT))
  }

  @Test func `orders versions by their numbers`() {
    let versions = ["9.3", "16.4", "15.10", "15.9", "15.9.1"].compactMap(SystemVersion.init).sorted().map(\.text)

    #expect(versions == ["9.3", "15.9", "15.9.1", "15.10", "16.4"])
    for text in ["", "x", "1.", ".1", "1..2", "-1.2", "١.٢", "1.2.3.4.5", "99999.1"] {
      #expect(SystemVersion(text) == nil)
    }
  }
}
