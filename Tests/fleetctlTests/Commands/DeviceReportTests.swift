import DeviceBridge
import Testing
import Wire

@testable import fleetctl

@Suite struct `a phone's line` {
  static let listed = ListedPhone(
    udid: UDID("00008110-000A1B2C3D4E5F60"), serial: "00008110000A1B2C3D4E5F60", deviceID: 4, transport: .usb,
    alsoNetwork: false)

  static func report(name: String?, body: String? = nil, error: PhoneError? = nil) -> DeviceReport {
    var facts = PhoneFacts()
    facts.deviceName = name
    facts.error = error
    return DeviceReport(body: body, phone: listed, facts: facts)
  }

  @Test func `H08: shows a name in another script, and a stand-in for none`() {
    #expect(Self.report(name: "\u{30C6}\u{30B9}\u{30C8}").name == "\u{30C6}\u{30B9}\u{30C8}")
    #expect(Self.report(name: "\u{30C6}\u{30B9}\u{30C8}ab").name == "\u{30C6}\u{30B9}\u{30C8}ab")
    #expect(Self.report(name: "").name == "iPhone \u{2026}4E5F60")
    #expect(Self.report(name: nil).name == "iPhone \u{2026}4E5F60")
    #expect(Self.report(name: "Lab", body: "hall").name == "hall")
  }

  @Test func `H05: of a sick phone has no name that could look fresh`() {
    let report = Self.report(name: nil, error: .untrusted(Self.listed.udid, .stale))

    #expect(report.name == nil)
    #expect(report.cells.count == DeviceReport.columns.count)
  }

  @Test func `as JSON has exactly the keys that are promised, absent values null`() {
    let json = Self.report(name: nil).json

    #expect(
      Set(json.object.map { Array($0.keys) } ?? []) == [
        "body", "udid", "device_name", "model", "ios", "transport", "usb_port", "battery_percent", "temperature_c",
        "trust", "lock", "app", "door", "hello_ms", "error",
      ])
    for key in [
      "body", "device_name", "model", "ios", "usb_port", "battery_percent", "temperature_c", "hello_ms", "error",
    ] {
      #expect(json[key] == .null, "\(key)")
    }
    #expect(json["app"] == "unknown" && json["door"] == "unknown" && json["lock"] == "unknown")
    #expect(json["transport"] == "usb")
  }

  @Test func `says where the app is by what its door answered`() {
    func after(_ ending: DoorAnswer.Ending) -> DeviceReport {
      var report = Self.report(name: "x")
      report.take(DoorAnswer(ending: ending, took: .microseconds(12_345)))
      return report
    }
    func answer(_ status: Int, _ text: String) -> DoorAnswer.Ending {
      .response(`a door's answer`.message(status, "application/json", Array(text.utf8)))
    }

    #expect(after(answer(200, #"{"ok":true,"active":true}"#)).app == .front)
    #expect(after(answer(200, #"{"ok":true,"active":false}"#)).app == .running)
    #expect(after(answer(200, #"{"active":"true"}"#)).app == .running)
    #expect(after(answer(500, #"{"active":true}"#)).app == .running)
    #expect(after(answer(200, "hello")).door == .answers)
    #expect(after(answer(200, "hello")).json["hello_ms"] == 12.3)
    #expect(after(.refused).door == .silent)
    #expect(after(.silent(received: 0, detail: "")).door == .silent)
    #expect(after(.badReply(detail: "")).door == .silent)
    #expect(after(.unreachable(.absent(Self.listed.udid))).door == .unknown)
    #expect(after(.refused).app == .unknown)
    #expect(after(.refused).json["hello_ms"] == .null)
  }
}

@Suite struct `a span of time` {
  @Test func `is told in words and as numbers without a tail`() {
    #expect(Duration.milliseconds(12).shown == "12 ms")
    #expect(Duration.microseconds(400).shown == "0 ms")
    #expect(Duration.milliseconds(999).shown == "999 ms")
    #expect(Duration.milliseconds(1_240).shown == "1.24 s")
    #expect(Duration.seconds(10).shown == "10 s")
    #expect(Duration.microseconds(12_345).milliseconds == 12.3)
    #expect(Duration.microseconds(1_234_567).roundedSeconds == 1.235)
  }
}
