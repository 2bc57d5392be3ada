import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a door whose listener is gone` {
  @Test(arguments: [(0.5, 59.5), (19.5, 40.5), (20, 40), (1000, 40), (1003, 57)])
  func `is back when the app's own check has missed twice`(age: Double, wait: Double) throws {
    let phone = try TestPhone()
    phone.clock.advance(by: .seconds(age))

    try phone.perform("kill-listener")
    #expect(try phone.connect() == nil)
    #expect(phone.clock.awaitSleeper(until: .seconds(age + wait)))
    phone.clock.advance(by: .seconds(wait) - .milliseconds(1))
    #expect(try phone.connect() == nil)
    phone.clock.advance(by: .milliseconds(1))

    #expect(holds { phone.answers })
    #expect(phone.events("door-reopened").map { $0.details["because"] } == ["two checks missed"])
  }

  @Test func `ends the connections that it had`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("GET /hello")
    _ = try door.response()

    try phone.perform("kill-listener")

    #expect(try door.rest().isEmpty)
  }

  @Test func `is back at once when the app is told`() throws {
    let phone = try TestPhone()

    try phone.perform("kill-listener", ["how": "noticed"])

    #expect(phone.answers)
  }

  @Test func `is back when the app returns to the front`() throws {
    let phone = try TestPhone()
    try phone.perform("background")
    try phone.perform("kill-listener")
    #expect(try phone.connect() == nil)

    try phone.perform("foreground")

    #expect(phone.answers)
  }

  @Test func `stays away while the app is stopped, and is back 40 to 60 s after it goes on`() throws {
    let phone = try TestPhone()
    try phone.perform("kill-listener")
    try phone.perform("suspend")
    #expect(phone.clock.awaitSleeper(until: .seconds(40)))
    phone.clock.advance(by: .seconds(70))
    #expect(holds { phone.app.model.with { $0.listener.rescue == nil } })
    #expect(try phone.connect() == nil)

    try phone.perform("resume")
    #expect(phone.clock.awaitSleeper(until: .seconds(120)))
    phone.clock.advance(by: .seconds(50))

    #expect(holds { phone.answers })
  }

  @Test func `can be opened by hand`() throws {
    let phone = try TestPhone()
    try phone.perform("kill-listener")

    try phone.perform("open-listener")

    #expect(phone.answers)
    #expect(throws: ActionError.self) {
      try phone.perform("kill-app")
      try phone.perform("open-listener")
    }
  }

  @Test func `never returns in an app that is broken so, until the app is started anew`() throws {
    let phone = try TestPhone()
    try phone.perform("break", ["what": "door-never-returns"])
    try phone.perform("foreground")
    #expect(phone.answers)
    try phone.perform("background")
    #expect(phone.answers)
    try phone.perform("foreground")
    phone.clock.advance(by: .seconds(200))
    #expect(try phone.connect() == nil)

    try phone.perform("launch-app", ["fresh": "yes"])

    #expect(phone.answers)
  }

  @Test func `is not found by an app that does not check itself, and is found once that is mended`() throws {
    let phone = try TestPhone()
    try phone.perform("break", ["what": "no-self-heal"])
    try phone.perform("kill-listener")
    phone.clock.advance(by: .seconds(100))
    #expect(try phone.connect() == nil)

    try phone.perform("mend", ["what": "no-self-heal"])
    #expect(phone.clock.awaitSleeper(until: .seconds(140)))
    phone.clock.advance(by: .seconds(40))

    #expect(holds { phone.answers })
  }

  @Test func `costs a thread only while it is away`() throws {
    let phone = try TestPhone()
    let before = phone.app.timers.isAtWork

    try phone.perform("kill-listener")
    let during = phone.app.timers.isAtWork
    try phone.perform("open-listener")

    #expect(!before)
    #expect(during)
    #expect(holds { !phone.app.timers.isAtWork })
  }
}
