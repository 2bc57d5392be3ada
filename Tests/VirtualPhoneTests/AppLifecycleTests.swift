import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the app on its phone` {
  private let kiosk = "com.example.kiosk"

  @Test func `is not active behind another app, and iOS lets it answer for a while`() throws {
    let phone = try TestPhone()

    try phone.perform("background", ["for": "2m"])
    let early = try phone.ask("GET /hello").json?["active"]
    #expect(phone.clock.awaitSleeper(until: .seconds(120)))
    phone.clock.advance(by: .seconds(120))

    #expect(early == false)
    #expect(holds { phone.app.process(kiosk)?.isStopped ?? false })
    #expect(phone.isSilent)
  }

  @Test func `stopped, takes a request and answers it when it goes on`() throws {
    let phone = try TestPhone()
    try phone.perform("suspend")
    let door = try phone.door()

    try door.send("GET /hello")
    #expect(throws: StreamError.timedOut) { try door.response(by: .after(.milliseconds(100))) }
    try phone.perform("resume")

    #expect(try door.response().status == 200)
  }

  @Test func `stopped, keeps nothing of a caller who went away`() throws {
    let phone = try TestPhone()
    try phone.perform("suspend")
    let (host, device) = try Socket.pair()
    let server = try #require(phone.phone.ports.server(8127))
    let worker = Worker(name: "test device") { phone.phone.ports.serve(device, with: server) }
    let door = DoorClient(socket: host)
    try door.send("GET /hello")
    #expect(throws: StreamError.timedOut) { try door.response(by: .after(.milliseconds(50))) }

    door.socket.close()

    #expect(worker.join(by: .after(.seconds(10))))
  }

  @Test func `killed, refuses connections and ends those it had`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("GET /hello")
    _ = try door.response()

    try phone.perform("kill-app")

    #expect(try door.rest().isEmpty)
    #expect(try phone.connect() == nil)
    #expect(phone.app.processes.isEmpty)
    #expect(throws: ActionError.self) { try phone.perform("kill-app") }
  }

  @Test func `launched, is in front; launched again, is the same process`() throws {
    let phone = try TestPhone(runs: false)
    #expect(try phone.connect() == nil)

    let first = phone.app.launch(arguments: ["--a"], environment: ["K": "v"])
    try phone.perform("background")
    let second = phone.app.launch()

    #expect(first == .launched(pid: 401))
    #expect(second == first)
    #expect(try phone.ask("GET /hello").json?["active"] == true)
    let process = try #require(phone.app.process(kiosk))
    #expect(process.arguments == ["--a"])
    #expect(process.environment == ["K": "v"])
  }

  @Test func `started fresh, is another process`() throws {
    let phone = try TestPhone()

    try phone.perform("launch-app", ["fresh": "yes"])

    #expect(phone.app.processes == [402: "Kiosk"])
    #expect(phone.answers)
  }

  @Test func `goes on when it comes back to the front, however long it was stopped`() throws {
    let phone = try TestPhone()
    try phone.perform("background")
    #expect(phone.clock.awaitSleeper(until: .seconds(180)))
    phone.clock.advance(by: .seconds(10_000))
    #expect(holds { phone.app.process(kiosk)?.isStopped ?? false })

    try phone.perform("foreground")

    #expect(try phone.ask("GET /hello").json?["active"] == true)
    phone.clock.advance(by: .seconds(10_000))
    #expect(phone.answers)
  }

  @Test func `behind the lock screen is not active, and comes back with the unlock`() throws {
    let phone = try TestPhone()

    try phone.perform("lock")
    let locked = try phone.ask("GET /hello").json?["active"]
    let refusal = try phone.ask("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .seconds(180)))
    phone.clock.advance(by: .seconds(180))
    #expect(holds { phone.app.process(kiosk)?.isStopped ?? false })
    try phone.perform("unlock")

    #expect(locked == false)
    #expect(refusal.status == 409)
    #expect(try phone.ask("GET /hello").json?["active"] == true)
  }

  @Test func `stopped by the tester, stays so through a lock and an unlock, and goes on in front`() throws {
    let phone = try TestPhone()
    try phone.perform("suspend")

    try phone.perform("lock")
    try phone.perform("unlock")
    let silent = phone.isSilent
    try phone.perform("foreground")

    #expect(silent)
    #expect(phone.answers)
  }

  @Test func `is started by what brings it to the front, unless the phone is locked`() throws {
    let phone = try TestPhone(runs: false)

    try phone.perform("lock")
    #expect(throws: ActionError.self) { try phone.perform("foreground") }
    try phone.perform("unlock")
    try phone.perform("foreground")

    #expect(try phone.ask("GET /hello").json?["active"] == true)
  }

  @Test func `is not launched on a locked phone that refuses`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("lock")

    #expect(phone.app.launch() == .refused("Locked"))
    #expect(phone.app.processes.isEmpty)
    #expect(throws: ActionError.self) { try phone.perform("launch-app") }
  }

  @Test func `waits behind the lock screen on a phone that accepts`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("locked-launch", ["mode": "accept"])
    try phone.perform("lock")

    #expect(phone.app.launch() == .launched(pid: 401))
    #expect(try phone.connect() == nil)
    try phone.perform("unlock")

    #expect(try phone.ask("GET /hello").json?["active"] == true)
  }

  @Test func `is gone after a reboot, and nothing starts it`() throws {
    let phone = try TestPhone()

    try phone.perform("reboot")

    #expect(phone.app.processes.isEmpty)
    #expect(try phone.connect() == nil)
  }

  @Test func `crashes right after its launch when told to`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("launch-fault", ["kind": "crash"])

    let outcome = phone.app.launch()
    #expect(phone.clock.awaitSleeper(until: .milliseconds(200)))
    phone.clock.advance(by: .milliseconds(200))

    #expect(outcome == .launched(pid: 401))
    #expect(holds { phone.app.processes.isEmpty })
  }

  @Test func `is replaced by another build, and gone when removed`() throws {
    let phone = try TestPhone()
    let before = phone.app.installed(kiosk)

    try phone.perform("install-app", ["version": "4.0", "build": "500"])
    let after = phone.app.installed(kiosk)
    let running = phone.app.processes
    try phone.perform("uninstall-app")

    #expect(before?.path != after?.path)
    #expect(after?.version == "4.0")
    #expect(after?.build == "500")
    #expect(running.isEmpty)
    #expect(phone.app.installed(kiosk) == nil)
    #expect(phone.app.launch() == .refused("NotFound"))
  }

  @Test func `carries no key that keeps pictures or works in the background`() throws {
    let phone = try TestPhone()
    let info = try #require(phone.app.installed(kiosk)).attributes

    for key in [
      "NSPhotoLibraryUsageDescription", "NSPhotoLibraryAddUsageDescription",
      "NSLocationAlwaysAndWhenInUseUsageDescription", "NSLocationAlwaysUsageDescription", "UIBackgroundModes",
    ] {
      #expect(info[key] == nil)
    }
    #expect(info["NSCameraUsageDescription"]?.string?.contains("Nothing is kept on the device") == true)
  }

  @Test func `ends everything with its phone`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    try door.send("POST /clip?camera=back&seconds=50")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(50_800)))
    try phone.perform("hands-on")

    phone.phone.end()

    #expect(try door.rest().isEmpty)
    #expect(try phone.connect() == nil)
    #expect(try phone.connect(8100) == nil)
  }
}

@Suite struct `the hands' driver` {
  @Test func `answers its status while somebody uses the phone, and is gone afterwards`() throws {
    let phone = try TestPhone()
    #expect(try phone.connect(8100) == nil)

    try phone.perform("hands-on")
    let driver = DoorClient(socket: try #require(try phone.connect(8100)))
    try driver.send("GET /status")
    let answer = try driver.response()
    let running = phone.phone.processes.values.contains("WebDriverAgentRunner-Runner")
    try phone.perform("hands-off")

    #expect(answer.json?["value"]?["ready"] == true)
    #expect(running)
    #expect(try driver.rest().isEmpty)
    #expect(try phone.connect(8100) == nil)
  }

  @Test func `can accept and stay mute`() throws {
    let phone = try TestPhone()
    try phone.perform("hands-on", ["mode": "mute"])
    let driver = DoorClient(socket: try #require(try phone.connect(8100)))

    try driver.send("GET /status")

    #expect(throws: StreamError.timedOut) { try driver.response(by: .after(.milliseconds(50))) }
  }
}
