import CZlib
import Testing
import Transport
import Wire

@testable import VirtualPhone

/// Reads a PNG of eight-bit RGB without filters back, with zlib doing the unpacking.
struct PNGReader {
  let width: Int
  let height: Int
  private let rows: [UInt8]

  /// - Returns: nil unless every chunk has its checksum and the picture its size.
  init?(_ png: [UInt8]) {
    guard png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
    func number(_ at: Int) -> Int { png[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    var (at, packed, size, ended): (Int, [UInt8], (Int, Int)?, Bool) = (8, [], nil, false)
    while at + 12 <= png.count, !ended {
      let length = number(at)
      guard at + 12 + length <= png.count else { return nil }
      let body = Array(png[(at + 4)..<(at + 8 + length)])
      guard Int(Zlib.checksum(body)) == number(at + 8 + length) else { return nil }
      switch String(decoding: body.prefix(4), as: UTF8.self) {
      case "IHDR":
        guard body.suffix(5) == [8, 2, 0, 0, 0] else { return nil }
        size = (number(at + 8), number(at + 12))
      case "IDAT": packed += body.dropFirst(4)
      case "IEND": ended = true
      default: break
      }
      at += 12 + length
    }
    guard let (width, height) = size, ended, at == png.count else { return nil }
    var raw = [UInt8](repeating: 0, count: (width * 3 + 1) * height)
    var count = UInt(raw.count)
    guard uncompress(&raw, &count, packed, UInt(packed.count)) == Z_OK, Int(count) == raw.count else { return nil }
    (self.width, self.height, rows) = (width, height, raw)
  }

  func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    let at = y * (width * 3 + 1) + 1 + x * 3
    return Array(rows[at..<(at + 3)])
  }

  /// Rows from the top in which every pixel is of that colour or white.
  func rows(of colour: [UInt8]) -> Int {
    var count = 0
    while count < height,
      (0..<width).allSatisfy({ pixel($0, count) == colour || pixel($0, count) == [255, 255, 255] }),
      pixel(0, count) == colour
    { count += 1 }
    return count
  }
}

@Suite struct `screenshotr` {
  private static let red: [UInt8] = [219, 26, 31]

  /// A host that has shaken hands.
  private func host(_ phone: TestPhone) throws -> ServiceClient {
    let host = try phone.service("com.apple.mobile.screenshotr")
    #expect(try host.receive() == ["DLMessageVersionExchange", 400, 0])
    #expect(try host.ask(["DLMessageVersionExchange", "DLVersionsOk", 400]) == ["DLMessageDeviceReady"])
    return host
  }

  private func reply(_ host: ServiceClient) throws -> Plist? {
    try host.send(["DLMessageProcessMessage", ["MessageType": "ScreenShotRequest"]])
    guard let header = try? host.socket.read(exactly: 4, by: .after(.seconds(20))) else { return nil }
    let size = try ServiceFrame.payloadSize(header, limit: 1 << 24)
    return try Plist(parsing: host.socket.read(exactly: size, by: .after(.seconds(20)))).array?.last
  }

  private func picture(_ phone: TestPhone) throws -> PNGReader {
    // A small picture is as good, and quicker to look at.
    try phone.perform("screen", ["scale": "8"])
    let answer = try reply(try host(phone))
    try #require(answer?["MessageType"] == "ScreenShotReply")
    return try #require(PNGReader(answer?["ScreenShotData"]?.bytes ?? []))
  }

  @Test func `is a service of iOS 16 and older that needs the developer image`() {
    #expect(Screenshotr().needs.developerImage)
    #expect(Screenshotr().needs.goneSince == 17)
  }

  @Test func `gives a picture in the size of the screen, and keeps none`() throws {
    let phone = try TestPhone()

    let answer = try reply(try host(phone))

    let picture = try #require(PNGReader(answer?["ScreenShotData"]?.bytes ?? []))
    #expect((picture.width, picture.height) == (828, 1792))
    #expect(phone.events("screenshot-taken").first?.details["shows"] == "kiosk")
  }

  @Test func `shows the red band across the top while a capture runs, and only then`() throws {
    let phone = try TestPhone()
    let before = try picture(phone)

    try phone.perform("hold-camera", ["camera": "front", "by": "anna"])
    let during = try picture(phone)
    try phone.perform("release-camera")
    let after = try picture(phone)

    #expect(before.rows(of: Self.red) == 0)
    // 8% of 224 rows.
    #expect(during.rows(of: Self.red) == 18)
    #expect((0..<18).contains { y in (0..<during.width).contains { during.pixel($0, y) == [255, 255, 255] } })
    #expect(after.rows(of: Self.red) == 0)
  }

  @Test func `shows the lock screen, the home screen and other apps, each unlike the others`() throws {
    let phone = try TestPhone()
    var pictures = [try picture(phone).pixel(0, 60)]
    try phone.perform("hold-camera")
    try phone.perform("background", ["app": "home"])
    pictures.append(try picture(phone).pixel(0, 60))
    try phone.perform("background")
    pictures.append(try picture(phone).pixel(0, 60))
    try phone.perform("lock")
    pictures.append(try picture(phone).pixel(0, 60))

    #expect(Set(pictures).count == 4)
    #expect(
      phone.events("screenshot-taken").map { $0.details["shows"] } == [
        "kiosk", "home screen", "com.apple.Preferences", "lock screen",
      ])
  }

  @Test func `comes as TIFF where the phone is so old`() throws {
    let phone = try TestPhone()
    try phone.perform("screen", ["format": "tiff", "scale": "8"])

    let answer = try reply(try host(phone))

    let tiff = try #require(answer?["ScreenShotData"]?.bytes)
    #expect(tiff.prefix(4).elementsEqual(Array("MM".utf8) + [0, 42]))
    let directory = tiff[4..<8].reduce(0) { $0 << 8 | Int($1) }
    #expect(directory == 8 + 103 * 224 * 3 + 6)
    #expect(tiff[directory + 1] == 9)
    #expect(tiff.count == directory + 2 + 9 * 12 + 4)
  }

  @Test(arguments: ["refused", "empty", "garbage", "cut", "close", "silent"])
  func `can answer with something that is no picture`(fault: String) throws {
    let phone = try TestPhone()
    try phone.perform("screen", ["scale": "8", "fault": fault])
    let host = try host(phone)
    if fault == "silent" {
      try host.send(["DLMessageProcessMessage", ["MessageType": "ScreenShotRequest"]])
      #expect(throws: StreamError.timedOut) { try host.socket.read(max: 1, by: .after(.milliseconds(100))) }
      return
    }

    let answer = try reply(host)

    #expect((answer == nil) == (fault == "close"))
    #expect(answer?["ScreenShotData"]?.bytes.flatMap { PNGReader($0) } == nil)
  }

  @Test(
    arguments: [
      ["DLMessageVersionExchange", "DLVersionsBad", 400], ["Hello"], [], [1, 2, 3],
    ] as [Plist])
  func `hangs up on a host that does not agree`(answer: Plist) throws {
    let host = try TestPhone().service("com.apple.mobile.screenshotr")
    _ = try host.receive()

    #expect(try host.ask(answer)?.array?.first == "DLMessageDisconnect")
    #expect(host.ends())
  }

  @Test func `survives any bytes`() throws {
    let phone = try TestPhone()
    for round in 0..<200 {
      let host = try phone.service("com.apple.mobile.screenshotr")
      let noise = (0..<Int.random(in: 0..<64)).map { _ in UInt8.random(in: 0...255) }
      let messages: [Plist] = [
        ["DLMessageVersionExchange", "DLVersionsOk"], ["DLMessageProcessMessage", .data(noise)],
        ["DLMessageProcessMessage", "text"], .data(noise),
      ]
      var bytes = ServiceFrame.bytes(messages[round % 4 == 3 ? 3 : 0].binary)
      bytes += round.isMultiple(of: 2) ? noise : ServiceFrame.bytes(messages[1 + round % 2].xml)
      try host.socket.write(bytes, by: .after(.seconds(10)))
      host.socket.close()
      #expect(host.worker.join(by: .after(.seconds(10))))
    }

    #expect(try reply(try host(phone)) != nil)
  }
}
