import FoundationEssentials
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a phone's list of services` {
  private static let developer = [
    CoreDeviceService.apps, .deviceInfo, .screenCapture,
  ].map(\.rawValue)

  private func developerServices(_ host: TunnelHost) throws -> [String] {
    try host.services().keys.filter(Self.developer.contains).sorted()
  }

  @Test func `has the developer's services only with the image mounted and developer mode on`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)

    let all = try developerServices(host)
    try phone.perform("unmount")
    let unmounted = try developerServices(host)
    try phone.perform("mount")
    try phone.perform("developer-mode", ["on": "no"])
    let off = try developerServices(host)

    #expect(all == Self.developer && unmounted.isEmpty && off.isEmpty)
    #expect(try host.services()["com.apple.mobile.mobile_image_mounter.shim.remote"] != nil)
    #expect(try host.services()[CoreDeviceService.lockdown.rawValue] != nil)
  }

  @Test func `keeps a service's port for as long as the tunnel lives`() throws {
    let host = try TunnelHost.to(try TestPhone(ios: "18.5"))

    #expect(try host.services() == host.services())
  }

  @Test func `is pushed without being asked for`() throws {
    let host = try TunnelHost.to(try TestPhone(ios: "18.5"))

    #expect(try host.discover(as: nil).phone.services.count > 10)
  }

  @Test func `says which version answers lists in pieces`() throws {
    func features(_ ios: String) throws -> RSDService? {
      try TunnelHost.to(try TestPhone(ios: ios)).services()[CoreDeviceService.apps.rawValue]
    }

    #expect(try features("18.5")?.offers(.streamProcesses) == false)
    #expect(try features("26.1")?.offers(.streamProcesses) == true)
    #expect(try features("26.1")?.offers(.launchApplication) == true)
  }

  @Test func `has no deviceinfo from 27 on`() throws {
    let host = try TunnelHost.to(try TestPhone(ios: "27.2"))

    #expect(try developerServices(host) == [CoreDeviceService.apps, .screenCapture].map(\.rawValue))
  }

  @Test func `goes to one peer at a time, the last one`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)
    let first = try host.discover().connection

    let second = try host.discover().connection

    #expect(throws: RemoteXPCError.reset(stream: 1, code: 5)) { try first.receive(by: .after(soon)) }
    #expect(throws: RemoteXPCError.timedOut) { try second.receive(by: .after(.milliseconds(50))) }
    #expect(phone.events("rsd-connected").map { $0.details["replaced"] } == [false, true])
  }

  @Test(arguments: [("26.1", true), ("27.2", false)])
  func `is closed from 27.2 on when another host speaks in the same tunnel`(ios: String, serves: Bool) throws {
    let phone = try TestPhone(ios: ios)
    let host = try TunnelHost.to(phone)
    let uuid = UUID()
    func answers(_ phone: RSDHandshake, in host: TunnelHost) throws -> Bool {
      let port = try #require(phone.services[CoreDeviceService.apps.rawValue]?.port)
      return (try? host.open(port: port).call(.listProcesses).output) != nil
    }
    #expect(try answers(try host.discover(as: uuid).phone, in: host))
    #expect(try answers(try host.discover(as: uuid).phone, in: host))

    let (connection, other) = try host.discover(as: UUID())

    #expect(holds { phone.events("rsd-host").count == 3 })
    #expect(try answers(other, in: host) == serves)
    #expect(connection.isOpen)
    #expect(phone.events("rsd-services-closed").count == (serves ? 0 : 1))
    // Another tunnel is another peer.
    let another = try TunnelHost.to(phone)
    #expect(try answers(try another.discover().phone, in: another))
  }

  @Test func `can lack a service, or name one that nobody serves`() throws {
    let phone = try TestPhone(ios: "26.1")
    try phone.perform("remote-service", ["service": CoreDeviceService.apps.rawValue, "as": "missing"])
    try phone.perform("remote-service", ["service": CoreDeviceService.deviceInfo.rawValue, "as": "refusing"])
    let host = try TunnelHost.to(phone)

    #expect(try developerServices(host) == [CoreDeviceService.deviceInfo, .screenCapture].map(\.rawValue))
    #expect(throws: StreamError.system(111)) { try host.connect(CoreDeviceService.deviceInfo.rawValue) }
    try phone.perform("remote-service", ["clear": "yes"])
    #expect(try developerServices(host) == Self.developer)
  }
}

@Suite struct `lockdown's services in a tunnel` {
  @Test func `begin with two answers to their greeting, and end without one`() throws {
    let host = try TunnelHost.to(try TestPhone(ios: "18.5"))
    let client = try host.greeted("com.apple.mobile.installation_proxy.shim.remote")
    let silent = try host.greeted("com.apple.mobile.installation_proxy.shim.remote")

    #expect(try client.checkIn() == [["Request": "RSDCheckin"], ["Request": "StartService"]])

    let found = try client.ask(["Command": "Lookup", "ClientOptions": ["BundleIDs": ["com.example.kiosk"]]])
    #expect(found["LookupResult"]?["com.example.kiosk"] != nil)
    #expect(throws: StreamError.closed) { try silent.ask(["Command": "Lookup"]) }
  }

  @Test func `are the ones that lockdown starts, the old developer services aside`() throws {
    let names = try TunnelHost.to(try TestPhone(ios: "18.5")).services().keys

    for name in [
      "afc", "crashreportcopymobile", "mobile.notification_proxy", "mobile.mobile_image_mounter", "os_trace_relay",
      "syslog_relay", "mobile.diagnostics_relay", "springboardservices", "amfi.lockdown",
    ] {
      #expect(names.contains("com.apple.\(name).shim.remote"))
    }
    #expect(!names.contains { $0.contains("debugserver") || $0.contains("screenshotr") || $0.contains("insecure") })
  }

  @Test func `tell what happens on the phone`() throws {
    let phone = try TestPhone(ios: "18.5")
    let client = try TunnelHost.to(phone).shim("com.apple.mobile.notification_proxy")
    try client.send(["Command": "ObserveNotification", "Name": "com.apple.springboard.lockstate"])
    #expect(holds { phone.phone.notifications.observerCount == 1 })
    // What was observed is known once the phone has taken the next message in.
    try client.send(["Command": "PostNotification", "Name": "mine"])
    #expect(holds { phone.events("notification-posted").count == 1 })

    try phone.perform("lock")

    #expect(try client.receive()["Name"] == "com.apple.springboard.lockstate")
  }

  @Test(arguments: [("refuse", "ServiceProhibited"), ("close", nil), ("hang", nil)])
  func `have the faults that they have under lockdown`(kind: String, error: String?) throws {
    let phone = try TestPhone(ios: "18.5")
    let name = "com.apple.mobile.installation_proxy"
    try phone.perform("service-fault", ["service": name, "kind": kind, "error": "ServiceProhibited"])
    let client = try TunnelHost.to(phone).greeted("\(name).shim.remote")

    let answers = try client.checkIn()

    #expect(answers.last?["Error"]?.string == error)
    if kind == "hang" {
      try client.send(["Command": "Browse"])
      #expect(throws: StreamError.timedOut) { try client.stream.read(max: 1, by: .after(.milliseconds(50))) }
    } else {
      #expect(try client.stream.read(max: 1, by: .after(soon)).isEmpty)
    }
  }

  @Test func `include lockdown itself, which trusts whoever has a tunnel`() async throws {
    let test = try TestFleet(ios: ["18.5"])

    let answers = try await onWorker {
      let client = try test.tunnel().greeted(CoreDeviceService.lockdown.rawValue)
      try client.checkIn()
      return try [
        ["Request": "QueryType"], ["Request": "GetValue"],
        ["Request": "GetValue", "Domain": "com.apple.security.mac.amfi", "Key": "DeveloperModeStatus"],
        ["Request": "Pair"], ["Request": "StartSession", "HostID": "x"],
        ["Request": "StartService", "Service": "com.apple.afc"],
      ].map { try client.ask(.dictionary($0)) }
    }

    #expect(answers[0] == ["Request": "QueryType", "Type": "com.apple.mobile.lockdown"])
    #expect(answers[1]["Value"]?["UniqueDeviceID"]?.string == test.first.udid.description)
    #expect(answers[1]["Value"]?["SerialNumber"] != nil)
    #expect(answers[2]["Value"] == true)
    #expect(answers[3]["Error"] == "PairingProhibitedOverThisConnection")
    #expect(answers[4]["Error"] == "SessionActive" && answers[5]["Error"] == "ServiceProhibited")
  }
}
