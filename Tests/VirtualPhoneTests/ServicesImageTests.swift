import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `mobile_image_mounter` {
  private func mounter(_ phone: TestPhone) throws -> ServiceClient {
    try phone.service("com.apple.mobile.mobile_image_mounter")
  }

  /// The whole way of a host that mounts: upload, then mount; gives the last answer.
  private func mount(
    _ mounter: ServiceClient, type: String = "Developer", bytes: Int = 300_000, says head: String = "",
    signature: [UInt8] = [1, 2, 3]
  ) throws -> Plist? {
    let received = try mounter.ask([
      "Command": "ReceiveBytes", "ImageType": .string(type), "ImageSize": .integer(Int64(bytes)),
      "ImageSignature": .data([1, 2, 3]),
    ])
    guard received?["Status"] == "ReceiveBytesAck" else { return received }
    let image = Array(head.utf8) + [UInt8](repeating: 7, count: bytes - head.utf8.count)
    try mounter.socket.write(image, by: .after(.seconds(10)))
    #expect(try mounter.receive() == ["Status": "Complete"])
    return try mounter.ask([
      "Command": "MountImage", "ImageType": .string(type), "ImageSignature": .data(signature),
      "ImagePath": "/private/var/mobile/Media/PublicStaging/staging.dimage",
    ])
  }

  @Test(arguments: [("15.8", true), ("16.7", true), ("17.0", false), ("17.6", true), ("26.1", true)])
  func `starts with an image where launches need one`(ios: String, mounted: Bool) throws {
    let phone = try TestPhone(ios: ios)
    let mounter = try mounter(phone)

    let answer = try mounter.ask(["Command": "LookupImage", "ImageType": .string(phone.phone.imageType)])

    #expect(answer?["Status"] == "Complete")
    #expect((answer?["ImageSignature"]?.array?.count == 1) == mounted)
  }

  @Test func `mounts an image that was sent whole, and says so to everybody`() throws {
    let phone = try TestPhone()
    try phone.perform("unmount")
    let proxy = try phone.service("com.apple.mobile.notification_proxy")
    try proxy.send(["Command": "ObserveNotification", "Name": "com.apple.mobile.developer_image_mounted"])
    #expect(holds { phone.phone.notifications.observerCount == 1 })
    let mounter = try mounter(phone)
    #expect(try mounter.ask(["Command": "CopyDevices"])?["EntryList"] == [])

    let answer = try mount(mounter)

    #expect(answer == ["Status": "Complete"])
    #expect(phone.phone.state.with { $0.developerImageMounted })
    #expect(try mounter.ask(["Command": "CopyDevices"])?["EntryList"]?.array?.first?["MountPath"] == "/Developer")
    #expect(phone.events("image-received").first?.details["bytes"] == 300_000)
  }

  @Test func `does nothing on a locked phone`() throws {
    let phone = try TestPhone()
    try phone.perform("unmount")
    try phone.perform("lock")
    let mounter = try mounter(phone)

    let mounting = try mounter.ask(["Command": "MountImage", "ImageType": "Developer", "ImageSignature": .data([1])])
    let receiving = try mount(mounter)

    #expect(mounting?["Error"] == "DeviceLocked")
    #expect(receiving?["Error"] == "DeviceLocked")
    #expect(phone.phone.state.with { !$0.developerImageMounted })
  }

  @Test func `says that developer mode is off`() throws {
    let phone = try TestPhone()
    try phone.perform("unmount")
    try phone.perform("developer-mode", ["on": "no"])
    let mounter = try mounter(phone)

    let status = try mounter.ask(["Command": "QueryDeveloperModeStatus"])
    let answer = try mount(mounter)

    #expect(status == ["DeveloperModeStatus": false])
    #expect(answer?["Error"] == "ImageMountFailed")
    #expect(answer?["DetailedError"]?.string?.contains("Developer mode is not enabled") == true)
  }

  @Test func `knows no developer mode before 16, and mounts without it`() throws {
    let phone = try TestPhone(ios: "15.8")
    try phone.perform("unmount")
    try phone.perform("developer-mode", ["on": "no"])
    let mounter = try mounter(phone)

    #expect(try mounter.ask(["Command": "QueryDeveloperModeStatus"])?["Error"] == "UnknownCommand")
    #expect(try mount(mounter) == ["Status": "Complete"])
  }

  @Test func `refuses a second image, one never sent, and to unmount what is not there`() throws {
    let phone = try TestPhone()
    let mounter = try mounter(phone)
    func detail(_ answer: Plist?) -> String { answer?["DetailedError"]?.string ?? "" }

    #expect(detail(try mount(mounter)).contains("already mounted"))
    #expect(try mounter.ask(["Command": "UnmountImage", "MountPath": "/Developer"]) == ["Status": "Complete"])
    #expect(
      detail(try mounter.ask(["Command": "UnmountImage", "MountPath": "/Developer"])).contains("no matching entry"))
    let other = try self.mounter(phone)
    let unsent = try other.ask(["Command": "MountImage", "ImageType": "Developer", "ImageSignature": .data([1])])
    let unsigned = try other.ask(["Command": "MountImage", "ImageType": "Developer"])

    #expect(unsent?["Error"] == "ImageMountFailed")
    #expect(unsigned?["Error"] == "MissingImageSignature")
  }

  @Test(arguments: [-1, 0, 1 << 40])
  func `takes no image of an impossible size`(size: Int64) throws {
    let mounter = try mounter(try TestPhone())

    let answer = try mounter.ask([
      "Command": "ReceiveBytes", "ImageType": "Developer", "ImageSize": .integer(size), "ImageSignature": .data([1]),
    ])

    #expect(answer?["Error"] == "InternalError")
    #expect(mounter.ends())
  }

  @Test func `answers the questions of personalization from 17 on`() throws {
    let mounter = try mounter(try TestPhone(ios: "17.6"))

    #expect(try mounter.ask(["Command": "QueryNonce"])?["PersonalizationNonce"]?.bytes?.count == 32)
    let identifiers = try mounter.ask(["Command": "QueryPersonalizationIdentifiers"])?["PersonalizationIdentifiers"]
    #expect(identifiers?["ChipID"] == 0x8110)
    #expect(try mounter.ask(["Command": "Nonsense"])?["Error"] == "UnknownCommand")
    #expect(try mounter.ask(["Command": "Hangup"]) == ["Goodbye": true])
    #expect(mounter.ends())
  }

  @Test(arguments: [
    ("15.8", "15.8", true), ("15.8", "15.7", false), ("16.7", "16.7", true), ("16.7", "16.7.2", true),
    ("16.7", "16.4", true), ("16.7", "16.3", false), ("16.7", "15.8", false), ("16.7", "x", false),
  ])
  func `takes the image of its own version only`(ios: String, image: String, mounts: Bool) throws {
    let phone = try TestPhone(ios: ios)
    try phone.perform("unmount")

    let answer = try mount(try mounter(phone), says: "FLEETCTL-IMAGE \(image)\n")

    #expect((answer == ["Status": "Complete"]) == mounts)
    #expect((answer?["Error"] == "ImageMountFailed") == !mounts)
    #expect(phone.phone.state.with { $0.developerImageMounted } == mounts)
  }

  @Test func `takes no image under another one's signature, and shows the right one`() throws {
    let phone = try TestPhone()
    try phone.perform("unmount")
    let mounter = try mounter(phone)

    let wrong = try mount(mounter, signature: [9])
    let right = try mount(mounter)

    #expect(wrong?["Error"] == "ImageMountFailed")
    #expect(right == ["Status": "Complete"])
    let answer = try mounter.ask(["Command": "LookupImage", "ImageType": "Developer"])
    #expect(answer?["ImageSignature"] == [.data([1, 2, 3])])
  }

  @Test(
    arguments: [
      ("array", ["ImageSignature": [.data([UInt8](repeating: 0x5A, count: 128))], "Status": "Complete"]),
      ("single", ["ImageSignature": .data([UInt8](repeating: 0x5A, count: 128)), "Status": "Complete"]),
      ("unsigned", ["ImageSignature": [], "Status": "Complete"]),
      ("present", ["ImagePresent": true, "Status": "Complete"]),
    ] as [(String, Plist)])
  func `says in the phone's own way that an image is there`(lookup: String, answer: Plist) throws {
    let phone = try TestPhone()
    try phone.perform("mount-fault", ["lookup": lookup])
    let mounter = try mounter(phone)

    #expect(try mounter.ask(["Command": "LookupImage", "ImageType": "Developer"]) == answer)
    try phone.perform("unmount")
    let after = try mounter.ask(["Command": "LookupImage", "ImageType": "Developer"])
    #expect(after == (lookup == "present" ? ["ImagePresent": false, "Status": "Complete"] : ["Status": "Complete"]))
  }

  @Test(
    arguments: [
      ("failed", ["Error": "ImageMountFailed"]), ("empty", [:]), ("error", ["Error": "InternalError"]), ("close", nil),
    ] as [(String, Plist?)])
  func `H25: can take an image and then not mount it`(reply: String, answer: Plist?) throws {
    let phone = try TestPhone()
    try phone.perform("unmount")
    try phone.perform("mount-fault", ["reply": reply])
    let mounter = try mounter(phone)

    #expect(try mount(mounter) == answer)
    #expect(phone.phone.state.with { !$0.developerImageMounted })
    #expect(phone.events("image-received").count == 1)
    try phone.perform("mount-fault", ["reply": "none"])

    #expect(try mount(try self.mounter(phone)) == ["Status": "Complete"])
  }
}
