import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `fleetctl forward` {
  struct Signal: CustomTestStringConvertible, Sendable {
    var number: Int32
    var code: Int32
    var testDescription: String { "\(code)" }
  }

  @Test(arguments: [Signal(number: SIGINT, code: 130), Signal(number: SIGTERM, code: 143)])
  func `prints where it listens, carries requests, and ends on a signal`(_ signal: Signal) async throws {
    let phones = try TestPhones()
    let child = Fleetctl.start(["forward", phones.udid(1), "0:8127"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 1 })
    let line = try #require(child.output.lines.first)
    #expect(line.hasPrefix("127.0.0.1:") && line.hasSuffix(" -> \(phones.udid(1)):8127"))
    let port = try #require(UInt16(line.dropFirst(10).prefix { $0 != " " }))

    #expect(try await hello(port).hasPrefix("HTTP/1.1 200"))
    child.signal(signal.number)

    #expect(await child.ending(within: .seconds(2)) == .exited(signal.code))
    #expect(child.output.err.isEmpty)
  }

  @Test func `prints objects with --json, one a port`() async throws {
    let phones = try TestPhones()
    let child = Fleetctl.start(
      ["forward", phones.udid(1), "0:8127", "0:22", "--json", "--bind", "127.0.0.1"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 2 })
    let objects = child.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    child.signal(SIGTERM)
    _ = await child.ending()

    #expect(objects.map { $0["device_port"]?.int } == [8127, 22])
    #expect(objects.allSatisfy { $0["udid"]?.string == phones.udid(1) && $0["address"] == "127.0.0.1" })
    #expect(objects.allSatisfy { ($0["local_port"]?.int ?? 0) > 0 && $0["body"] == .null })
  }

  @Test func `H41: a port that is taken is host trouble, named with its holder`() async throws {
    let phones = try TestPhones()
    let stranger = try Listener(.tcp(host: "127.0.0.1", port: 0))
    guard case .tcp(_, let port) = stranger.address else { return }

    let done = await phones.run("forward", phones.udid(1), "0:8127", "\(port):8127")

    #expect(done.code == 3)
    #expect(done.output.out.isEmpty)
    #expect(done.output.err.contains("127.0.0.1:\(port) is taken: ") && done.output.err.contains("\(getpid())"))
    #expect(done.output.err.contains("fleetctl forward \(phones.udid(1)) 0:8127 0:8127"))
  }

  @Test(arguments: [["8100:8127", "8100:22"], ["8100"], ["8100:0"], [":1"], ["1:2:3"], ["65536:1"], ["a:b"], ["+1:2"]])
  func `H41: wrong ports, or one twice, are wrong usage before anything is asked`(_ ports: [String]) async {
    // Nothing listens there: whoever asked it would end with 3.
    let done = await Fleetctl.run(["forward", "hall", "--mux", "/nonexistent/mux"] + ports)

    #expect(done.code == 2)
    #expect(done.output.out.isEmpty)
  }

  @Test func `takes numeric addresses to listen on, and says what it means to open more than this machine`()
    async throws
  {
    let phones = try TestPhones()
    let word = await phones.run("forward", phones.udid(1), "0:8127", "--bind", "all")
    let foreign = await phones.run("forward", phones.udid(1), "0:8127", "--bind", "192.0.2.1")
    #expect(word.code == 2)
    #expect(foreign.code == 3 && foreign.output.err.contains("192.0.2.1"))

    let child = Fleetctl.start(
      ["forward", phones.udid(1), "0:8127", "--bind", "0.0.0.0"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 1 })
    child.signal(SIGTERM)
    _ = await child.ending()

    #expect(child.output.err.contains("whoever reaches this machine"))
  }

  @Test func `needs the phone at its cable when it begins, and keeps the port when it leaves later`() async throws {
    let phones = try TestPhones(2)
    try phones.fleet.perform("detach", on: "2")
    let absent = await phones.run("forward", phones.udid(2), "0:8127")
    // No configuration names it, so it is not known at all.
    #expect(absent.code == 2)

    let child = Fleetctl.start(["forward", phones.udid(1), "0:8127"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 1 })
    let port = try #require(UInt16(child.output.lines[0].dropFirst(10).prefix { $0 != " " }))
    try phones.fleet.perform("detach", on: "1")
    #expect(await child.prints { $0.err.contains("is not on the bus") })
    try phones.fleet.perform("attach", on: "1")
    #expect(await child.prints { $0.err.contains("is reachable again") })

    #expect(try await hello(port).hasPrefix("HTTP/1.1 200"))
    child.signal(SIGTERM)
    #expect(await child.ending() == .exited(143))
  }

  @Test func `H43: is not killed by clients that disappear, nor by a reader of its output that has gone`() async throws
  {
    let phones = try TestPhones()
    phones.fleet.phones[0].ports.listen(9000) { socket in
      while (try? socket.write([UInt8](repeating: 0, count: 1 << 16), by: .after(.seconds(10)))) != nil {}
    }
    let child = Fleetctl.start(["forward", phones.udid(1), "0:9000", "0:8127"], environment: phones.environment)
    #expect(await child.prints { $0.lines.count == 2 })
    let ports = child.output.lines.compactMap { UInt16($0.dropFirst(10).prefix { $0 != " " }) }
    for _ in 0..<5 {
      let client = try Socket.connect(to: .tcp(host: "127.0.0.1", port: ports[0]), by: .after(.seconds(10)))
      _ = try client.read(max: 1 << 16, by: .after(.seconds(10)))
      client.reset()
    }
    try phones.fleet.perform("mux-quit", on: "1", ["for": "1ms"])
    await phones.asked("Listen", times: 2)

    #expect(try await hello(ports[1]).hasPrefix("HTTP/1.1 200"))
    child.signal(SIGTERM)
    #expect(await child.ending() == .exited(143))

    let unread = await phones.run("forward", phones.udid(1), "0:8127", stdout: .pipeNobodyReads)
    #expect(unread.ending == .exited(3) && unread.output.err.isEmpty)
  }

  /// One request to the door, and what comes back until the end.
  private func hello(_ port: UInt16) async throws -> String {
    let client = try Socket.connect(to: .tcp(host: "127.0.0.1", port: port), by: .after(.seconds(10)))
    try client.write(
      Array("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8), by: .after(.seconds(10)))
    return await onWorker {
      var bytes: [UInt8] = []
      while let part = try? client.read(max: 4096, by: .after(.seconds(10))), !part.isEmpty { bytes += part }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
