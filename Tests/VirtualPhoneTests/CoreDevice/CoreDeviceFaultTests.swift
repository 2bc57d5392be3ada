import FoundationEssentials
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a tunnel that goes wrong` {
  @Test(arguments: ["drop", "sleep", "garbage", "oversized", "shape"], ["handshake", "reply"])
  func `does so in its handshake`(kind: String, moment: String) throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("tunnel-fault", ["kind": kind, "when": moment, "count": "1"])
    let client = try phone.service(CoreDeviceService.tunnel)
    try client.socket.write(try #require(TunnelFrame.bytes(TunnelRequest(mtu: 1500).body)), by: .after(soon))

    var reader = TunnelFrameReader()
    var failure: (any Error)?
    while failure == nil {
      do {
        let patience = ["sleep", "oversized"].contains(kind) ? Duration.milliseconds(200) : soon
        let bytes = try client.socket.read(max: 4096, by: .after(patience))
        guard !bytes.isEmpty else { throw StreamError.closed }
        if let (body, _) = try reader.feed(bytes) { _ = try TunnelOffer(body) }
      } catch { failure = error }
    }

    switch kind {
    case "drop": #expect(failure as? StreamError == .closed)
    case "sleep", "oversized": #expect(failure as? StreamError == .timedOut)
    case "shape": #expect(failure as? TunnelError == .malformed("clientParameters.address") || failure is TunnelError)
    default: #expect(failure is TunnelError || failure as? StreamError == .closed)
    }
    #expect(phone.events("tunnel-opened").isEmpty)
    #expect(try !TunnelHost.to(phone).services().isEmpty)
  }

  @Test func `drops at once, in the middle of a message, or when somebody says so`() throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("tunnel-fault", ["kind": "drop", "count": "1"])
    let first = try TunnelHost.to(phone)
    #expect(first.ends())

    try phone.perform("tunnel-fault", ["kind": "drop", "bytes": "1500", "count": "1"])
    let second = try TunnelHost.to(phone)
    #expect(throws: (any Error).self) { try second.services() }
    #expect(second.ends())

    let third = try TunnelHost.to(phone)
    #expect(try !third.services().isEmpty)
    try phone.perform("tunnel-now")
    #expect(third.ends())
    #expect(holds { phone.phone.tunnels.with { $0.isEmpty } })
  }

  @Test func `falls asleep, and wakes`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)
    let apps = try host.service(.apps)

    try phone.perform("tunnel-now", ["kind": "sleep"])

    #expect(throws: RemoteXPCError.timedOut) { try apps.call(.listProcesses, by: .after(.milliseconds(200))) }
    #expect(!host.ends(within: .zero))
    try phone.perform("tunnel-now", ["kind": "wake"])
    #expect(try apps.call(.listProcesses).output != nil)
  }

  @Test func `cuts its packets at every byte, and still is a tunnel`() throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("tunnel-fault", ["kind": "drip"])

    #expect(try TunnelHost.to(phone).call(.listProcesses).output != nil)
  }

  @Test func `loses its step`() throws {
    let phone = try TestPhone(ios: "18.5")
    let host = try TunnelHost.to(phone)
    _ = try host.services()

    try phone.perform("tunnel-now", ["kind": "garbage"])

    #expect(throws: (any Error).self) { try host.services() }
    #expect(host.ends())
  }

  @Test func `carries packets of strangers, between whom somebody says`() throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("tunnel-fault", ["kind": "foreign", "count": "1"])
    let host = try TunnelHost.to(phone)
    #expect(try !host.services().isEmpty)
    let other = try TunnelHost.to(phone)

    try phone.perform("tunnel-now", ["to": other.offer.client.description])

    #expect(
      holds {
        host.strangers.contains { $0.destination == other.offer.client && $0.source == host.offer.server }
      })
    #expect(host.strangers.count > 2)
    #expect(host.interface.dropped > 2)
    #expect(try !other.services().isEmpty)
  }

  @Test func `is asked for in words that are known`() throws {
    let phone = try TestPhone(ios: "18.5")

    #expect(throws: ActionError.self) { try phone.perform("tunnel-now") }
    #expect(throws: ActionError.self) { try phone.perform("tunnel-fault", ["kind": "drup"]) }
    _ = try TunnelHost.to(phone)
    #expect(throws: ActionError.self) { try phone.perform("tunnel-now", ["to": "fd00::x"]) }
    try phone.perform("tunnel-fault", ["kind": "drop"])
    try phone.perform("tunnel-fault", ["clear": "yes"])
    #expect(try !TunnelHost.to(phone).services().isEmpty)
  }
}

@Suite struct `a CoreDevice call that goes wrong` {
  private func host(_ kind: String, _ more: [String: String] = [:]) throws -> (
    TestPhone, RemoteXPCConnection, TunnelHost
  ) {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("coredevice-fault", ["kind": kind, "call": "listprocesses"].merging(more) { $1 })
    let host = try TunnelHost.to(phone)
    return (phone, try host.service(.apps), host)
  }

  private static let little = Duration.milliseconds(200)

  @Test(arguments: ["silent", "mute", "stall", "stranger"])
  func `is never answered`(kind: String) throws {
    let (phone, apps, host) = try host(kind)

    #expect(throws: RemoteXPCError.timedOut) { try apps.call(.listProcesses, by: .after(Self.little)) }

    // Silent: the service has not even looked at it.
    #expect(holds { phone.events("coredevice-call").count == (kind == "silent" ? 0 : 1) })
    #expect(try host.call(.lockState).output != nil)
  }

  @Test(arguments: ["close", "half", "oversized", "garbage"])
  func `ends in an error, and the next connection is well`(kind: String) throws {
    let (phone, apps, host) = try host(kind, ["count": "1"])

    #expect(throws: RemoteXPCError.self) { try apps.call(.listProcesses, by: .after(soon)) }

    #expect(try host.call(.listProcesses).output != nil)
    #expect(phone.events("coredevice-fault").first?.details["kind"]?.string == kind)
  }

  @Test func `is answered byte by byte, and whole`() throws {
    let (_, apps, _host) = try host("drip")

    #expect(try apps.call(.listProcesses).output != nil)
    _ = _host
  }

  @Test(arguments: [("shape", "CoreDevice.output"), ("mistyped", "processTokens")])
  func `is answered in another shape`(kind: String, key: String) throws {
    let (_, apps, host) = try host(kind)

    #expect(throws: ShapeError(key)) {
      _ = try ProcessList(try #require(try apps.call(.listProcesses).output))
    }
    _ = host
  }

  @Test(arguments: [10, 10_000])
  func `is answered as deep as somebody wishes`(levels: Int) throws {
    let (_, apps, host) = try host("deep", ["levels": "\(levels)"])

    let outcome = Result { try apps.call(.listProcesses) }

    switch outcome {
    case .success(let reply):
      var lists = 0
      var inside = reply.output?.array
      while let list = inside {
        lists += 1
        inside = list.first?.array
      }
      #expect(lists == 10)
    case .failure(let error): #expect(error as? RemoteXPCError == .message(.tooDeep) && levels == 10_000)
    }
    _ = host
  }

  @Test func `is answered late, in the phone's time`() throws {
    let test = try TestFleet(ios: ["18.5"], scale: 100)
    try test.fleet.perform("coredevice-fault", on: "1", ["kind": "slow", "call": "listprocesses", "pause": "5s"])
    let apps = try test.tunnel().keeping { try $0.service(.apps) }
    let began = ContinuousClock.now

    #expect(try apps.0.call(.listProcesses).output != nil)

    #expect(ContinuousClock.now - began >= .milliseconds(50))
  }

  @Test func `is answered with an error of somebody's choice`() throws {
    let (_, apps, host) = try host("error", ["domain": "D", "code": "-7", "text": "no"])

    #expect(try apps.call(.listProcesses).error == ErrorChain(domain: "D", code: -7, description: "no"))
    _ = host
  }

  @Test(arguments: ["half", "shape", "garbage", "silent", "deep", "drip"])
  func `can be the list of services itself`(kind: String) throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("coredevice-fault", ["kind": kind, "call": "rsd", "count": "1"])
    let host = try TunnelHost.to(phone)
    let connection = try host.open(port: host.offer.rsdPort)

    let outcome = Result { () throws -> RSDHandshake in
      let patience = kind == "silent" ? Self.little : soon
      guard let body = try connection.receive(by: .after(patience))?.body else { throw StreamError.closed }
      return try RSDHandshake(body)
    }

    switch outcome {
    case .success(let list): #expect(kind == "drip" && !list.services.isEmpty)
    case .failure(let error):
      switch kind {
      case "silent": #expect(error as? RemoteXPCError == .timedOut)
      case "shape", "deep": #expect(error is ShapeError || error as? RemoteXPCError == .message(.tooDeep))
      default: #expect(error is RemoteXPCError || error as? StreamError == .closed)
      }
    }
    #expect(try !host.services().isEmpty)
  }

  @Test func `comes in pieces where the phone answers so`() throws {
    let phone = try TestPhone(ios: "18.5")
    try phone.perform("coredevice-as", ["streams": "yes"])
    let host = try TunnelHost.to(phone)
    let apps = try host.service(.apps)
    let input = StreamInput()

    try apps.send(CoreDeviceRequest(.streamProcesses, input: input.body).body, by: .after(soon))
    #expect(throws: RemoteXPCError.timedOut) { try apps.receive(by: .after(Self.little)) }
    let waiting = Worker(name: "test") {
      _ = try? apps.request(CoreDeviceRequest(.streamProcesses, input: input.body).body, by: .after(soon))
    }
    var elements: [XPCValue] = []
    var pushes = 0
    while let push = StreamPush(try #require(try apps.receive(by: .after(soon))?.body)) {
      #expect(push.channel == input.channel)
      pushes += 1
      guard case .elements(let part) = push.status else { break }
      elements += part
    }
    apps.close()
    waiting.join(by: .after(soon))

    #expect(pushes > 2)
    #expect(try ProcessList(elements: elements).processes.count == phone.phone.running.count + 1)
  }
}

extension TunnelHost {
  /// What the body makes of the tunnel, with the tunnel, which ends with its last reference.
  func keeping<Value>(_ body: (TunnelHost) throws -> Value) rethrows -> (Value, TunnelHost) { (try body(self), self) }
}
