import DeviceBridge
import Fleet
import Testing
import Wire

@Suite struct `how a body is now` {
  @Test func `has every key, and null where nothing is known`() {
    let json = BodyPresent(body: nil, udid: UDID("00008101-000A1B2C3D4E001E"), awaited: "the next look").json

    #expect(
      json.line
        == #"{"awaited":"the next look","body":null,"detail":null,"device_name":null,"flaps":0,"held_by":null,"#
        + #""last_answer":null,"launches":0,"lock":"unknown","next_launch":null,"out_of_service":null,"outcome":null,"#
        + #""paused_until":null,"reason":null,"revivals":0,"silent_s":null,"since":null,"#
        + #""udid":"00008101-000A1B2C3D4E001E","usb_port":null}"#)
  }

  @Test func `shows a device name of 4 KiB with control characters as one short line`() throws {
    var present = BodyPresent(body: "hall", udid: UDID("x"), awaited: "nothing")
    present.deviceName = String(repeating: "\u{1B}[31m\n\u{202E}a", count: 512)

    let name = try #require(present.json["device_name"]?.string)

    #expect(name.unicodeScalars.count <= 300)
    #expect(name.unicodeScalars.allSatisfy { !$0.steers })
  }

  @Test func `never has been silent for zero seconds`() {
    var present = BodyPresent(body: "hall", udid: UDID("x"), awaited: "nothing")
    present.silent = .microseconds(3)

    #expect(present.json["silent_s"] == .number(0.001))
  }

  @Test(arguments: [
    (OutcomeWords(.up), true), (OutcomeWords(.revived), true), (OutcomeWords(.revived, .crashLooping), false),
    (OutcomeWords(.locked, .passcode), false),
  ])
  func `is well when it is up or revived, and not when it loops`(_ words: OutcomeWords, _ isWell: Bool) {
    var present = BodyPresent(body: "hall", udid: UDID("x"), awaited: "nothing")
    present.words = words

    #expect(present.isWell == isWell)
  }
}
