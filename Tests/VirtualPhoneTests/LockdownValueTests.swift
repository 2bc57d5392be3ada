import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `lockdown without a session` {
  @Test func `says what it is`() throws {
    let test = try TestFleet()

    let answer = try test.lockdown().ask("QueryType")

    #expect(answer == ["Request": "QueryType", "Type": "com.apple.mobile.lockdown"])
  }

  @Test func `shows the open values alone`() throws {
    let test = try TestFleet()

    let values = try #require(try test.lockdown().ask("GetValue")["Value"]?.dictionary)

    #expect(values["UniqueDeviceID"]?.string == test.first.udid.description)
    #expect(values["ProductVersion"] == "17.6")
    for key in ["PasswordProtected", "SerialNumber", "DevicePublicKey", "ActivationState"] {
      #expect(values[key] == nil)
    }
  }

  @Test(arguments: ["PasswordProtected", "SerialNumber", "ActivationState"])
  func `prohibits a private value`(key: String) throws {
    let test = try TestFleet()

    let answer = try test.lockdown().ask("GetValue", ["Key": .string(key)])

    #expect(answer == ["Request": "GetValue", "Key": .string(key), "Error": "GetProhibited"])
  }

  @Test func `gives the public key in the one form that libimobiledevice reads`() throws {
    let test = try TestFleet()

    let key = try #require(try test.lockdown().value("DevicePublicKey")?.bytes)

    #expect(key.starts(with: Array("-----BEGIN RSA PUBLIC KEY-----\n".utf8)))
  }

  @Test func `does nothing that needs one`() throws {
    let test = try TestFleet()
    let host = try test.lockdown()

    #expect(try host.error("StopSession", ["SessionID": "A"]) == "SessionInactive")
    #expect(try host.error("SetValue", ["Key": "DeviceName", "Value": "Mine"]) == "SetProhibited")
    #expect(try host.error("RemoveValue", ["Key": "TimeZone"]) == "SessionInactive")
    #expect(try host.error("StartService", ["Service": "com.apple.afc"]) == "SessionInactive")
    #expect(try host.error("EnterRecovery") == "SessionInactive")
    #expect(try host.error("GetValue", ["Domain": "com.apple.mobile.battery", "Key": "HasBattery"]) == "GetProhibited")
    #expect(test.first.state.with { $0.name } == "Phone 1")
  }

  @Test func `answers a request nobody knows, and one without a name, and goes on`() throws {
    let test = try TestFleet()
    let host = try test.lockdown()

    #expect(try host.ask("Dance") == ["Request": "Dance", "Error": "InvalidRequest"])
    #expect(try host.ask("") == ["Request": "", "Error": "InvalidRequest"])
    #expect(try host.ask("Goodbye")["Result"] == "Success")
    #expect(host.isEnded())
  }
}

@Suite struct `lockdown's values` {
  private static let minimal = [
    "BuildVersion", "DeviceClass", "DeviceName", "HardwareModel", "PasswordProtected", "ProductName", "ProductType",
    "ProductVersion", "ProtocolVersion", "SerialNumber", "UniqueChipID", "UniqueDeviceID", "WiFiAddress",
  ]

  @Test(arguments: PhonePreset.all.map(\.ios))
  func `are all there in a session, and say one thing about the phone`(ios: String) throws {
    let test = try TestFleet(ios: [ios])

    let values = try #require(try test.session().ask("GetValue")["Value"]?.dictionary)

    for key in Self.minimal { #expect(values[key] != nil, "\(key)") }
    let udid = try #require(values["UniqueDeviceID"]?.string)
    let ecid = try #require(values["UniqueChipID"]?.int)
    let preset = try #require(PhonePreset.named(ios))
    #expect(values["ChipID"]?.int == Int(preset.chipID))
    if preset.hasHyphenatedUDID {
      #expect(UInt64(udid.split(separator: "-")[1], radix: 16) == UInt64(ecid))
      #expect(UInt32(udid.split(separator: "-")[0], radix: 16) == preset.chipID)
    } else {
      #expect(udid.utf8.count == 40)
    }
  }

  @Test(arguments: [("15.8", nil), ("16.7", true), ("26.1", true)] as [(String, Bool?)])
  func `know developer mode from iOS 16 on`(ios: String, expected: Bool?) throws {
    let test = try TestFleet(ios: [ios])

    let answer = try test.session().ask(
      "GetValue", ["Domain": "com.apple.security.mac.amfi", "Key": "DeveloperModeStatus"])

    #expect(answer["Value"]?.boolean == expected)
    #expect(answer["Error"] == (expected == nil ? "MissingValue" : nil))
    #expect(answer["Domain"] == "com.apple.security.mac.amfi")
  }

  @Test(arguments: [
    "com.apple.mobile.battery", "com.apple.mobile.wireless_lockdown", "com.apple.disk_usage", "com.apple.international",
  ])
  func `stand in their domains`(domain: String) throws {
    let test = try TestFleet()

    let values = try test.session().ask("GetValue", ["Domain": .string(domain)])["Value"]?.dictionary

    #expect((values?.count ?? 0) >= 6)
  }

  @Test func `follow the battery`() throws {
    let test = try TestFleet()
    let host = try test.session()

    try test.fleet.perform("battery", on: "1", ["percent": "3", "charging": "no"])

    #expect(try host.value("BatteryCurrentCapacity", domain: "com.apple.mobile.battery") == 3)
    #expect(try host.value("BatteryIsCharging", domain: "com.apple.mobile.battery") == false)
  }

  @Test func `H20: tell the lock as it is now, as a number, or not at all`() throws {
    let test = try TestFleet()
    let host = try test.session()
    var seen: [Plist?] = []

    for (action, values) in [
      ("lock", [:]), ("unlock", [:]), ("set-value", ["PasswordProtected": "1", "type": "integer"]),
      ("set-value", ["PasswordProtected": "", "type": "absent"]), ("set-value", ["clear": "yes"]),
    ] {
      try test.fleet.perform(action, on: "1", values)
      seen.append(try host.value("PasswordProtected"))
    }

    #expect(seen == [true, false, 1, nil, false])
  }

  @Test func `H20: say unlocked for a phone without a passcode that sleeps`() throws {
    let test = try TestFleet()
    try test.fleet.perform("passcode", on: "1", ["set": "no"])

    try test.fleet.perform("lock", on: "1")

    #expect(try test.session().value("PasswordProtected") == false)
  }

  @Test func `H08: name a phone in any script, emptily, or not at all`() throws {
    let test = try TestFleet()
    let host = try test.session()
    let names = ["\u{30C6}\u{30B9}\u{30C8}", "\u{30C6}\u{30B9}\u{30C8}ab", ""]

    for name in names {
      try test.fleet.perform("name", on: "1", ["to": name])
      #expect(try host.value("DeviceName")?.string == name)
    }
    try test.fleet.perform("set-value", on: "1", ["DeviceName": "", "type": "absent"])

    #expect(try host.error("GetValue", ["Key": "DeviceName"]) == "MissingValue")
    #expect(try host.ask("GetValue")["Value"]?["DeviceName"] == nil)
  }

  @Test func `H09: keep a number reference of the XML letter for letter`() throws {
    let test = try TestFleet()
    let host = try test.session()
    let xml = "<string>Lab &#128664; &amp; &#x1F4F1;</string>"
    try test.fleet.perform("set-value", on: "1", ["DeviceName": xml, "type": "xml"])

    try host.send("GetValue", ["Key": "DeviceName"])
    let one = String(decoding: try host.receiveBytes(), as: UTF8.self)
    let all = try host.ask("GetValue")["Value"]?["DeviceName"]?.string

    #expect(one.contains(xml))
    #expect(all == "Lab \u{1F698} & \u{1F4F1}")
  }

  @Test func `take another name and time zone, and nothing that is the phone's own`() throws {
    let test = try TestFleet()
    let host = try test.session()

    #expect(try host.ask("SetValue", ["Key": "DeviceName", "Value": "Hall"])["Value"] == "Hall")
    #expect(try host.ask("SetValue", ["Key": "TimeZone", "Value": "Asia/Tokyo"])["Value"] == "Asia/Tokyo")
    #expect(try host.error("SetValue", ["Key": "SerialNumber", "Value": "X"]) == "ImmutableValue")
    #expect(try host.error("SetValue", ["Key": "NoSuchKey", "Value": "X"]) == "SetProhibited")
    #expect(try host.error("SetValue", ["Key": "DeviceName", "Value": 5]) == "SetProhibited")
    #expect(try host.error("RemoveValue", ["Key": "SerialNumber"]) == "RemoveProhibited")

    #expect(try host.value("DeviceName") == "Hall")
    #expect(try host.value("TimeZone") == "Asia/Tokyo")
    #expect(try host.ask("RemoveValue", ["Key": "TimeZone"])["Error"] == nil)
    #expect(try host.value("TimeZone") == "Europe/Berlin")
  }

  @Test func `H05: fail on the one phone that is told to, for as often as told`() throws {
    let test = try TestFleet(phones: 2)
    try test.fleet.perform(
      "lockdown-error", on: "2", ["error": "InvalidHostID", "request": "GetValue", "count": "2"])
    let sick = try test.lockdown(test.fleet.phones[1])

    #expect(try test.lockdown().value("DeviceName") == "Phone 1")
    #expect(try sick.error("GetValue", ["Key": "DeviceName"]) == "InvalidHostID")
    #expect(try sick.error("GetValue", ["Key": "DeviceName"]) == "InvalidHostID")
    #expect(try sick.value("DeviceName") == "Phone 2")
  }
}
