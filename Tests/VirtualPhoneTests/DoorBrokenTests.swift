import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `an app made to break its contract` {
  private func broken(_ what: String) throws -> TestPhone {
    let phone = try TestPhone()
    try phone.perform("break", ["what": what])
    return phone
  }

  /// A whole photo, phone time included.
  private func photo(_ phone: TestPhone) throws -> HTTPMessage {
    let door = try phone.door()
    let due = phone.clock.now + .milliseconds(600)
    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: due))
    phone.clock.advance(by: .milliseconds(600))
    return try door.response()
  }

  @Test func `busy-not-refused: a second capture waits for the first`() throws {
    let phone = try broken("busy-not-refused")
    let (first, second) = (try phone.door(), try phone.door())
    try first.send("POST /clip?camera=back&seconds=4")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(4800)))

    try second.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .seconds(10)))
    phone.clock.advance(by: .milliseconds(4800))
    #expect(try first.response().status == 200)
    #expect(phone.clock.awaitSleeper(until: .milliseconds(5400)))
    phone.clock.advance(by: .milliseconds(600))

    #expect(try second.response().status == 200)
  }

  @Test func `wrong-sentence: a refusal says nothing`() throws {
    let phone = try broken("wrong-sentence")
    try phone.perform("hold-camera")

    let answer = try phone.ask("POST /photo?camera=front")

    #expect(answer.status == 423)
    #expect(answer.error == "something went wrong")
  }

  @Test func `stays-busy: the camera is never given back, until it is mended`() throws {
    let phone = try broken("stays-busy")

    #expect(try photo(phone).status == 200)
    #expect(phone.capturing == "front")
    #expect(try phone.ask("POST /photo?camera=back").status == 423)
    try phone.perform("mend", ["what": "stays-busy"])

    #expect(phone.capturing == .null)
  }

  @Test func `no-409: it captures while another app is in front`() throws {
    let phone = try broken("no-409")
    try phone.perform("background")

    #expect(try photo(phone).status == 200)
  }

  @Test func `no-403: it captures without the grant`() throws {
    let phone = try broken("no-403")
    try phone.perform("revoke")

    #expect(try photo(phone).status == 200)
  }

  @Test func `keeps-files and band-stays: what a capture showed stays`() throws {
    let phone = try broken("keeps-files")
    try phone.perform("break", ["what": "band-stays"])
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=1")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(1800)))
    phone.clock.advance(by: .milliseconds(1800))
    #expect(try door.response().status == 200)

    #expect(phone.app.files.count == 1)
    #expect(phone.app.band == "CAMERA ON · BACK")
    try phone.perform("mend")
    #expect(phone.app.files.isEmpty)
    #expect(phone.app.band == nil)
  }

  @Test func `always-active: it says that it is in front when it is not`() throws {
    let phone = try broken("always-active")
    try phone.perform("background")

    #expect(try phone.ask("GET /hello").json?["active"] == true)
    #expect(try phone.ask("POST /photo?camera=front").status == 409)
  }

  @Test func `boasts-in-status: its status promises what a capture is then refused`() throws {
    let phone = try broken("boasts-in-status")
    try phone.perform("background")

    let status = try phone.ask("GET /status").json

    #expect(status?["active"] == true && status?["cameras"] == ["front", "back", "side"])
    #expect(try phone.ask("GET /hello").json?["active"] == false)
    #expect(try phone.ask("POST /photo?camera=front").status == 409)
  }

  @Test func `keeps it again once everything is mended`() throws {
    let phone = try TestPhone()
    for what in Breakage.allCases { try phone.perform("break", ["what": what.rawValue]) }
    try phone.perform("door-fault", ["kind": "silent"])
    try phone.perform("stick-camera")
    try phone.perform("launch-fault", ["kind": "internal"])

    try phone.perform("mend")

    #expect(try photo(phone).status == 200)
    #expect(phone.capturing == .null)
    #expect(phone.app.model.with { $0.door.broken.isEmpty && $0.launchFaults.isEmpty })
  }
}

@Suite struct `an app broken in one way more` {
  private func broken(_ what: String, token: String? = nil) throws -> TestPhone {
    let phone = try TestPhone()
    if let token { try phone.perform("token", ["value": token]) }
    try phone.perform("break", ["what": what])
    return phone
  }

  @Test func `no-503: any camera takes a picture`() throws {
    let phone = try broken("no-503")
    let door = try phone.door()
    try door.send("POST /photo?camera=side")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))
    phone.clock.advance(by: .milliseconds(600))

    #expect(try door.response().status == 200)
  }

  @Test func `no-504: a stuck camera is waited for without end`() throws {
    let phone = try broken("no-504")
    try phone.perform("stick-camera")
    let door = try phone.door()
    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))
    phone.clock.advance(by: .milliseconds(600))

    #expect(phone.clock.awaitSleeper(until: .seconds(86_400)))
    #expect(phone.capturing == "front")
    try phone.perform("release-camera")
    #expect(try door.response().status == 503)
  }

  @Test func `no-401: a request without the token is answered`() throws {
    let phone = try broken("no-401", token: "secret")

    #expect(try phone.ask("GET /hello").status == 200)
  }

  @Test func `no-band: nothing shows that the camera is on`() throws {
    let phone = try broken("no-band")
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=1")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(1800)))

    #expect(phone.capturing == "back")
    #expect(phone.app.band == nil)
    phone.clock.advance(by: .milliseconds(1800))
    #expect(try door.response().status == 200)
  }

  @Test func `refusal-drops-band: a refused capture takes the band away`() throws {
    let phone = try broken("refusal-drops-band")
    try phone.perform("hold-camera")
    #expect(phone.app.band != nil)

    #expect(try phone.ask("POST /photo?camera=front").status == 423)
    #expect(phone.app.band == nil)
    #expect(phone.capturing == "back")
  }

  @Test func `no-door-at-start: a new process has no door, the old one keeps its own`() throws {
    let phone = try broken("no-door-at-start")
    #expect(try phone.ask("GET /hello").status == 200)

    try phone.perform("launch-app", ["fresh": "yes"])

    #expect(phone.app.model.with { !$0.listener.isOpen })
  }

  @Test func `deaf-after-stop: what was stopped and goes on answers nobody`() throws {
    let phone = try broken("deaf-after-stop")
    #expect(try phone.ask("GET /hello").status == 200)
    try phone.perform("suspend")
    try phone.perform("resume")

    let door = try phone.door()
    try door.send("GET /hello")
    try phone.perform("kill-app")

    #expect((try? door.response()) == nil)
  }

  @Test func `a build carries a key that it should not`() throws {
    let phone = try TestPhone()
    try phone.perform("install-app", ["carries": "UIBackgroundModes"])

    #expect(phone.app.installed("com.example.kiosk")?.attributes["UIBackgroundModes"] != nil)
  }

  @Test func `a start removes the clips that an earlier one left`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=3")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(3800)))
    try phone.perform("kill-app")
    _ = try door.rest()
    #expect(phone.app.files.count == 1)

    try phone.perform("launch-app")

    #expect(phone.app.files.isEmpty)
  }
}
