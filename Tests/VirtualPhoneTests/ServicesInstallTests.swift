import CZlib
import Testing
import Transport
import Wire

@testable import VirtualPhone

/// Makes zip files of the few entries that a test needs.
enum TestZip {
  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
  }

  /// Deflate without a header, by zlib's own one-call form.
  private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var packed = [UInt8](repeating: 0, count: bytes.count + 100)
    var count = UInt(packed.count)
    _ = compress(&packed, &count, bytes, UInt(bytes.count))
    // Two bytes of zlib's header, four of its checksum.
    return Array(packed[2..<(Int(count) - 4)])
  }

  static func archive(_ files: [(name: String, bytes: [UInt8])], packs: Bool, comment: String = "") -> [UInt8] {
    var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
    for file in files {
      let packed = packs ? deflated(file.bytes) : file.bytes
      let common =
        little(20, 2) + little(0, 2) + little(packs ? 8 : 0, 2) + little(0, 4)
        + little(Int(Zlib.checksum(file.bytes)), 4) + little(packed.count, 4) + little(file.bytes.count, 4)
        + little(file.name.utf8.count, 2) + little(0, 2)
      directory += little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2)
      directory += little(0, 4) + little(bytes.count, 4) + Array(file.name.utf8)
      bytes += little(0x0403_4B50, 4) + common + Array(file.name.utf8) + packed
    }
    let end =
      little(0x0605_4B50, 4) + little(0, 4) + little(files.count, 2) + little(files.count, 2)
      + little(directory.count, 4) + little(bytes.count, 4) + little(comment.utf8.count, 2) + Array(comment.utf8)
    return bytes + directory + end
  }

  static func info(_ changes: [String: Plist?] = [:]) -> Plist {
    var info: [String: Plist] = [
      "CFBundleExecutable": "Kiosk", "CFBundleIdentifier": "com.example.kiosk", "CFBundleName": "Kiosk",
      "CFBundleShortVersionString": "3.3.0", "CFBundleVersion": "500", "MinimumOSVersion": "15.0",
      "NSCameraUsageDescription": "Nothing is kept on the device.",
    ]
    for (key, value) in changes { info[key] = value }
    return .dictionary(info)
  }

  static func package(_ info: Plist, packs: Bool = true, comment: String = "") -> [UInt8] {
    archive(
      [
        ("Payload/", []), ("Payload/Kiosk.app/Kiosk", [UInt8](repeating: 1, count: 5000)),
        ("Payload/Kiosk.app/Frameworks/X.framework/Info.plist", Array("not this one".utf8)),
        ("Payload/Kiosk.app/Info.plist", info.binary),
      ].map { (name: $0.0, bytes: $0.1) }, packs: packs, comment: comment)
  }
}

@Suite struct `an installation from the host` {
  private static let path = "PublicStaging/com.example.kiosk"

  private func upload(_ phone: TestPhone, _ bytes: [UInt8], to path: String = path) throws {
    try AFCClient(phone).put("/\(path)", bytes)
  }

  /// Every message up to the last.
  private func install(_ phone: TestPhone, _ path: String = path, command: String = "Install") throws -> [Plist] {
    let host = try phone.service("com.apple.mobile.installation_proxy")
    try host.send(["Command": .string(command), "PackagePath": .string(path), "ClientOptions": [:]])
    var messages: [Plist] = []
    while let message = try host.receive() {
      messages.append(message)
      if message["Status"] == "Complete" || message["Error"] != nil { break }
    }
    return messages
  }

  @Test(arguments: [(true, "Install", ""), (false, "Upgrade", "a comment at the end")])
  func `puts the package's build in place of the old one, and tells everybody`(
    packs: Bool, command: String, comment: String
  ) throws {
    let phone = try TestPhone()
    let proxy = try phone.service("com.apple.mobile.notification_proxy")
    try proxy.send(["Command": "ObserveNotification", "Name": "com.apple.mobile.application_installed"])
    #expect(holds { phone.phone.notifications.observerCount == 1 })
    try upload(phone, TestZip.package(TestZip.info(), packs: packs, comment: comment))

    let messages = try install(phone, command: command)

    #expect(messages.last == ["Status": "Complete"])
    let percents = messages.dropLast().compactMap { $0["PercentComplete"]?.int }
    #expect(percents.count == messages.count - 1)
    #expect(percents == percents.sorted())
    let app = try #require(phone.app.installed("com.example.kiosk"))
    #expect((app.version, app.build) == ("3.3.0", "500"))
    #expect(app.attributes["NSCameraUsageDescription"] == "Nothing is kept on the device.")
    #expect(app.path.hasSuffix("/Kiosk.app"))
    #expect(phone.app.processes.isEmpty)
    #expect(phone.events("app-installed").first?.details["build"] == "500")
    #expect(try proxy.receive()?["Name"] == "com.apple.mobile.application_installed")
    try phone.perform("launch-app")
    #expect(try phone.ask("GET /hello").json?["version"] == "3.3.0")
  }

  @Test func `takes an app that was not there, and its removal`() throws {
    let phone = try TestPhone()
    let other = TestZip.info(["CFBundleIdentifier": "com.example.other", "CFBundleExecutable": "Other"])
    try upload(phone, TestZip.package(other))

    #expect(try install(phone).last == ["Status": "Complete"])
    #expect(phone.app.installed("com.example.other")?.executable == "Other")
    #expect(phone.app.processes.count == 1)
    #expect(try AFCClient(phone, container: "com.example.other").names("/")?.contains("Documents") == true)
    let host = try phone.service("com.apple.mobile.installation_proxy")
    try host.send(["Command": "Uninstall", "ApplicationIdentifier": "com.example.other"])
    #expect(try host.receive()?["PercentComplete"] == 50)
    #expect(try host.receive() == ["Status": "Complete"])

    #expect(phone.app.installed("com.example.other") == nil)
    #expect(phone.app.container("com.example.other") == nil)
  }

  @Test func `takes the folder of an app as well`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone)
    #expect(try host.status(9, AFCClient.text("/PublicStaging/Kiosk.app")) == 0)
    try host.put("/PublicStaging/Kiosk.app/Info.plist", TestZip.info().xml)

    #expect(try install(phone, "PublicStaging/Kiosk.app").last == ["Status": "Complete"])
    #expect(phone.app.installed("com.example.kiosk")?.build == "500")
  }

  private static let refusals: [(label: String, bytes: [UInt8], error: String)] = [
    ("no zip", Array("hello".utf8), "PackageExtractionFailed"), ("nothing", [], "PackageExtractionFailed"),
    ("no app", TestZip.archive([("a", [1])], packs: false), "PackageInspectionFailed"),
    (
      "no property list", TestZip.archive([("Payload/A.app/Info.plist", [1, 2, 3])], packs: true),
      "PackageInspectionFailed"
    ),
    ("no bundle", TestZip.package(TestZip.info(["CFBundleIdentifier": nil])), "MissingAttributeValue"),
    ("too new", TestZip.package(TestZip.info(["MinimumOSVersion": "16.7.1"])), "DeviceOSVersionTooLow"),
    (
      "a system app", TestZip.package(TestZip.info(["CFBundleIdentifier": "com.apple.Maps"])),
      "ApplicationVerificationFailed"
    ),
  ]

  @Test(arguments: refusals)
  func `refuses what is wrong with a package, and keeps the old build`(
    label: String, bytes: [UInt8], error: String
  ) throws {
    let phone = try TestPhone()
    try upload(phone, bytes)

    let messages = try install(phone)

    #expect(messages.last?["Error"] == .string(error), "\(label)")
    #expect(messages.last?["ErrorDescription"]?.string?.isEmpty == false)
    #expect(phone.app.installed("com.example.kiosk")?.build == "412")
    #expect(phone.events("install-refused").first?.details["error"] == .string(error))
    #expect(phone.app.processes.count == 1)
  }

  @Test func `takes the exact version that is there`() throws {
    let phone = try TestPhone()
    try upload(phone, TestZip.package(TestZip.info(["MinimumOSVersion": "16.7.0"])))

    #expect(try install(phone).last == ["Status": "Complete"])
  }

  @Test func `is refused in the phone's own words, hangs or breaks off when told to`() throws {
    let phone = try TestPhone()
    try upload(phone, TestZip.package(TestZip.info()))
    try phone.perform("install-fault", ["error": "DeviceOSVersionTooLow", "text": "Too old"])
    let refused = try install(phone).last
    try phone.perform("install-fault", ["kind": "lost"])
    let lost = try install(phone)
    try phone.perform("install-fault", ["kind": "hang"])
    let host = try phone.service("com.apple.mobile.installation_proxy")
    try host.send(["Command": "Install", "PackagePath": .string(Self.path)])
    for _ in 0..<6 { #expect(try host.receive()?["PercentComplete"] != nil) }
    #expect(throws: StreamError.timedOut) { try host.socket.read(max: 1, by: .after(.milliseconds(100))) }
    try phone.perform("install-fault", ["kind": "none"])

    #expect(refused?["Error"] == "DeviceOSVersionTooLow")
    #expect(refused?["ErrorDescription"] == "Too old")
    #expect(lost.count == 6)
    #expect(try install(phone).last == ["Status": "Complete"])
  }

  @Test func `reads no entry of a damaged archive, and survives any bytes`() throws {
    let whole = TestZip.package(TestZip.info())
    for index in 0..<whole.count {
      var bytes = whole
      bytes[index] ^= UInt8.random(in: 1...255)
      guard let archive = ZipArchive(bytes) else { continue }
      for entry in archive.entries where entry.name == "Payload/Kiosk.app/Info.plist" {
        // The checksum stands over the contents, so what is read is what was packed.
        let read = archive.contents(of: entry)
        #expect(read == nil || read == TestZip.info().binary)
      }
    }
    for count in stride(from: 0, to: whole.count, by: 7) {
      _ = ZipArchive(Array(whole.prefix(count)))
      _ = ZipArchive((0..<count).map { _ in .random(in: 0...255) })
    }
  }

  @Test func `unpacks no more than it may`() throws {
    let bomb = TestZip.archive(
      [(name: "Payload/A.app/Info.plist", bytes: [UInt8](repeating: 0, count: 3 << 20))], packs: true)
    let archive = try #require(ZipArchive(bomb))

    #expect(archive.contents(of: archive.entries[0]) == nil)
    #expect(Zlib.inflated(Array(bomb[54..<(54 + archive.entries[0].packedSize)]), limit: 1000) == nil)
  }
}
