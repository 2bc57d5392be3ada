import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a capture` {
  @Test func `of a still gives a JPEG with EXIF after 0.6 s, and frees the camera`() throws {
    let phone = try TestPhone()
    let door = try phone.door()

    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))
    #expect(phone.capturing == "front")
    phone.clock.advance(by: .milliseconds(600))
    let answer = try door.response()

    #expect(answer.status == 200)
    #expect(answer.header("Content-Type") == "image/jpeg")
    #expect(answer.body.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]))
    #expect(answer.body.suffix(2) == [0xFF, 0xD9])
    #expect(phone.capturing == .null)
    #expect(phone.app.band == nil)
    #expect(phone.app.files.isEmpty)
  }

  @Test func `of a clip takes its length and 0.8 s, and its file is gone afterwards`() throws {
    let phone = try TestPhone()
    let door = try phone.door()

    try door.send("POST /clip?camera=back&seconds=3&by=anna")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(3800)))
    let status = try phone.ask("GET /status").json
    let (band, files) = (phone.app.band, phone.app.files)
    phone.clock.advance(by: .milliseconds(3800))
    let answer = try door.response()

    #expect(status?["capturing"] == "back")
    #expect(status?["by"] == "anna")
    #expect(band == "CAMERA ON · BACK · ANNA")
    #expect(files.count == 1)
    #expect(files.keys.allSatisfy { $0.hasPrefix("tmp/clip-") && $0.hasSuffix(".mov") && $0.utf8.count == 49 })
    #expect(answer.status == 200)
    #expect(answer.header("Content-Type") == "video/quicktime")
    #expect(answer.body[4..<12].elementsEqual("ftypqt  ".utf8))
    #expect(phone.app.files.isEmpty)
    #expect(phone.app.band == nil)
    #expect(phone.capturing == .null)
  }

  @Test func `waits up to 3 s for the place before its band goes up, and goes without it`() throws {
    let phone = try TestPhone()
    try phone.perform("place", ["known": "no"])
    let door = try phone.door()

    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .seconds(3)))
    let (early, capturing) = (phone.app.band, phone.capturing)
    phone.clock.advance(by: .seconds(3))
    #expect(phone.clock.awaitSleeper(until: .milliseconds(3600)))
    let late = phone.app.band
    phone.clock.advance(by: .milliseconds(600))
    let answer = try door.response()

    #expect(early == nil)
    #expect(capturing == "front")
    #expect(late == "CAMERA ON · FRONT")
    #expect(answer.status == 200)
    #expect(EXIFReader(answer.body)?.latitude == nil)
  }

  @Test func `while another runs is refused at once and disturbs nothing`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=4&by=anna")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(4800)))

    let refusal = try phone.ask("POST /photo?camera=front")

    #expect(refusal.status == 423)
    #expect(refusal.error == "the camera is busy with another capture")
    #expect(phone.capturing == "back")
    #expect(phone.app.band == "CAMERA ON · BACK · ANNA")
    phone.clock.advance(by: .milliseconds(4800))
    #expect(try door.response().status == 200)
  }

  @Test func `is refused with 409 while another app is in front, before anything else`() throws {
    let phone = try TestPhone()
    try phone.perform("revoke")
    try phone.perform("hold-camera")
    try phone.perform("background")

    let refusal = try phone.ask("POST /photo?camera=side")

    #expect(refusal.status == 409)
    #expect(refusal.error.contains("not in front"))
  }

  @Test(arguments: ["denied", "restricted", "notDetermined"])
  func `without the grant is refused with 403 before the claim, naming the grant and the way out`(grant: String) throws
  {
    let phone = try TestPhone()
    try phone.perform("hold-camera")
    try phone.perform("revoke", ["camera": grant])

    let refusal = try phone.ask("POST /clip?camera=back&seconds=2")

    #expect(refusal.status == 403)
    #expect(refusal.error.contains(grant))
    #expect(refusal.error.contains("allow it once in Settings"))
  }

  @Test func `of a camera that is not there finds out whether it is busy first`() throws {
    let phone = try TestPhone()
    try phone.perform("hold-camera")

    let busy = try phone.ask("POST /photo?camera=side")
    try phone.perform("release-camera")
    let missing = try phone.ask("POST /photo?camera=side")

    #expect(busy.status == 423)
    #expect(missing.status == 503)
    #expect(phone.capturing == .null)
  }

  @Test func `of a camera that will not open is refused with 503`() throws {
    let phone = try TestPhone()
    try phone.perform("stick-camera", ["mode": "shut"])

    let refusal = try phone.ask("POST /photo?camera=back")

    #expect(refusal.status == 503)
    #expect(refusal.error == "the back camera would not open")
    #expect(phone.capturing == .null)
  }

  @Test(arguments: [
    ("POST /photo?camera=front", 600, 10_000, "gave up after 10 s waiting for the camera to deliver the photo"),
    ("POST /clip?camera=back&seconds=3", 3800, 13_800, "gave up after 13.8 s waiting for the camera to end the clip"),
  ])
  func `whose camera never calls back ends by the body's clock, saying what it waited for`(
    request: String, span: Int, limit: Int, sentence: String
  ) throws {
    let phone = try TestPhone()
    try phone.perform("stick-camera")
    let door = try phone.door()

    try door.send(request)
    #expect(phone.clock.awaitSleeper(until: .milliseconds(span)))
    phone.clock.advance(by: .milliseconds(span))
    #expect(phone.clock.awaitSleeper(until: .milliseconds(limit)))
    phone.clock.advance(by: .milliseconds(limit - span))
    let answer = try door.response()

    #expect(answer.status == 504)
    #expect(answer.error == sentence)
    #expect(phone.capturing == .null)
    #expect(phone.app.band == nil)
    // Known gap of such apps: the clip's file stays.
    #expect(phone.app.files.count == (request.contains("clip") ? 1 : 0))
  }

  @Test func `is broken off when the app leaves the front, and the camera is free again`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=30")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(30_800)))

    try phone.perform("background")
    let answer = try door.response()
    try phone.perform("foreground")

    #expect(answer.status == 503)
    #expect(phone.app.files.isEmpty)
    #expect(phone.capturing == .null)
  }

  @Test func `dies with its app, and the next process knows nothing of it`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))

    try phone.perform("kill-app")
    let rest = try door.rest()
    try phone.perform("launch-app")

    #expect(rest.isEmpty)
    #expect(phone.capturing == .null)
    #expect(phone.app.band == nil)
  }

  @Test func `by somebody else can be held and given back`() throws {
    let phone = try TestPhone()

    try phone.perform("hold-camera", ["camera": "front", "by": "bert"])
    let status = try phone.ask("GET /status").json
    let refusal = try phone.ask("POST /photo?camera=front")
    try phone.perform("release-camera")

    #expect(status?["capturing"] == "front")
    #expect(status?["by"] == "bert")
    #expect(refusal.status == 423)
    #expect(phone.capturing == .null)
    #expect(throws: ActionError.self) { try phone.perform("release-camera") }
  }

  @Test func `runs as much faster as the fleet's time does`() throws {
    let clock = ScaledClock(scale: 50)
    let preset = try #require(PhonePreset.named("16.7"))
    let phone = VirtualPhone(
      identity: PhoneIdentity(index: 0, preset: preset), preset: preset, clock: clock, journal: Journal(clock: clock))
    defer { phone.end() }
    let (host, device) = try Socket.pair()
    let server = try #require(phone.ports.server(8127))
    _ = Worker(name: "test device") { phone.ports.serve(device, with: server) }
    let door = DoorClient(socket: host)
    let (began, beganOnHost) = (clock.now, ContinuousClock.now)

    try door.send("POST /clip?camera=back&seconds=30")
    let answer = try door.response()

    #expect(answer.status == 200)
    #expect(clock.now - began >= .milliseconds(30_800))
    #expect(ContinuousClock.now - beganOnHost < .seconds(20))
  }
}
