import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `fleetctl devices` {
  static func objects(_ done: Fleetctl.Done) -> [JSON] {
    done.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
  }

  @Test func `H04: prints one phone a line, and one object a line as JSON`() async throws {
    let phones = try TestPhones(4, ios: ["16.7", "17.6", "15.8", "18.5"])

    let table = await phones.run("devices")
    let json = await phones.run("devices", "--json")

    #expect(table.code == 0 && table.output.err.isEmpty, "\(table.output.err)")
    #expect(table.output.lines.count == 4)
    #expect(table.output.out.hasSuffix("\n") && !table.output.out.contains("\u{1B}"))
    for number in 1...4 { #expect(table.output.lines[number - 1].contains(phones.udid(number))) }
    #expect(json.output.lines.count == 4 && json.output.out.hasSuffix("\n"))
    #expect(Set(Self.objects(json).compactMap { $0["udid"]?.string }) == Set((1...4).map(phones.udid)))
  }

  @Test func `says what each phone is like`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("kill-app", on: "2")
    try phones.fleet.perform("battery", on: "1", ["percent": "80", "temperature": "31.5"])

    let objects = Self.objects(await phones.run("devices", "--json"))

    try #require(objects.count == 2)
    #expect(objects[0]["battery_percent"] == 80 && objects[0]["temperature_c"]?.double == 31.5)
    #expect(objects[0]["lock"] == "locked" && objects[1]["lock"] == "unlocked")
    #expect(objects[1]["app"] == "not-running" && objects[1]["door"] == "silent")
    #expect(objects[1]["hello_ms"] == .null)
    for object in objects {
      #expect(object["trust"] == "trusted" && object["transport"] == "usb" && object["ios"] == "16.7")
      #expect(object["model"] == "iPhone12,1" && object["body"] == .null && object["error"] == .null)
      // The kernel sees no virtual phone.
      #expect(object["usb_port"] == .null)
      #expect(object["battery_percent"]?.int != nil && object["temperature_c"]?.double != nil)
    }
  }

  @Test func `says where the app is`() async throws {
    let phones = try TestPhones(5, ios: ["16.7"])
    try phones.fleet.perform("background", on: "2")
    try phones.fleet.perform("suspend", on: "3")
    try phones.fleet.perform("uninstall-app", on: "4")
    try phones.fleet.perform("kill-app", on: "5")

    let objects = Self.objects(await phones.run("devices", "--json"))

    #expect(objects.map { $0["app"] } == ["front", "running", "running", "not-installed", "not-running"])
    #expect(objects.map { $0["door"] } == ["answers", "answers", "silent", "silent", "silent"])
    #expect(objects[0]["hello_ms"]?.double != nil)
  }

  @Test func `without an app's name still asks the usual port`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("kill-app", on: "2")

    let done = await Fleetctl.run(
      ["devices", "--json"], environment: ["USBMUXD_SOCKET_ADDRESS": phones.fleet.address.description])

    let objects = Self.objects(done)
    #expect(objects.map { $0["app"] } == ["front", "unknown"])
    #expect(objects.map { $0["door"] } == ["answers", "silent"])
  }

  @Test func `H05: keeps a sick phone's line, complains of it by name, and still succeeds`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    try phones.fleet.perform("lockdown-error", on: "2", ["error": "InvalidHostID", "request": "all"])

    let table = await phones.run("devices")
    let objects = Self.objects(await phones.run("devices", "--json"))

    #expect(table.code == 0)
    #expect(table.output.lines.count == 3)
    #expect(table.output.err.contains(phones.udid(2)))
    #expect(!table.output.err.contains(phones.udid(1)) && !table.output.err.contains(phones.udid(3)))
    #expect(objects.map { $0["trust"] } == ["trusted", "stale", "trusted"])
    #expect(objects[1]["device_name"] == .null && objects[1]["model"] == .null && objects[1]["error"]?.string != nil)
    #expect(objects[0]["error"] == .null && objects[0]["device_name"] != .null)
  }

  @Test func `does not wait for a hung phone beyond that phone's own time`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    try phones.fleet.perform("lockdown-fault", on: "2", ["kind": "hang", "request": "all"])

    let start = ContinuousClock.now
    let objects = Self.objects(await phones.run("devices", "--json"))

    #expect(ContinuousClock.now - start < .seconds(9))
    #expect(objects.map { $0["trust"] } == ["trusted", "unknown", "trusted"])
    #expect(objects[1]["door"] == "answers")
  }

  @Test func `H08: shows names of other scripts as they are, and a stand-in for none`() async throws {
    let phones = try TestPhones(4, ios: ["16.7"])
    let script = "\u{30C6}\u{30B9}\u{30C8}"
    try phones.fleet.perform("name", on: "1", ["to": script])
    try phones.fleet.perform("name", on: "2", ["to": script + "ab"])
    try phones.fleet.perform("set-value", on: "3", ["DeviceName": ""])
    try phones.fleet.perform("set-value", on: "4", ["DeviceName": "", "type": "absent"])

    let table = await phones.run("devices")
    let objects = Self.objects(await phones.run("devices", "--json"))

    #expect(table.code == 0)
    try #require(table.output.lines.count == 4)
    #expect(table.output.lines[0].contains("  \(script)  "))
    #expect(table.output.lines[1].contains("  \(script)ab  "))
    for number in [3, 4] {
      #expect(table.output.lines[number - 1].contains("iPhone \u{2026}\(phones.udid(number).suffix(6))"))
    }
    #expect(objects.map { $0["device_name"] } == [.string(script), .string(script + "ab"), "", .null])
    // Columns stay aligned: whatever precedes the model takes as many columns in each line.
    let widths = table.output.lines.map { line in
      DisplayWidth.of(line.components(before: "iPhone12,1"))
    }
    #expect(Set(widths).count == 1, "\(table.output.out)")
  }

  @Test func `H09: shows emoji byte for byte`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("name", on: "1", ["to": "Lab \u{1F698} & \u{1F4F1}"])

    let table = await phones.run("devices")
    let objects = Self.objects(await phones.run("devices", "--json"))

    let bytes: [UInt8] = Array("Lab ".utf8) + [0xF0, 0x9F, 0x9A, 0x98] + Array(" & ".utf8) + [0xF0, 0x9F, 0x93, 0xB1]
    #expect(objects.first?["device_name"]?.string.map { Array($0.utf8) } == bytes)
    #expect(table.output.out.contains(String(decoding: bytes, as: UTF8.self)))
  }

  @Test func `is not steered by a phone's name`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("name", on: "1", ["to": "a\u{1B}[2J\nb"])

    let table = await phones.run("devices", "--color", "never")

    #expect(table.output.lines.count == 1)
    #expect(!table.output.out.contains("\u{1B}"))
  }

  @Test func `of no phone is no line and exit code 0`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("detach", on: "1")

    let done = await phones.run("devices")

    #expect(done.code == 0 && done.output.out.isEmpty)
    #expect(done.output.err == "No phone is attached.\n")
  }

  @Test func `waits for a phone to be attached`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("detach", on: "1")
    let child = Fleetctl.start(["devices", "--wait", "20s"], environment: phones.environment)
    await phones.asked("ListDevices", times: 2)

    try phones.fleet.perform("attach", on: "1")

    #expect(await child.ending() == .exited(0))
    #expect(child.output.lines.count == 1)
  }

  @Test func `names the bodies of fleet.yaml, and those that are not there`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      bodies:
        - {udid: \(phones.udid(1)), name: hall}
        - {udid: 00008101-000A1B2C3D4E001E, name: stairs}

      """, to: "bodies.yaml")

    let done = await phones.run("devices", "--json", "--config", file)
    let objects = Self.objects(done)

    #expect(objects.map { $0["body"] } == ["hall"])
    #expect(done.code == 0)
    #expect(done.output.err.contains("stairs (00008101-000A1B2C3D4E001E) is not attached."))
  }

  @Test func `H33: fails when what it found cannot be written`() async throws {
    let phones = try TestPhones(1)

    for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
      let done = await phones.run("devices", stdout: stdout)

      #expect(done.ending == .exited(3))
    }
  }
}

extension String {
  /// What stands before a part; all of it where the part is missing.
  fileprivate func components(before part: String) -> String {
    split(separator: part, maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? self
  }
}
