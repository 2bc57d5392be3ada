import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `the phone behind a forward` {
  @Test func `H16: comes back under another number; the local port stays, and requests meanwhile end as gone`()
    async throws
  {
    let bench = try Bench("16.7", "16.7")
    bench.serveOnce()
    let ends = try ForwardBench(bench)
    let phone = bench.fleet.phones[0]
    #expect(try await ends.call() == Array("hello\n".utf8))
    let number = phone.state.with { $0.deviceID }

    try bench.do("detach")
    #expect(await ends.turnsAway())
    #expect(await ends.tells(.trouble(.absent(phone.udid))))
    try bench.do("attach")
    #expect(await ends.tells(.back))

    #expect(phone.state.with { $0.deviceID } != number)
    #expect(try await ends.call() == Array("hello\n".utf8))
    #expect(ends.events.with { $0 } == [.trouble(.absent(phone.udid)), .back])
  }

  @Test func `H16: a number that the daemon does not know any more is gone, not refused`() async throws {
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let listening = Guarded<Socket?>(nil)
    let mux = try FakeMux { socket in
      while let request = FakeMux.request(on: socket) {
        if request["MessageType"] == "Listen" {
          listening.with { $0 = socket }
          FakeMux.send(FakeMux.result(0), on: socket)
          FakeMux.send(FakeMux.entry(3, udid.description), on: socket)
        } else if request["DeviceID"]?.int == 7 {
          FakeMux.send(FakeMux.result(0), on: socket)
          _ = socket.line()
          try? socket.write(Array("seven".utf8), by: .patient)
          return
        } else {
          FakeMux.send(FakeMux.result(2), on: socket)
        }
      }
    }
    let ends = try ForwardBench(to: udid, at: mux.address)

    #expect(await ends.turnsAway())
    #expect(await ends.tells(.trouble(.absent(udid))))
    #expect(ends.events.with { $0 } == [.trouble(.absent(udid))])
    let socket = try #require(listening.with { $0 })
    FakeMux.send(["MessageType": "Detached", "DeviceID": 3], on: socket)
    FakeMux.send(FakeMux.entry(7, udid.description), on: socket)
    #expect(await ends.tells(.back))

    #expect(try await ends.call() == Array("seven".utf8))
  }

  @Test func `H10: gets no byte of a client once the number may be another phone's`() async throws {
    let (udid, other) = (UDID("00008101-000A1B2C3D4E001E"), UDID("00008110-00112233445566AA"))
    let listening = Guarded<Socket?>(nil)
    let (lives, reached) = (Guarded(0), Guarded<[UInt8]?>(nil))
    let mux = try FakeMux { socket in
      while let request = FakeMux.request(on: socket) {
        guard request["MessageType"] == "Connect" else {
          let life = lives.with {
            $0 += 1
            return $0
          }
          listening.with { $0 = socket }
          FakeMux.send(FakeMux.result(0), on: socket)
          FakeMux.send(FakeMux.entry(1, (life == 1 ? udid : other).description), on: socket)
          continue
        }
        // The daemon has started anew between the question and the answer: number 1 is the other phone now.
        listening.with { $0?.shutdown() }
        FakeMux.send(FakeMux.result(0), on: socket)
        let bytes = (try? socket.read(max: 1024, by: .patient)) ?? []
        reached.with { $0 = bytes }
        return
      }
    }
    let ends = try ForwardBench(to: udid, at: mux.address)

    #expect(await ends.turnsAway())

    #expect(await eventually { reached.with { $0 } != nil })
    #expect(reached.with { $0 } == [])
    #expect(await ends.tells(.trouble(.absent(udid))))
    #expect(await ends.turnsAway())
  }

  @Test func `is found again after the daemon has gone and come back`() async throws {
    let bench = try Bench("16.7", "16.7")
    bench.serveOnce()
    let ends = try ForwardBench(bench)
    #expect(try await ends.call() == Array("hello\n".utf8))

    try bench.do("mux-quit", ["for": "1s"])
    #expect(await ends.turnsAway())
    #expect(await ends.tells(.back))

    #expect(try await ends.call() == Array("hello\n".utf8))
    #expect(ends.events.with { $0.count } == 2)
  }

  @Test func `stays reachable when the daemon only stops reporting`() async throws {
    let bench = try Bench("16.7")
    bench.serveEcho()
    let ends = try ForwardBench(bench)
    let client = try ends.client()
    try client.write(Array("before\n".utf8), by: .patient)
    #expect(client.line() == "before\n")

    try bench.do("mux-drop")
    #expect(await eventually { bench.count("mux-request") { $0["request"] == "Listen" } == 2 })
    // A connection that is taken for a lost phone's is ended after a second.
    #expect(throws: StreamError.timedOut) { try client.read(max: 1, by: .after(.milliseconds(1200))) }

    try client.write(Array("after\n".utf8), by: .patient)
    #expect(client.line() == "after\n")
    #expect(ends.events.with { $0 } == [])
  }

  @Test func `is reached by cable, whatever else the daemon lists of it`() async throws {
    let bench = try Bench("16.7")
    try bench.do("list-as", ["network": "before"])
    bench.serveOnce()
    let ends = try ForwardBench(bench)

    #expect(try await ends.call() == Array("hello\n".utf8))
    try bench.do("list-as", ["network": "only"])

    #expect(await ends.turnsAway())
  }
}

@Suite(.serialized) struct `the local ports of a forward` {
  @Test func `H41: a port that is taken is told with its holder, and none of the others is left open`() throws {
    let bench = try Bench("16.7")
    let stranger = try Listener(.tcp(host: "127.0.0.1", port: 0))
    let free = try Listener(.tcp(host: "127.0.0.1", port: 0))
    let (takenAddress, freeAddress) = (stranger.address, free.address)
    free.close()
    guard case .tcp(_, let taken) = takenAddress, case .tcp(_, let other) = freeAddress else { return }
    let ports = [other, taken].map { Forward.Port(local: $0, device: 8130) }

    let error = #expect(throws: ForwardError.self) {
      _ = try Forward(bench.fleet.phones[0].udid, ports, mux: bench.mux) { _ in }
    }

    guard case .taken(let address, let holder?) = error else {
      Issue.record("not taken: \(String(describing: error))")
      return
    }
    #expect(address == takenAddress)
    #expect(holder.pid == Int(getpid()))
    #expect(error?.sentence.contains("\(taken)") == true && error?.sentence.contains("\(getpid())") == true)
    #expect(throws: StreamError.system(ECONNREFUSED)) { try Socket.connect(to: freeAddress, by: .patient) }
  }

  @Test func `H41: port 0 is told as the port that the system chose`() throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench, [8130, 8131])

    #expect(Set(ends.forward.addresses.map(\.description)).count == 2)
    #expect(!ends.forward.addresses.contains(.tcp(host: "127.0.0.1", port: 0)))
  }

  @Test func `H42: answer on the loopback address alone, unless another is asked for`() async throws {
    let bench = try Bench("16.7")
    bench.serveEcho()
    // All of 127/8 is this machine's, so this is a second address of it.
    func second(_ ends: ForwardBench) throws -> Socket {
      guard case .tcp(_, let port) = ends.forward.addresses[0] else { throw Trouble("no port") }
      return try Socket.connect(to: .tcp(host: "127.0.0.2", port: port), by: .patient)
    }

    let closed = try ForwardBench(bench)
    #expect(throws: StreamError.system(ECONNREFUSED)) { try second(closed) }

    let open = try ForwardBench(bench, on: "0.0.0.0")
    let client = try second(open)
    try client.write(Array("hello\n".utf8), by: .patient)
    #expect(client.line() == "hello\n")
  }

  @Test func `are closed when the forward ends, and its connections with them`() async throws {
    let bench = try Bench("16.7")
    bench.serveEcho()
    let ends = try ForwardBench(bench)
    let client = try ends.client()
    try client.write(Array("hello\n".utf8), by: .patient)
    #expect(client.line() == "hello\n")

    #expect(ends.forward.stop(by: .after(.seconds(2))))

    let rest = try? await client.rest()
    #expect(rest == nil || rest == [])
    #expect(throws: StreamError.system(ECONNREFUSED)) { try ends.client() }
  }
}
