import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a picture of a phone's screen` {
  @Test(arguments: [("15.8", "png"), ("16.7", "tiff")])
  func `comes into memory with its size`(_ ios: String, _ format: String) async throws {
    let bench = try Bench(ios)
    try bench.do("mount")
    try bench.do("screen", ["format": format, "scale": "4"])

    let picture = try await bench.lane().screen(by: .patient)

    #expect(picture.format.rawValue == format)
    #expect(picture.width > 100 && picture.height > picture.width)
    #expect(picture.withBytes { $0.count } > 100)
  }

  @Test func `needs the developer image, and is not had from 17.0 to 17.3`() async throws {
    let bench = try Bench("16.7", "17.0")
    try bench.do("unmount")
    let (old, new) = (try await bench.lane(1), try await bench.lane(2))

    let missing = await #expect(throws: PhoneError.self) { try await old.screen(by: .patient) }
    let gone = await #expect(throws: PhoneError.self) { try await new.screen(by: .patient) }

    if case .launchRefused(_, .noDeveloperImage, _) = missing {} else { Issue.record("\(String(describing: missing))") }
    if case .launchRefused(_, .notOnThisIOS, _) = gone {} else { Issue.record("\(String(describing: gone))") }
  }

  @Test(arguments: ["silent", "close", "refused", "empty", "garbage"])
  func `that does not come is an error by the deadline`(_ fault: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("mount")
    try bench.do("screen", ["fault": fault, "scale": "8"])
    let lane = try await bench.lane()
    let limit = Duration.seconds(fault == "silent" ? 3 : 60)
    let start = ContinuousClock.now

    let error = await #expect(throws: PhoneError.self) { try await lane.screen(by: .after(limit)) }

    #expect(ContinuousClock.now - start < limit + .seconds(10))
    switch (fault, error) {
    case ("silent", .silent), ("close", .lost), ("refused", .lockdown), ("empty", .badReply), ("garbage", .badReply):
      break
    default: Issue.record("\(fault): \(String(describing: error))")
    }
  }
}
