import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the heartbeat` {
  @Test func `calls again some time after each answer`() throws {
    let phone = try TestPhone()
    let host = try phone.service("com.apple.mobile.heartbeat")

    let first = try host.receive()
    #expect(phone.phone.timers.isAtWork)
    try host.send(["Command": "Polo"])
    #expect(phone.clock.awaitSleeper(until: .seconds(10)))
    phone.clock.advance(by: .seconds(10))

    #expect(first == ["Command": "Marco", "Interval": 10])
    #expect(try host.receive()?["Command"] == "Marco")
  }

  @Test func `ends the connection of a host that stays silent`() throws {
    let phone = try TestPhone()
    let host = try phone.service("com.apple.mobile.heartbeat")
    #expect(try host.receive() != nil)
    #expect(phone.clock.awaitSleeper(until: .seconds(15)))

    phone.clock.advance(by: .seconds(15))

    #expect(host.ends())
    #expect(phone.events("heartbeat-lost").count == 1)
  }

  @Test func `leaves nothing due when the host goes`() throws {
    let phone = try TestPhone()
    let host = try phone.service("com.apple.mobile.heartbeat")
    #expect(try host.receive() != nil)

    host.socket.close()

    #expect(host.worker.join(by: .after(.seconds(10))))
    #expect(holds { !phone.phone.timers.isAtWork })
  }
}

@Suite struct `the small services` {
  @Test func `tell how the phone is held, its icons and its wallpaper`() throws {
    let host = try TestPhone().service("com.apple.springboardservices")

    #expect(try host.ask(["command": "getInterfaceOrientation"]) == ["interfaceOrientation": 1])
    let icon = try host.ask(["command": "getIconPNGData", "bundleId": "com.example.kiosk"])?["pngData"]?.bytes
    #expect(PNGReader(icon ?? [])?.width == 60)
    #expect(try host.ask(["command": "getIconPNGData", "bundleId": "com.nobody"]) == [:])
    let wallpaper = try host.ask(["command": "getHomeScreenWallpaperPNGData"])?["pngData"]?.bytes
    #expect(PNGReader(wallpaper ?? []) != nil)
    let pages = try host.ask(["command": "getIconState", "formatVersion": "2"])?.array
    #expect(pages?.count == 2)
    try host.send(["command": "setIconState", "iconState": []])
    #expect(try host.ask(["command": "getHomeScreenIconMetrics"])?["homeScreenIconColumns"] != nil)
    #expect(try host.ask(["command": "dance"])?["Error"] == "UnknownCommand")
  }

  @Test func `have no provisioning profile and take none`() throws {
    let host = try TestPhone().service("com.apple.misagent")

    #expect(try host.ask(["MessageType": "CopyAll", "ProfileType": "Provisioning"]) == ["Payload": [], "Status": 0])
    #expect(try host.ask(["MessageType": "Install", "Profile": .data([1])])?["Status"]?.int ?? 0 != 0)
  }

  @Test func `switch developer mode on only without a passcode, over a restart`() throws {
    let phone = try TestPhone()
    try phone.perform("developer-mode", ["on": "no"])
    let host = try phone.service("com.apple.amfi.lockdown")

    #expect(try host.ask(["action": 0]) == ["success": true])
    #expect(try host.ask(["action": 1]) == ["Error": "Device has a passcode set"])
    try phone.perform("passcode", ["set": "no"])
    #expect(try host.ask(["action": 1]) == ["success": true])
    #expect(host.ends())
    #expect(phone.phone.state.with { !$0.developerMode })
    let after = try phone.service("com.apple.amfi.lockdown")
    #expect(try after.ask(["action": 2]) == ["success": true])

    #expect(phone.phone.state.with { $0.developerMode })
    #expect(try TestPhone(ios: "15.8").service("com.apple.amfi.lockdown").ask(["action": 0])?["Error"] != nil)
  }

  @Test func `move the phone to a place, as pictures show, and back`() throws {
    let phone = try TestPhone()
    func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    func set(_ latitude: String, _ longitude: String) -> [UInt8] {
      big(0) + big(UInt32(latitude.utf8.count)) + Array(latitude.utf8) + big(UInt32(longitude.utf8.count))
        + Array(longitude.utf8)
    }
    let host = try phone.service("com.apple.dt.simulatelocation")

    try host.socket.write(set("10.5", "-20.25"), by: .after(.seconds(5)))
    #expect(holds { phone.events("location-simulated").count == 1 })
    let door = try phone.door()
    try door.send("POST /photo?camera=front")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))
    phone.clock.advance(by: .milliseconds(600))
    let latitude = EXIFReader(try door.response().body)?.latitude
    try host.socket.write(big(1), by: .after(.seconds(5)))
    #expect(holds { phone.events("location-reset").count == 1 })

    #expect(latitude == 10.5)
    #expect(phone.app.model.with { $0.camera.place } == .example)
    for nonsense in [set("91", "0"), set("a", "b"), big(0) + big(1 << 31), big(7)] {
      let other = try phone.service("com.apple.dt.simulatelocation")
      try other.socket.write(nonsense, by: .after(.seconds(5)))
      #expect(other.ends())
    }
  }
}
