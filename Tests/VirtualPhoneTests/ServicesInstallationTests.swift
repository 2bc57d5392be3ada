import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `installation_proxy` {
  private func proxy(_ phone: TestPhone) throws -> ServiceClient {
    try phone.service("com.apple.mobile.installation_proxy")
  }

  @Test func `looks up the facts of the apps that are asked for, and leaves unknown ones out`() throws {
    let phone = try TestPhone()

    let answer = try proxy(phone).ask([
      "Command": "Lookup",
      "ClientOptions": [
        "BundleIDs": ["com.example.kiosk", "com.apple.Preferences", "com.nobody"],
        "ReturnAttributes": [
          "CFBundleIdentifier", "CFBundleExecutable", "Path", "NSCameraUsageDescription", "NoSuchKey",
        ],
      ],
    ])

    #expect(answer?["Status"] == "Complete")
    let found = try #require(answer?["LookupResult"]?.dictionary)
    #expect(found.keys.sorted() == ["com.apple.Preferences", "com.example.kiosk"])
    #expect(found["com.apple.Preferences"]?["Path"] == "/Applications/Preferences.app")
    #expect(
      found["com.example.kiosk"]?.dictionary?.keys.sorted() == [
        "CFBundleExecutable", "CFBundleIdentifier", "NSCameraUsageDescription", "Path",
      ])
  }

  @Test func `gives everything where no attributes are named, but the sizes only to those who ask`() throws {
    let phone = try TestPhone()
    let proxy = try proxy(phone)
    func kiosk(_ options: Plist) throws -> Plist? {
      try proxy.ask(["Command": "Lookup", "ClientOptions": options])?["LookupResult"]?["com.example.kiosk"]
    }

    let all = try kiosk([:])
    let sizes = try kiosk(["ReturnAttributes": ["StaticDiskUsage"]])

    #expect(all?["CFBundleShortVersionString"] == "3.2.0")
    #expect(all?["Container"]?.string?.hasPrefix("/private/var/mobile/Containers/Data/Application/") == true)
    #expect(all?["StaticDiskUsage"] == nil)
    #expect(sizes?["StaticDiskUsage"]?.int ?? 0 > 0)
  }

  @Test(arguments: [("User", 1), ("System", 8), ("Any", 9), ("Internal", 0)])
  func `browses the apps of a kind in batches that add up`(type: String, count: Int) throws {
    let phone = try TestPhone()
    let proxy = try proxy(phone)
    try proxy.send(["Command": "Browse", "ClientOptions": ["ApplicationType": .string(type)]])

    var found: [String] = []
    while let message = try proxy.receive(), message["Status"] == "BrowsingApplications" {
      #expect(message["CurrentIndex"]?.int == found.count)
      #expect(message["Total"]?.int == count)
      let list = message["CurrentList"]?.array ?? []
      #expect(message["CurrentAmount"]?.int == list.count)
      found += list.compactMap { $0["CFBundleIdentifier"]?.string }
    }

    #expect(found.count == count)
    #expect(Set(found).count == count)
  }

  @Test func `knows nothing of an app that was removed`() throws {
    let phone = try TestPhone()
    let proxy = try proxy(phone)
    try proxy.send(["Command": "Uninstall", "ApplicationIdentifier": "com.example.kiosk"])
    #expect(try proxy.receive()?["PercentComplete"] == 50)
    #expect(try proxy.receive() == ["Status": "Complete"])

    let answer = try proxy.ask(["Command": "Lookup", "ClientOptions": ["BundleIDs": ["com.example.kiosk"]]])

    #expect(answer?["LookupResult"] == [:])
  }

  @Test(
    arguments: [
      (["Command": "Fly"], "APIInternalError"), ([:], "APIInternalError"),
      (["Command": "Uninstall", "ApplicationIdentifier": "com.apple.Preferences"], "UninstallProhibited"),
      (["Command": "Uninstall"], "MissingAttributeValue"),
    ] as [(Plist, String)])
  func `refuses with an error that it names`(request: Plist, error: String) throws {
    let phone = try TestPhone()

    let answer = try proxy(phone).ask(request)

    #expect(answer?["Error"] == .string(error))
    #expect(answer?["ErrorDescription"]?.string?.isEmpty == false)
  }
}
