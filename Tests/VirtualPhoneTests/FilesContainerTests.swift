import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `house_arrest` {
  private static let kiosk = "com.example.kiosk"

  @Test func `shows the container of a development build`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, container: Self.kiosk)

    let names = try host.names("/")

    #expect(
      names == [
        ".", "..", ".com.apple.mobile_container_manager.metadata.plist", "Documents", "Library", "SystemData", "tmp",
      ])
    #expect(try host.names("/tmp") == [".", ".."])
    #expect(phone.events("container-requested").first?.details["bundle"] == "com.example.kiosk")
  }

  @Test(arguments: [
    ("VendContainer", "com.example.nobody", "ApplicationLookupFailed"),
    ("VendDocuments", kiosk, "InstallationLookupFailed"),
    ("VendContainer", "com.apple.Preferences", "InstallationLookupFailed"), ("Fly", kiosk, "UnknownCommand"),
  ])
  func `refuses what it does not show`(command: String, bundle: String, error: String) throws {
    let host = try TestPhone().service("com.apple.mobile.house_arrest")

    let answer = try host.ask(["Command": .string(command), "Identifier": .string(bundle)])

    #expect(answer == ["Error": .string(error)])
    #expect(host.ends())
  }

  @Test func `keeps a store's build closed`() throws {
    let phone = try TestPhone()
    try phone.perform("install-app", ["signing": "store"])
    let host = try phone.service("com.apple.mobile.house_arrest")

    let answer = try host.ask(["Command": "VendContainer", "Identifier": "com.example.kiosk"])

    #expect(answer == ["Error": "InstallationLookupFailed"])
  }

  @Test func `shows nothing but the documents where those are asked for`() throws {
    let phone = try TestPhone()
    try phone.perform("install-app", ["sharing": "yes"])
    let host = try AFCClient(phone, container: Self.kiosk, "VendDocuments")
    try host.put("/Documents/note", [1])

    #expect(try host.names("/") == [".", "..", "Documents"])
    #expect(try host.get("/Documents/note") == [1])
    for path in ["/tmp", "/Documents/../tmp", "/Library/Caches"] {
      #expect(try host.status(3, AFCClient.text(path)) == 10)
      #expect(try host.status(0x0D, AFCClient.little(UInt64(3)) + AFCClient.text("\(path)/a")) == 10)
    }
    #expect(try host.status(0x18, AFCClient.text("/Documents/note") + AFCClient.text("/tmp/note")) == 10)
  }

  @Test func `shows a clip's file while it is recorded, and its bytes nowhere`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, container: Self.kiosk)
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=3")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(3800)))

    let names = try #require(try host.names("/tmp"))
    phone.clock.advance(by: .milliseconds(3800))
    #expect(try door.response().status == 200)

    #expect(names.count == 3)
    #expect(names.last?.hasPrefix("clip-") == true && names.last?.hasSuffix(".mov") == true)
    #expect(try host.names("/tmp") == [".", ".."])
  }

  @Test func `shows the file that a stuck camera leaves, with its size`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, container: Self.kiosk)
    try phone.perform("break", ["what": "keeps-files"])
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=2")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(2800)))
    phone.clock.advance(by: .milliseconds(2800))
    #expect(try door.response().status == 200)

    let name = try #require(try host.names("/tmp")?.last)
    #expect(try host.facts("/tmp/\(name)")?["st_size"] == "3200000")
    #expect(try host.get("/tmp/\(name)")?.allSatisfy { $0 == 0 } == true)
    let container = try #require(phone.app.container(Self.kiosk))
    #expect(container.with { $0.used } < 1000)
  }

  @Test func `shows the file of a clip during which the app was killed`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, container: Self.kiosk)
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=3")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(3800)))

    try phone.perform("kill-app")
    _ = try door.rest()

    #expect(holds { (try? host.names("/tmp")?.count) == 3 })
  }

  @Test func `keeps the data over an upgrade, and not over a removal`() throws {
    let phone = try TestPhone()
    try AFCClient(phone, container: Self.kiosk).put("/Documents/a", [1])

    try phone.perform("install-app", ["build": "413"])
    #expect(try AFCClient(phone, container: Self.kiosk).get("/Documents/a") == [1])
    try phone.perform("uninstall-app")
    try phone.perform("install-app")

    #expect(try AFCClient(phone, container: Self.kiosk).get("/Documents/a") == nil)
  }
}
