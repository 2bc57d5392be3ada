import FoundationEssentials
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a phone's tunnel` {
  @Test(arguments: ["15.8", "16.7", "17.0"])
  func `is not there before 17.4`(ios: String) async throws {
    let test = try TestFleet(ios: [ios])

    let error = try await onWorker {
      try test.session().error("StartService", ["Service": .string(CoreDeviceService.tunnel)])
    }

    #expect(error == "InvalidService")
  }

  @Test(arguments: ["17.6", "18.5", "26.1", "27.2"])
  func `is opened by lockdown under TLS, and has the phone's services in it`(ios: String) async throws {
    let test = try TestFleet(ios: [ios])

    let phone = try await onWorker { try test.tunnel().discover().phone }

    #expect(phone.udid == test.first.udid && phone.osVersion == ios && phone.ecid == test.first.identity.ecid)
    #expect(phone.services[CoreDeviceService.apps.rawValue]?.usesRemoteXPC == true)
    #expect(phone.version == (ios == "17.6" ? 3 : ios == "18.5" ? 5 : 7))
    #expect(test.fleet.journal.entries().contains { $0.event == "tunnel-opened" })
  }

  @Test func `has addresses of its own each time, and several are open at once`() throws {
    let phone = try TestPhone(ios: "18.5")

    let tunnels = try (0..<3).map { _ in try TunnelHost.to(phone) }

    let networks = Set(tunnels.map { Array($0.offer.server.bytes.prefix(8)) })
    #expect(networks.count == 3 && networks.allSatisfy { $0[0] == 0xFD })
    #expect(tunnels.allSatisfy { $0.offer.client.bytes.prefix(8) == $0.offer.server.bytes.prefix(8) })
    #expect(try tunnels.map { try $0.services().isEmpty } == [false, false, false])
    #expect(phone.phone.tunnels.with { $0.count } == 3)
  }

  @Test(arguments: [(1280, 1280), (16_000, 16_000), (60_000, 16_000)])
  func `grants the host's MTU up to its own, in a reply that every host can read`(asked: Int, granted: Int) throws {
    let host = try TunnelHost.to(try TestPhone(ios: "18.5"), mtu: asked)

    #expect(host.offer.mtu == granted && host.offer.netmask == "ffff:ffff:ffff:ffff::")
    #expect(try #require(TunnelFrame.bytes(host.offer.body)).count - TunnelFrame.headerSize <= TunnelFrame.longestReply)
  }

  @Test func `does not mind what else the host's network says`() throws {
    let phone = try TestPhone(ios: "18.5")
    let socket = try phone.service(CoreDeviceService.tunnel).socket
    // A listener report to ff02::16, with the header that goes hop by hop.
    let local = try #require(IPv6Address("fe80::1")), routers = try #require(IPv6Address("ff02::16"))
    let report =
      IPv6Header(source: local, destination: routers, nextHeader: 0, payloadSize: 36).bytes
      + [58, 0, 5, 2, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 28)

    let host = try TunnelHost(on: socket, chatter: report + report)

    #expect(try !host.services().isEmpty)
    host.close()
    #expect(holds { phone.events("tunnel-closed").first?.details["dropped"] == 2 })
  }

  @Test func `ends with its connection, and so does all that is in it`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)
    let apps = try host.service(.apps)

    phone.phone.tunnels.with { $0 }.first?.drop("the test")

    #expect(host.ends())
    #expect(throws: RemoteXPCError.self) { try apps.call(.listProcesses) }
    #expect(holds { phone.phone.tunnels.with { $0.isEmpty } })
    #expect(holds { phone.events("tunnel-closed").first?.details["because"] == "the test" })
    #expect(try !TunnelHost.to(phone).services().isEmpty)
  }

  @Test(arguments: ["detach", "reboot", "trust"])
  func `ends when the phone goes, or trusts its hosts no more`(action: String) async throws {
    let test = try TestFleet(ios: ["18.5"])
    let host = try await onWorker { try test.tunnel() }

    try test.fleet.perform(action, on: "1", action == "trust" ? ["mode": "deny"] : [:])

    #expect(try await onWorker { host.ends() })
  }

  @Test(arguments: [
    "", "GET / HTTP/1.1\r\n\r\n", "CDTunnel\u{0}\u{2}{}", "CDTunnel\u{0}\u{4}null",
    "CDTunnel\u{0}\u{29}{\"type\":\"clientHandshakeRequest\",\"mtu\":12}",
  ])
  func `is not opened for a host that does not ask for it`(request: String) throws {
    let phone = try TestPhone(ios: "18.5")
    let client = try phone.service(CoreDeviceService.tunnel)

    try client.socket.write(Array(request.utf8), by: .after(soon))
    client.socket.endSending()

    #expect(client.ends())
    #expect(phone.events("tunnel-refused").count == 1 && phone.events("tunnel-opened").isEmpty)
  }

  @Test func `ends for a host whose packets are out of step`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)

    try host.stream.write([0x45, 0, 0, 20], by: .after(soon))

    #expect(host.ends())
    #expect(holds { phone.events("tunnel-closed").first?.details["because"]?.string?.contains("out of step") == true })
  }

  @Test func `has each packet in a write of its own`() throws {
    let writes = Writes()
    let pair = try Socket.pair()
    let address = try #require(IPv6Address("fd00::1"))
    let packet = StrayPacket(from: address, to: address).bytes
    let carrier = SpoiltCarrier(writes, pair.0, own: address, host: address, fault: nil)

    #expect(try (0..<3).map { _ in try carrier.writeNow(packet[...]) } == [60, 60, 60])

    #expect(writes.all.with { $0 } == [packet, packet, packet])
  }
}

@Suite(.serialized) struct `many tunnels` {
  @Test func `leave nothing behind, however they end`() async throws {
    let phone = try TestPhone(ios: "18.5")

    let (before, after) = try await onWorker {
      func round(_ index: Int) throws {
        let host = try TunnelHost.to(phone)
        let apps = try host.service(.apps)
        _ = try apps.call(.listProcesses)
        switch index % 3 {
        case 0: host.close()
        case 1: phone.phone.tunnels.with { $0 }.first?.drop("the test")
        default: apps.close()
        }
      }
      for index in 0..<12 { try round(index) }
      _ = holds { phone.phone.tunnels.with { $0.isEmpty } }
      let before = try Holding()
      for index in 0..<200 { try round(index) }
      _ = holds { phone.phone.tunnels.with { $0.isEmpty } && ((try? Holding().threads) ?? 0) <= before.threads + 2 }
      return (before, try Holding())
    }

    #expect(phone.events("tunnel-closed").count == 212)
    #expect(after.threads <= before.threads + 4)
    #expect(after.descriptors <= before.descriptors + 4)
  }

  @Test func `carry zeros where somebody wants to measure`() throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("bulk", ["port": "9100", "bytes": "3000000"])
    let host = try TunnelHost.to(phone)

    let stream = try host.interface.connect(port: 9100, by: .after(soon))
    var count = 0
    while case let bytes = try stream.read(max: 1 << 16, by: .after(soon)), !bytes.isEmpty { count += bytes.count }

    #expect(count == 3_000_000)
  }
}

@Suite struct `a host's packets` {
  @Test(arguments: [1, 2])
  func `are counted when they do not come one by one`(packets: Int) async throws {
    let test = try TestFleet(ios: ["18.5"])

    try await onWorker {
      let host = try test.tunnel()
      let packet = StrayPacket(from: host.offer.client, to: host.offer.client).bytes
      try host.stream.write(Array([[UInt8]](repeating: packet, count: packets).joined()), by: .after(soon))
      _ = try host.services()
      host.close()
    }

    let uneven = { test.fleet.journal.entries().last { $0.event == "tunnel-closed" }?.details["uneven_writes"]?.int }
    #expect(holds { uneven() == packets - 1 })
  }
}

/// Remembers what is written, write by write.
final class Writes: TunnelCarrier {
  let all = Guarded([[UInt8]]())

  var fd: Int32 { -1 }
  func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? { nil }
  func close() {}
  func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int {
    all.with { $0.append(Array(bytes)) }
    return bytes.count
  }
}

extension TestFleet {
  /// A tunnel as hosts open it: through the mux and lockdown.
  func tunnel(_ phone: VirtualPhone? = nil) throws -> TunnelHost {
    let phone = phone ?? first
    let answer = try session(phone).ask("StartService", ["Service": .string(CoreDeviceService.tunnel)])
    try #require(answer["EnableServiceSSL"] == true)
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })
    let id = phone.state.with { Int64($0.deviceID) }
    let host = LockdownHost(try mux().connected(id, port: port), keeping: self)
    try host.startTLS(try record(phone))
    return try TunnelHost(on: try #require(host.stream as? TLSStream))
  }
}
