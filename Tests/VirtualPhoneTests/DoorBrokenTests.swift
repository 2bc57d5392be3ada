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
