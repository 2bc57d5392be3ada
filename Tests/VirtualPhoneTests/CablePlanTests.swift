import Testing
import Transport
import Wire

@testable import VirtualPhone

/// The requests that hosts see, in a fleet whose time passes a thousand times as fast.
private func fastFleet(_ manners: MuxManners = .plain) throws -> TestFleet {
  try TestFleet(manners: manners, scale: 1000)
}

@Suite struct `a cable` {
  private func deviceID(_ test: TestFleet) -> UInt32 { test.first.state.with { $0.deviceID } }

  @Test func `is pulled at its moment, and plugged in again at the next`() throws {
    let test = try fastFleet()
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    _ = try listener.receivePlist()
    let before = test.first.clock.now

    try test.fleet.perform("detach", on: "1", ["after": "20s", "for": "40s"])
    let events = try (0..<2).map { _ in try listener.receivePlist()["MessageType"]?.string }

    #expect(events == ["Detached", "Attached"])
    #expect(test.first.clock.now - before >= .seconds(60))
    #expect(deviceID(test) == 2)
  }

  @Test func `plugged in by hand forgets what was due to happen to it`() throws {
    let test = try TestFleet()
    try test.fleet.perform("detach", on: "1", ["after": "1h"])
    #expect(test.first.plans.with { $0.count } == 1)

    try test.fleet.perform("attach", on: "1")

    #expect(test.first.plans.with { $0.isEmpty })
    #expect(!test.first.timers.isAtWork || holds { !test.first.timers.isAtWork })
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  /// - Returns: false when the phone left somewhere in between.
  private static func converses(_ test: TestFleet, _ record: Plist) -> Bool {
    do {
      let host = try test.mux()
      let id = test.first.state.with { Int64($0.deviceID) }
      guard try host.result(MuxHost.connect(id, port: LockdownServer.port)) == 0 else { return false }
      let lockdown = LockdownHost(host.socket)
      let answer = try lockdown.ask("StartSession", ["HostID": record["HostID"] ?? ""])
      guard answer["EnableSessionSSL"] == true else { return false }
      try lockdown.startTLS(record)
      return try lockdown.value("DeviceName") != nil
    } catch {
      return false
    }
  }

  @Test func `pulled in the middle of anything ends it`() async throws {
    let test = try TestFleet(scale: 10)

    let rounds = try await onWorker { () -> Int in
      for round in 0..<40 {
        // Sooner or later in the conversation; wherever that is, it ends, and the next one is whole.
        try test.fleet.perform("detach", on: "1", ["after": "\(round * 5)ms"])
        let record = try test.record()
        while Self.converses(test, record) {}
        try test.fleet.perform("attach", on: "1")
        _ = try test.session().value("DeviceName")
      }
      return 40
    }

    #expect(rounds == 40)
    #expect(deviceID(test) == 41)
  }
}

@Suite struct `a phone on its own time` {
  @Test func `H44: reboots, is back locked, and is unlocked later`() throws {
    let test = try fastFleet()
    let before = test.first.clock.now

    try test.fleet.perform("reboot", on: "1", ["for": "40s", "unlock": "20s"])
    let wasGone = !test.first.state.with { $0.attached } || test.first.clock.now - before > .seconds(40)

    #expect(wasGone)
    #expect(holds(within: soon) { test.first.state.with { $0.unlockedSinceBoot && $0.attached } })
    #expect(test.first.clock.now - before >= .seconds(60))
    #expect(try test.session().value("PasswordProtected") == false)
  }

  @Test func `is not unlocked by a plan that a reboot has replaced`() throws {
    let test = try TestFleet()
    try test.fleet.perform("reboot", on: "1", ["unlock": "1h"])

    try test.fleet.perform("reboot", on: "1")

    #expect(test.first.plans.with { $0[.unlock] } == nil)
    #expect(test.first.state.with { $0.locked })
  }

  @Test func `H23: is trusted when somebody taps at last, leaves, and is back under a new number`() throws {
    let test = try fastFleet()
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    _ = try listener.receivePlist()

    try test.fleet.perform("trust", on: "1", ["mode": "ask", "after": "25s", "replug": "1s"])
    let events = try (0..<2).map { _ in try listener.receivePlist() }

    #expect(events[0] == ["MessageType": "Detached", "DeviceID": 1])
    #expect(events[1]["DeviceID"] == 2)
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  @Test func `tells whoever showed the dialog when somebody has tapped`() throws {
    let test = try fastFleet()
    let heard = Latch()
    let observation = test.first.notifications.observe { name in
      if name == "com.apple.mobile.lockdown.request_pair" { heard.open() }
    }
    defer { observation.end() }

    try test.fleet.perform("trust", on: "1", ["mode": "ask", "after": "2s"])

    #expect(heard.wait(until: .after(soon)))
    #expect(test.first.state.with { $0.trust } == .accept)
  }

  @Test func `is not trusted by a tap that came after a denial`() throws {
    let test = try TestFleet()
    try test.fleet.perform("trust", on: "1", ["mode": "ask", "after": "1h"])

    try test.fleet.perform("trust", on: "1", ["mode": "deny"])

    #expect(test.first.plans.with { $0.isEmpty })
  }

  @Test func `H23: with the real daemon is listed while the dialog shows, and Paired once it is over`() throws {
    let test = try TestFleet(trusted: false, manners: .real, scale: 100)
    try test.fleet.perform("trust", on: "1", ["mode": "ask", "after": "25s"])
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])

    let events = try (0..<2).map { _ in try listener.receivePlist()["MessageType"]?.string }

    #expect(events == ["Attached", "Paired"])
  }
}

@Suite struct `a network entry` {
  @Test(arguments: zip(["a", "b", "c", "d", "e", "f"], [16, 128, 28, 0, 300, -1]))
  func `H58: has its address in each reported layout`(layout: String, size: Int) throws {
    let test = try TestFleet()

    try test.fleet.perform("list-as", on: "1", ["network": "after", "address": layout])
    let devices = try #require(try test.mux().ask(["MessageType": "ListDevices"])["DeviceList"]?.array)
    let address = devices[1]["Properties"]?["NetworkAddress"]

    #expect(devices.count == 2)
    #expect((address?.bytes?.count ?? -1) == size)
    let starts: [String: [UInt8]] = [
      "a": [0x10, 2, 0, 0, 192, 0, 2, 7], "b": [2, 0, 0, 0, 192, 0, 2, 7], "c": [0x1C, 0x1E],
    ]
    if let start = starts[layout] { #expect(address?.bytes?.starts(with: start) == true) }
  }

  @Test func `H58: in another layout is another entry`() throws {
    let test = try TestFleet()
    try test.fleet.perform("list-as", on: "1", ["network": "after"])
    let listener = try test.mux()
    _ = try listener.ask(["MessageType": "Listen"])
    for _ in 0..<2 { _ = try listener.receivePlist() }

    try test.fleet.perform("list-as", on: "1", ["network": "after", "address": "e"])

    #expect(try listener.receivePlist() == ["MessageType": "Detached", "DeviceID": 2])
    #expect(try listener.receivePlist()["DeviceID"] == 3)
  }
}
