import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `debugserver` {
  private static let kiosk = "com.example.kiosk"

  private func path(_ phone: TestPhone, _ bundle: String = kiosk) throws -> String {
    try #require(phone.app.installed(bundle)).executablePath
  }

  /// Launches up to `Hc0`, as a host does that lets the app run on.
  private func launched(_ phone: TestPhone, detachOnError: Bool = true) throws -> DebugClient {
    let host = try DebugClient(phone)
    #expect(try host.ask("QStartNoAckMode") == "OK")
    if detachOnError { #expect(try host.ask("QSetDetachOnError:1") == "OK") }
    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")
    #expect(try host.ask("qLaunchSuccess") == "OK")
    #expect(try host.ask("Hc0") == "OK")
    return host
  }

  @Test func `is a service of iOS 16 and older that needs the developer image`() {
    for service in [DebugServer.secure, DebugServer.plain] {
      #expect(service.needs.developerImage)
      #expect(service.needs.goneSince == 17)
    }
    #expect(DebugServer.plain.names == ["com.apple.debugserver"])
    #expect(DebugServer.plain.needs.clearAfterHandshake)
    #expect(!DebugServer.secure.needs.clearAfterHandshake)
  }

  @Test func `launches with arguments and environment, and lets the app run on after a detach`() throws {
    let phone = try TestPhone(runs: false)
    let host = try DebugClient(phone)

    #expect(try host.ask("QStartNoAckMode") == "OK")
    #expect(try host.ask("QSetDetachOnError:1") == "OK")
    #expect(try host.ask("QEnvironmentHexEncoded:" + DebugClient.hex("MODE=a=b")) == "OK")
    #expect(try host.ask(DebugClient.launch([path(phone), "--fresh", "zwei ü"])) == "OK")
    #expect(try host.ask("qLaunchSuccess") == "OK")
    let stopped = phone.isSilent
    #expect(try host.ask("Hc0") == "OK")
    #expect(try host.ask("D") == "OK")
    host.service.socket.close()
    #expect(host.service.worker.join(by: .after(.seconds(10))))

    #expect(stopped)
    #expect(try phone.ask("GET /hello").json?["active"] == true)
    let process = try #require(phone.app.process(Self.kiosk))
    #expect(process.arguments == ["--fresh", "zwei ü"])
    #expect(process.environment == ["MODE": "a=b"])
    let entry = try #require(phone.events("launch-requested").first)
    #expect(entry.details["app"] == .string(Self.kiosk))
    #expect(entry.details["arguments"] == ["--fresh", "zwei ü"])
    #expect(entry.details["environment"] == ["MODE": "a=b"])
  }

  @Test func `acknowledges each packet until it is told not to`() throws {
    let host = try DebugClient(try TestPhone())

    try host.send("QSetMaxPacketSize:31303234")
    #expect(try host.next() == .acknowledge)
    #expect(try host.next() == .packet(Array("OK".utf8)))
    try host.send(raw: Array("+$qC#00".utf8))
    try host.send(raw: Array("-".utf8))
    #expect(try host.service.socket.read(exactly: 1, by: .after(.seconds(5))) == Array("-".utf8))
    #expect(try host.packet() == "OK")
    try host.send("QStartNoAckMode")
    #expect(try host.next() == .acknowledge)
    #expect(try host.next() == .packet(Array("OK".utf8)))
    try host.send("Hg0")

    #expect(try host.next() == .packet(Array("OK".utf8)))
  }

  @Test func `goes on, is interrupted, and stops the app with it`() throws {
    let phone = try TestPhone()
    let host = try launched(phone)

    try host.send("c")
    #expect(holds { phone.answers })
    try host.send(raw: [0x03])
    #expect(try host.packet()?.hasPrefix("T11thread:") == true)
    #expect(phone.isSilent)
    #expect(try host.ask("D") == "OK")

    #expect(phone.answers)
  }

  @Test func `serves nothing but the interrupt while the app runs`() throws {
    let phone = try TestPhone()
    let host = try launched(phone)
    try host.send("vCont;c")

    try host.send("D")

    #expect(throws: StreamError.timedOut) { try host.packet(by: .after(.milliseconds(100))) }
  }

  @Test func `kills the app`() throws {
    let phone = try TestPhone()
    let host = try launched(phone)

    #expect(try host.ask("k") == "X09")

    #expect(phone.app.processes.isEmpty)
    #expect(phone.events("app-killed").count == 1)
  }

  @Test(arguments: [(true, 1), (false, 0)])
  func `lets the app go when the connection breaks only where it was asked to`(asked: Bool, running: Int) throws {
    let phone = try TestPhone()
    let host = try launched(phone, detachOnError: asked)

    host.service.socket.close()
    #expect(host.service.worker.join(by: .after(.seconds(10))))

    #expect(phone.app.processes.count == running)
    #expect(asked ? phone.answers : phone.isSilent)
  }

  @Test func `tells the host that holds the app how it ended`() throws {
    let phone = try TestPhone()
    let host = try launched(phone)
    try host.send("c")
    #expect(holds { phone.answers })

    try phone.perform("kill-app")

    #expect(try host.packet() == "X09")
    #expect(try host.ask("D") == "E04")
  }

  @Test func `tells of an app that crashes right after its launch`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("launch-fault", ["kind": "crash"])
    let host = try launched(phone)
    #expect(phone.clock.awaitSleeper(until: .milliseconds(200)))
    phone.clock.advance(by: .milliseconds(200))
    #expect(holds { phone.app.processes.isEmpty })

    #expect(try host.ask("c") == "X0b")
  }

  @Test func `stops a running app it attaches to, and can leave it stopped`() throws {
    let phone = try TestPhone()
    let host = try DebugClient(phone)
    let pid = try #require(phone.app.process(Self.kiosk)).pid

    #expect(try host.ask("vAttach;" + String(pid, radix: 16))?.hasPrefix("T11thread:") == true)
    #expect(try host.ask("qProcessInfo")?.hasPrefix("pid:\(String(pid, radix: 16));") == true)
    #expect(try host.ask("D1") == "OK")
    #expect(phone.isSilent)
    #expect(try host.ask("vAttachName;" + DebugClient.hex("Kiosk"))?.hasPrefix("T11") == true)
    #expect(try host.ask("D") == "OK")

    #expect(phone.answers)
    #expect(try host.ask("vAttach;ffff") == "E96")
  }

  @Test func `leaves a stopped app stopped when the host goes, until somebody lets it go on`() throws {
    let phone = try TestPhone()
    let host = try DebugClient(phone)
    #expect(try host.ask("vAttachName;" + DebugClient.hex("Kiosk"))?.hasPrefix("T11") == true)
    #expect(try host.ask("D1") == "OK")
    host.service.socket.close()
    #expect(host.service.worker.join(by: .after(.seconds(10))))

    #expect(!phone.answers)
    #expect(phone.app.processes.count == 1)
    let later = try DebugClient(phone)
    #expect(try later.ask("vAttachName;" + DebugClient.hex("Kiosk"))?.hasPrefix("T11") == true)
    try later.send("c")
    #expect(holds { phone.answers })
    try later.send(raw: [3])
    #expect(try later.packet()?.hasPrefix("T11") == true)
    #expect(try later.ask("k") == "X09")

    #expect(phone.app.processes.isEmpty)
  }

  @Test func `puts another app in front of the kiosk`() throws {
    let phone = try TestPhone()
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone, "com.apple.Preferences")])) == "OK")
    #expect(try host.ask("qLaunchSuccess") == "OK")
    #expect(try host.ask("D") == "OK")

    #expect(try phone.ask("GET /hello").json?["active"] == false)
    #expect(phone.app.processes.values.sorted() == ["Kiosk", "Preferences"])
  }

  @Test func `is refused by a locked phone`() throws {
    let phone = try TestPhone()
    try phone.perform("lock")
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")

    #expect(try host.ask("qLaunchSuccess") == "ELocked")
  }

  @Test func `lets the app wait behind the lock where the phone accepts`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("locked-launch", ["mode": "accept"])
    try phone.perform("lock")
    let host = try launched(phone)
    #expect(try host.ask("D") == "OK")

    #expect(phone.app.processes.count == 1)
    #expect(phone.isSilent)
    try phone.perform("unlock")

    #expect(phone.answers)
  }

  @Test(arguments: [
    ("not-found", "NotFound"), ("security", "Security"), ("internal", "internal error"), ("locked", "Locked"),
    ("not-debuggable", "failed to get the task for process"), ("empty", ""),
  ])
  func `H29: fails a launch in the phone's own words`(kind: String, words: String) throws {
    let phone = try TestPhone()
    try phone.perform("launch-fault", ["kind": kind])
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")
    let answer = try #require(try host.ask("qLaunchSuccess"))

    #expect(answer.hasPrefix("E"))
    #expect(answer.contains(words))
    #expect(kind != "empty" || answer == "E")
  }

  @Test func `H29: can write its words as newer systems do, in hexadecimal digits`() throws {
    let phone = try TestPhone()
    try phone.perform("launch-fault", ["kind": "locked", "form": "hex"])
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")

    #expect(try host.ask("qLaunchSuccess") == "E21;4c6f636b6564")
  }

  @Test func `H31: may not take a store's build`() throws {
    let phone = try TestPhone()
    try phone.perform("install-app", ["signing": "store"])
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")

    #expect(try host.ask("qLaunchSuccess")?.contains("failed to get the task for process") == true)
  }

  @Test func `H31: shows an app that may not be debugged for three seconds`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("launch-fault", ["kind": "not-debuggable"])
    let host = try DebugClient(phone)

    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")
    #expect(phone.app.processes.count == 1)
    #expect(phone.clock.awaitSleeper(until: .seconds(3)))
    phone.clock.advance(by: .seconds(3))

    #expect(holds { phone.app.processes.isEmpty })
  }

  @Test func `H32: can end the old app and fail the new one, once`() throws {
    let phone = try TestPhone()
    let old = try launched(phone)
    try old.send("c")
    #expect(holds { phone.answers })
    try phone.perform("launch-fault", ["kind": "collide"])
    let new = try DebugClient(phone)

    #expect(try new.ask(DebugClient.launch([path(phone)])) == "OK")
    #expect(try new.ask("qLaunchSuccess")?.hasPrefix("E") == true)
    #expect(try old.packet() == "X09")
    #expect(try new.ask(DebugClient.launch([path(phone)])) == "OK")

    #expect(try new.ask("qLaunchSuccess") == "OK")
  }

  @Test func `H28: can accept a launch and never say another byte`() throws {
    let phone = try TestPhone()
    try phone.perform("launch-fault", ["kind": "mute"])
    let host = try DebugClient(phone)

    #expect(try host.ask("QStartNoAckMode") == "OK")
    #expect(try host.ask(DebugClient.launch([path(phone)])) == "OK")
    for packet in ["qLaunchSuccess", "Hc0", "D", "?"] { try host.send(packet) }

    #expect(throws: StreamError.timedOut) { try host.packet(by: .after(.milliseconds(100))) }
  }

  @Test func `H28: can stay silent on a launch, or hang up`() throws {
    let phone = try TestPhone()
    try phone.perform("launch-fault", ["kind": "silent"])
    let mute = try DebugClient(phone)
    try mute.send("QStartNoAckMode")
    #expect(try mute.packet() == "OK")
    try mute.send(DebugClient.launch([path(phone)]))
    #expect(throws: StreamError.timedOut) { try mute.packet(by: .after(.milliseconds(100))) }
    try phone.perform("launch-fault", ["kind": "lost"])
    let lost = try DebugClient(phone)

    #expect(try lost.ask(DebugClient.launch([path(phone)])) == nil)
  }

  @Test(arguments: [
    ("A", "E0b"), ("A5,0,41", "E0b"), ("A2,1,41", "E0b"), ("A2,0,4", "E0b"), ("A2,0,zz", "E0b"),
    ("QEnvironmentHexEncoded:3d", "E0b"), ("QEnvironmentHexEncoded:x", "E0b"),
    ("qLaunchSuccess", "ENo process was launched"),
    ("D", "E04"), ("c", "E04"), ("qC", "E04"), ("k", "X09"), ("vAttach;zz", "E96"), ("vFlash", ""), ("m0,8", ""),
  ])
  func `answers what makes no sense without harm`(packet: String, answer: String) throws {
    let host = try DebugClient(try TestPhone())

    #expect(try host.ask(packet) == answer)
    #expect(try host.ask("Hc0") == "OK")
  }

  @Test func `drops a host whose packet never ends`() throws {
    let host = try DebugClient(try TestPhone())

    let socket = host.service.socket
    let writer = Worker(name: "test writer") {
      try? socket.write([UInt8](repeating: UInt8(ascii: "$"), count: 2 << 20), by: .after(.seconds(10)))
    }

    #expect(host.service.worker.join(by: .after(.seconds(10))))
    host.service.socket.close()
    #expect(writer.join(by: .after(.seconds(10))))
  }
}
