import Testing
import Transport
import Wire

@testable import VirtualPhone

private let proxy = "com.apple.mobile.diagnostics_relay"

@Suite struct `a service at fault` {
  /// A started service whose fault is that kind, and the answer to its start.
  private func start(_ fault: [String: String]) throws -> (TestFleet, answer: Plist) {
    let test = try TestFleet(ios: ["16.7"])
    try test.fleet.perform("service-fault", on: "1", fault.merging(["service": proxy]) { own, _ in own })
    return (test, try test.session().ask("StartService", ["Service": .string(proxy)]))
  }

  private func dial(_ test: TestFleet, _ answer: Plist) throws -> LockdownHost {
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })
    return LockdownHost(try test.mux().connected(1, port: port), keeping: test)
  }

  private func open(_ fault: [String: String]) throws -> LockdownHost {
    let (test, answer) = try start(fault)
    let service = try dial(test, answer)
    try service.startTLS(try test.record())
    return service
  }

  @Test func `hangs: it takes the request and never answers`() throws {
    let service = try open(["kind": "hang"])

    try service.send("All")

    #expect(throws: StreamError.timedOut) { try service.stream.read(max: 1, by: .after(.milliseconds(50))) }
  }

  @Test func `closes before it has said anything`() throws {
    let service = try open(["kind": "close"])

    #expect(service.isEnded())
  }

  @Test func `says garbage once, of the right length, and goes on`() throws {
    let service = try open(["kind": "garbage"])

    #expect(throws: (any Error).self) { try service.ask("All") }
    #expect(try service.ask("All")["Status"] == "Success")
  }

  @Test func `ends in the middle of its first answer`() throws {
    let service = try open(["kind": "half"])

    try service.send("All")
    let size = try ServiceFrame.payloadSize(try service.stream.read(exactly: 4, by: .after(soon)), limit: 1 << 20)

    #expect(throws: StreamError.self) { try service.stream.read(exactly: size, by: .after(soon)) }
  }

  @Test func `drips, in the phone's own time`() throws {
    let test = try TestFleet(ios: ["16.7"], scale: 10_000)
    try test.fleet.perform("service-fault", on: "1", ["service": proxy, "kind": "drip"])
    let before = test.first.clock.now
    let answer = try test.session().ask("StartService", ["Service": .string(proxy)])
    let service = try dial(test, answer)
    try service.startTLS(try test.record())

    #expect(try service.ask("All")["Status"] == "Success")
    #expect(test.first.clock.now - before > .seconds(20))
  }

  @Test func `stops in its handshake`() throws {
    let (test, answer) = try start(["kind": "tls-hang"])
    let service = try dial(test, answer)
    let record = try test.record()

    #expect(throws: StreamError.timedOut) { try service.startTLS(record, by: .after(.milliseconds(50))) }
  }

  @Test func `is refused with any token, and only so often`() throws {
    let (test, answer) = try start(["kind": "refuse", "error": "ServiceLimit", "count": "1"])

    #expect(answer["Error"] == "ServiceLimit")
    #expect(try test.session().ask("StartService", ["Service": .string(proxy)])["Port"] != nil)
  }

  @Test func `has a port on which nobody listens`() throws {
    let (test, answer) = try start(["kind": "no-port"])
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })

    #expect(try test.mux().result(MuxHost.connect(1, port: port)) == 3)
  }

  @Test func `speaks in clear where its start says so`() throws {
    let (test, answer) = try start(["kind": "clear"])

    #expect(answer["EnableServiceSSL"] == nil)
    #expect(try dial(test, answer).ask("All")["Status"] == "Success")
  }

  @Test func `is one of the phone's services, and all of them if none is named`() throws {
    let test = try TestFleet()
    #expect(throws: ActionError.self) {
      try test.fleet.perform("service-fault", on: "1", ["service": "com.apple.mobile.diagnostics"])
    }

    try test.fleet.perform("service-fault", on: "1", ["kind": "refuse"])
    let refused = try test.session().ask("StartService", ["Service": .string(proxy)])
    try test.fleet.perform("service-fault", on: "1", ["clear": "yes"])

    #expect(refused["Error"] == "InvalidService")
    #expect(try test.session().ask("StartService", ["Service": .string(proxy)])["Port"] != nil)
  }
}

@Suite struct `H27: debugserver's names` {
  private static let secure = "com.apple.debugserver.DVTSecureSocketProxy"
  private static let old = "com.apple.debugserver"

  /// What StartService says to a name: `ssl`, `clear` or the error.
  private func word(_ test: TestFleet, _ name: String) throws -> String? {
    let answer = try test.session().ask("StartService", ["Service": .string(name)])
    if answer["Port"] == nil { return answer["Error"]?.string }
    return answer["EnableServiceSSL"] == true ? "ssl" : "clear"
  }

  @Test(arguments: [
    ("both", "ssl", "ssl"), ("secure", "ssl", "InvalidService"), ("old-clear", "InvalidService", "clear"),
    ("old", "InvalidService", "ssl"),
  ])
  func `answer in each of the reported forms`(form: String, secure: String, old: String) throws {
    let test = try TestFleet(ios: ["16.7"])

    try test.fleet.perform("debugserver-as", on: "1", ["form": form])

    #expect(try word(test, Self.secure) == secure)
    #expect(try word(test, Self.old) == old)
  }

  @Test func `without SSL is gdb's protocol from the first byte`() throws {
    let test = try TestFleet(ios: ["16.7"])
    try test.fleet.perform("debugserver-as", on: "1", ["form": "old-clear"])
    let answer = try test.session().ask("StartService", ["Service": .string(Self.old)])
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })
    let socket = try test.mux().connected(1, port: port)

    try socket.write(GDBPacket.encode("QStartNoAckMode"), by: .after(soon))

    #expect(try socket.read(exactly: 7, by: .after(soon)) == Array("+".utf8) + GDBPacket.encode("OK"))
  }
}
