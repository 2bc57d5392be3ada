import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `diagnostics_relay` {
  private func relay(_ phone: TestPhone) throws -> ServiceClient {
    try phone.service("com.apple.mobile.diagnostics_relay")
  }

  @Test func `says goodbye and ends`() throws {
    let relay = try relay(try TestPhone())

    #expect(try relay.ask(["Request": "Goodbye"]) == ["Status": "Success"])
    #expect(relay.ends())
  }

  @Test func `tells what it does not know, and goes on`() throws {
    let relay = try relay(try TestPhone())

    #expect(try relay.ask(["Request": "Dance"]) == ["Status": "UnknownRequest"])
    #expect(try relay.ask([:]) == ["Status": "UnknownRequest"])
    #expect(try relay.ask(["Request": "Sleep"]) == ["Status": "Success"])
  }

  @Test func `restarts the phone, which is back after a while`() throws {
    let phone = try TestPhone()
    let relay = try relay(phone)

    #expect(try relay.ask(["Request": "Restart", "WaitForDisconnect": true]) == ["Status": "Success"])
    #expect(relay.ends())
    #expect(phone.clock.awaitSleeper(until: VirtualPhone.restartTime))
    let away = phone.phone.state.with { $0.attached }
    phone.clock.advance(by: VirtualPhone.restartTime)

    #expect(!away)
    #expect(holds { phone.phone.state.with { $0.attached } })
    #expect(phone.app.processes.isEmpty)
    #expect(phone.phone.state.with { !$0.unlockedSinceBoot })
  }

  @Test func `switches the phone off for good`() throws {
    let phone = try TestPhone()
    let relay = try relay(phone)

    #expect(try relay.ask(["Request": "Shutdown"]) == ["Status": "Success"])

    #expect(relay.ends())
    #expect(phone.phone.state.with { !$0.attached })
    #expect(!phone.clock.hasSleepers)
  }

  @Test func `tells of the battery as it is now`() throws {
    let phone = try TestPhone()
    let relay = try relay(phone)
    try phone.perform("battery", ["percent": "41", "temperature": "33.5", "cycles": "900", "charging": "no"])

    let gauge = try relay.ask(["Request": "GasGauge"])?["Diagnostics"]
    let registry = try relay.ask(["Request": "IORegistry", "EntryClass": "IOPMPowerSource"])
    let all = try relay.ask(["Request": "All"])?["Diagnostics"]

    #expect(gauge?.dictionary?.keys.sorted() == ["GasGauge"])
    #expect(gauge?["GasGauge"]?["CycleCount"] == 900)
    let battery = registry?["Diagnostics"]?["IORegistry"]
    #expect(battery?["CurrentCapacity"] == 41)
    #expect(battery?["Temperature"] == 3350)
    #expect(battery?["IsCharging"] == false)
    #expect(all?.dictionary?.keys.sorted() == ["GasGauge", "NAND", "WiFi"])
  }

  @Test func `has no registry entry of another name, and empty planes`() throws {
    let relay = try relay(try TestPhone())

    #expect(try relay.ask(["Request": "IORegistry", "EntryName": "moon"]) == ["Status": "Failure"])
    #expect(
      try relay.ask(["Request": "IORegistry", "CurrentPlane": "IOService"]) == [
        "Diagnostics": ["IORegistry": [:]], "Status": "Success",
      ])
  }

  @Test(arguments: [("16.7", "iPhone12,1"), ("17.6", nil), ("26.1", nil)] as [(String, String?)])
  func `answers MobileGestalt up to 17.3 and calls it deprecated from 17.4 on`(ios: String, type: String?) throws {
    let relay = try relay(try TestPhone(ios: ios))

    let answer = try relay.ask(["Request": "MobileGestalt", "MobileGestaltKeys": ["ProductType", "Unknown"]])

    let gestalt = answer?["Diagnostics"]?["MobileGestalt"]
    #expect(gestalt?["Status"] == (type == nil ? "MobileGestaltDeprecated" : "Success"))
    #expect(gestalt?["ProductType"]?.string == type)
    #expect(gestalt?["Unknown"] == nil)
  }
}

@Suite struct `os_trace_relay` {
  @Test func `lists what runs behind one byte that means nothing`() throws {
    let phone = try TestPhone()
    let relay = try phone.service("com.apple.os_trace_relay")

    func names() throws -> Set<String> {
      try relay.send(["Request": "PidList"])
      #expect(try relay.socket.read(exactly: 1, by: .after(.seconds(5))) == [1])
      let answer = try #require(try relay.receive())
      #expect(answer["Status"] == "RequestSuccessful")
      return Set((answer["Payload"]?.dictionary ?? [:]).values.compactMap { $0["ProcessName"]?.string })
    }

    #expect(try names().isSuperset(of: ["Kiosk", "SpringBoard", "lockdownd"]))
    try phone.perform("kill-app")
    #expect(try !names().contains("Kiosk"))
  }

  @Test func `refuses what it does not stream, and ends`() throws {
    let relay = try (try TestPhone()).service("com.apple.os_trace_relay")

    #expect(try relay.ask(["Request": "CreateArchive"]) == ["Status": "RequestFailed"])
    #expect(relay.ends())
  }
}
