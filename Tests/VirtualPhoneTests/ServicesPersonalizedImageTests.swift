import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A host that has its tickets signed and mounts with them.
struct PersonalizedHost {
  let phone: TestPhone
  var image = LabImage(bytes: 200_000)

  func mounter() throws -> ServiceClient { try phone.service("com.apple.mobile.mobile_image_mounter") }

  /// A signing request as hosts make them, answered by the desk.
  func ticket(_ manner: SigningServer.Manner = .signs, changed: [String: Plist] = [:]) throws -> [UInt8]? {
    let mounter = try mounter()
    let nonce = try #require(try mounter.ask(["Command": "QueryNonce"])?["PersonalizationNonce"])
    let identifiers = try #require(
      try mounter.ask(["Command": "QueryPersonalizationIdentifiers"])?["PersonalizationIdentifiers"])
    let manifest = try Plist(parsing: try #require(image.files["BuildManifest.plist"]))
    let chip = "0x" + String(phone.phone.preset.chipID, radix: 16, uppercase: true)
    let identity = manifest["BuildIdentities"]?.array?.first { $0["ApChipID"]?.string == chip }
    var request: [String: Plist] = [
      "@ApImg4Ticket": true, "ApECID": .integer(Int64(phone.phone.identity.ecid)),
      "ApBoardID": identifiers["BoardId"] ?? 0, "ApChipID": identifiers["ChipID"] ?? 0, "ApNonce": nonce,
      "ApProductionMode": true, "ApSecurityMode": true, "ApSecurityDomain": 1,
    ]
    for name in [ImageTicket.image, ImageTicket.trustCache] {
      var component = identity?["Manifest"]?[name]?.dictionary ?? [:]
      component["Info"] = nil
      component["EPRO"] = true
      component["ESEC"] = true
      request[name] = .dictionary(component)
    }
    request.merge(changed) { $1 }
    let server = try SigningServer()
    defer { server.stop() }
    server.manner = manner
    return try Self.sign(.dictionary(request), at: server.address)
  }

  /// - Returns: nil when the server gives no ticket.
  static func sign(_ request: Plist, at address: SocketAddress) throws -> [UInt8]? {
    let socket = try Socket.connect(to: address, by: .after(soon))
    let body = request.xml
    let head = "POST /TSS/controller?action=2 HTTP/1.1\r\nHost: sign\r\nContent-Length: \(body.count)\r\n\r\n"
    try socket.write(Array(head.utf8) + body, by: .after(soon))
    let parser = HTTPParser(.response, bodyLimit: 1 << 20)
    while !parser.isComplete { try parser.feed(try socket.read(max: 4096, by: .after(soon))) }
    let text = String(decoding: parser.message.body, as: UTF8.self)
    let start = text.firstRange(of: "REQUEST_STRING=")?.upperBound
    guard text.hasPrefix("STATUS=0&"), let start else { return nil }
    return try Plist(parsing: Array(text[start...].utf8))["ApImg4Ticket"]?.bytes
  }

  /// Upload and mount with that ticket; gives the last answer.
  func mount(_ ticket: [UInt8], trustCache: [UInt8]? = nil) throws -> Plist? {
    let mounter = try mounter()
    let bytes = try #require(image.files["Image.dmg"])
    let received = try mounter.ask([
      "Command": "ReceiveBytes", "ImageType": "Personalized", "ImageSize": .integer(Int64(bytes.count)),
      "ImageSignature": .data(ticket),
    ])
    guard received?["Status"] == "ReceiveBytesAck" else { return received }
    try mounter.socket.write(bytes, by: .after(soon))
    #expect(try mounter.receive() == ["Status": "Complete"])
    return try mounter.ask([
      "Command": "MountImage", "ImageType": "Personalized", "ImageSignature": .data(ticket),
      "ImageTrustCache": .data(trustCache ?? image.files["Image.trustcache"] ?? []),
    ])
  }

  /// What the phone answers when it is asked for the image's ticket.
  func manifest() throws -> Plist? {
    try mounter().ask([
      "Command": "QueryPersonalizationManifest", "PersonalizedImageType": "DeveloperDiskImage",
      "ImageType": "DeveloperDiskImage", "ImageSignature": .data(SHA384.of(image.files["Image.dmg"] ?? [])),
    ])
  }
}

@Suite struct `a personalised image` {
  private func host(_ ios: String = "18.5", image: LabImage = LabImage(bytes: 200_000)) throws -> PersonalizedHost {
    let phone = try TestPhone(ios: ios)
    try phone.perform("unmount")
    return PersonalizedHost(phone: phone, image: image)
  }

  @Test(arguments: ["17.6", "18.5", "26.1"])
  func `is mounted with a ticket of the signing server, until the phone reboots`(ios: String) throws {
    let host = try host(ios)

    let answer = try host.mount(try #require(try host.ticket()))

    #expect(answer == ["Status": "Complete"])
    #expect(host.phone.phone.isImageMounted)
    let entry = try host.mounter().ask(["Command": "CopyDevices"])?["EntryList"]?.array?.first
    #expect(entry?["MountPath"] == "/System/Developer" && entry?["PersonalizedImageType"] == "DeveloperDiskImage")
    try host.phone.perform("reboot")
    #expect(!host.phone.phone.isImageMounted)
  }

  @Test func `is known to the phone afterwards, which then gives the ticket itself`() throws {
    let host = try host()
    let before = try host.mounter()
    let unknown = try before.ask(["Command": "QueryPersonalizationManifest", "ImageSignature": .data([1])])
    let ticket = try #require(try host.ticket())
    _ = try host.mount(ticket)
    try host.phone.perform("reboot")

    let known = try host.manifest()

    #expect(unknown?["ImageSignature"] == nil && unknown?["Error"] == "InternalError")
    #expect(before.ends())
    #expect(known == ["ImageSignature": .data(ticket)])
    try host.phone.perform("unlock")
    #expect(try host.mount(ticket) == ["Status": "Complete"])
  }

  @Test func `needs a new ticket once the nonce is rolled`() throws {
    let host = try host()
    let ticket = try #require(try host.ticket())
    #expect(try host.mounter().ask(["Command": "RollPersonalizationNonce"]) == ["Status": "Complete"])

    let old = try host.mount(ticket)

    #expect(old?["DetailedError"]?.string?.contains("nonce") == true)
    #expect(try host.mount(try #require(try host.ticket())) == ["Status": "Complete"])
  }

  @Test func `is not mounted with a ticket for another phone, image or trust cache, or with none`() throws {
    let host = try host()
    let ticket = try #require(try host.ticket())
    let other = PersonalizedHost(phone: host.phone, image: LabImage(bytes: 100_000))

    let answers = [
      try host.mount(try #require(try host.ticket(.wrongPhone))), try other.mount(ticket),
      try host.mount(ticket, trustCache: [1]), try host.mount([1, 2, 3]), try host.mount(ticket.reversed()),
    ]

    #expect(answers.map { $0?["Error"] } == [Plist?](repeating: "ImageMountFailed", count: 5))
    #expect(!host.phone.phone.isImageMounted)
    #expect(host.phone.events("image-ticket-refused").count == 5)
  }

  @Test func `is not mounted twice, nor while developer mode is off or the phone is locked`() throws {
    let host = try host()
    let ticket = try #require(try host.ticket())
    try host.phone.perform("developer-mode", ["on": "no"])
    let off = try host.mount(ticket)
    try host.phone.perform("developer-mode", ["on": "yes"])
    try host.phone.perform("lock")
    let locked = try host.mount(ticket)
    try host.phone.perform("unlock")
    _ = try host.mount(ticket)

    let again = try host.mount(ticket)

    #expect(off?["DetailedError"]?.string?.contains("Developer mode is not enabled") == true)
    #expect(locked?["Error"] == "DeviceLocked")
    #expect(again?["DetailedError"]?.string?.contains("is already mounted at /System/Developer") == true)
  }

  @Test func `is of no other type from 17 on`() throws {
    let host = try host("17.6")
    let mounter = try host.mounter()

    let answer = try mounter.ask([
      "Command": "MountImage", "ImageType": "Developer", "ImageSignature": .data([1]),
    ])

    #expect(answer?["Error"] == "ImageMountFailed")
  }
}

@Suite struct `the signing server` {
  private func host() throws -> PersonalizedHost { PersonalizedHost(phone: try TestPhone(ios: "26.1")) }

  @Test(arguments: [SigningServer.Manner.refuses, .garbage, .unavailable])
  func `can answer without a ticket`(_ manner: SigningServer.Manner) throws {
    let host = try host()

    let ticket = Result { try host.ticket(manner) }

    switch ticket {
    case .success(let ticket): #expect(ticket == nil)
    case .failure(let error): #expect(error is PlistError)
    }
  }

  @Test(
    arguments: [
      ["ApNonce": .data([])], ["ApProductionMode": false], ["@ApImg4Ticket": false], ["PersonalizedDMG": ["Digest": 1]],
      ["LoadableTrustCache": ["Digest": .data([1]), "Trusted": true]],
    ] as [[String: Plist]])
  func `signs nothing that was not asked for rightly`(changed: [String: Plist]) throws {
    #expect(try host().ticket(changed: changed) == nil)
  }

  @Test func `remembers what it was asked`() throws {
    let server = try SigningServer()
    defer { server.stop() }

    #expect(try PersonalizedHost.sign(["ApECID": 7], at: server.address) == nil)

    #expect(server.requests == [["ApECID": 7]])
  }
}
