import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a forwarded connection` {
  @Test func `carries bytes both ways, for as long as both ends like`() async throws {
    let bench = try Bench("16.7")
    bench.serveEcho()
    let ends = try ForwardBench(bench)
    let client = try ends.client()

    for word in ["one\n", "two\n", "three\n"] {
      try client.write(Array(word.utf8), by: .patient)
      #expect(client.line() == word)
    }
  }

  @Test(arguments: ["plain", "real"])
  func `H37: a client that has finished sending gets all of the late answer, then the end`(_ manners: String)
    async throws
  {
    let bench = try Bench("16.7")
    // The real daemon resets what is half closed.
    try bench.do("mux-manners", ["as": manners])
    let ends = try ForwardBench(bench)
    let answer = pattern(64 << 10)
    let heardOfIt = Guarded(false)
    bench.serve { socket in
      guard socket.line() == "hello\n" else { return }
      // usbmuxd would end everything if it heard of it, so nothing may come of the client's end.
      if case let more? = try? socket.read(max: 1, by: .after(.milliseconds(500))), more.isEmpty {
        heardOfIt.with { $0 = true }
      }
      try? socket.write(answer, by: .patient)
    }

    #expect(try await ends.call("hello\n", endsSending: true) == answer)
    #expect(!heardOfIt.with { $0 })
  }

  @Test func `H37: the phone's end is the client's within a second`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let ended = Guarded<ContinuousClock.Instant?>(nil)
    bench.serve { socket in
      try? socket.write(Array("bye".utf8), by: .patient)
      // Before it ends, or the client could have seen that sooner than it is written down.
      ended.with { $0 = .now }
      socket.close()
    }
    let client = try ends.client()

    #expect(try await client.rest() == Array("bye".utf8))

    let moment = try #require(ended.with { $0 })
    #expect(ContinuousClock.now - moment < .seconds(1))
  }

  @Test func `lets the phone go when the client has closed for good, though the phone would stay`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let left = Latch()
    bench.serve { socket in
      while case let line = socket.line(), !line.isEmpty { try? socket.write(Array(line.utf8), by: .patient) }
      left.open()
    }
    let client = try ends.client()
    try client.write(Array("hello\n".utf8), by: .patient)
    #expect(client.line() == "hello\n")

    client.close()

    #expect(await eventually(by: .after(.seconds(5))) { left.wait(until: .after(.zero)) })
  }

  @Test func `brings a reset by the client to the phone's side`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let left = Latch()
    bench.serve { socket in
      while case let line = socket.line(), !line.isEmpty { try? socket.write(Array(line.utf8), by: .patient) }
      left.open()
    }
    let client = try ends.client()
    try client.write(Array("hello\n".utf8), by: .patient)
    #expect(client.line() == "hello\n")

    client.reset()

    #expect(await eventually(by: .after(.seconds(5))) { left.wait(until: .after(.zero)) })
  }

  @Test func `is no orderly end when the cable is pulled in the middle`() async throws {
    let bench = try Bench("16.7")
    bench.serve { socket in
      try? socket.write(Array("the first half".utf8), by: .patient)
      while let more = try? socket.read(max: 1, by: .patient), !more.isEmpty {}
    }
    let ends = try ForwardBench(bench)
    let client = try ends.client()
    #expect(try client.read(exactly: 14, by: .patient) == Array("the first half".utf8))

    try bench.do("detach")

    // Where the daemon's news comes after the end of its connection, the two can't be told apart.
    let rest = try? await client.rest()
    #expect(rest == nil || rest == [])
    #expect(await ends.tells(.trouble(.absent(bench.fleet.phones[0].udid))))
  }

  @Test func `brings the phone's reset to the client, after what had come before it`() async throws {
    // Over TCP, where a daemon can reset.
    let fleet = try VirtualFleet(VirtualFleet.Options(address: .tcp(host: "127.0.0.1", port: 0)))
    defer { fleet.stop() }
    let mux = try #require(MuxAddress(fleet.address.description))
    fleet.phones[0].ports.listen(ForwardBench.port) { socket in
      try? socket.write(Array("the first half".utf8), by: .patient)
      if socket.line() == "go on\n" { socket.reset() }
    }
    let ends = try ForwardBench(to: fleet.phones[0].udid, at: mux)
    let client = try ends.client()
    #expect(try client.read(exactly: 14, by: .patient) == Array("the first half".utf8))

    try client.write(Array("go on\n".utf8), by: .patient)

    await #expect(throws: StreamError.closed) { try await client.rest() }
  }

  @Test func `holds the phone back while the client does not read, and then delivers every byte`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let all = pattern(64 << 20)
    let written = Guarded(0)
    bench.serve { socket in
      for start in stride(from: 0, to: all.count, by: 1 << 16) {
        guard (try? socket.write(Array(all[start..<start + 1 << 16]), by: .patient)) != nil else { return }
        written.with { $0 = start + 1 << 16 }
      }
    }
    let client = try ends.client()
    await settle { written.with { $0 } }
    // What the kernel's buffers hold, and one pipe.
    #expect(written.with { $0 } < 24 << 20)

    #expect(try await client.rest() == all)
  }

  @Test func `holds the client back while the phone does not read, and then delivers every byte`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let all = pattern(64 << 20)
    let (reads, arrived) = (Latch(), Guarded(false))
    bench.serve { socket in
      guard reads.wait(until: .patient), let bytes = try? socket.read(exactly: all.count, by: .patient) else { return }
      let isWhole = bytes == all
      arrived.with { $0 = isWhole }
    }
    let client = try ends.client()
    let written = Guarded(0)
    let writer = Worker(name: "writer") {
      for start in stride(from: 0, to: all.count, by: 1 << 16) {
        guard (try? client.write(Array(all[start..<start + 1 << 16]), by: .patient)) != nil else { return }
        written.with { $0 = start + 1 << 16 }
      }
    }
    await settle { written.with { $0 } }
    #expect(written.with { $0 } < 24 << 20)

    reads.open()

    #expect(await eventually { arrived.with { $0 } })
    writer.join(by: .patient)
  }

  /// Waits until the count has not changed for half a second.
  private func settle(_ count: () -> Int) async {
    var (last, since) = (count(), ContinuousClock.now)
    _ = await eventually {
      if count() != last { (last, since) = (count(), .now) }
      return last > 0 && ContinuousClock.now - since > .milliseconds(500)
    }
  }
}

@Suite(.serialized) struct `clients of a forward` {
  @Test func `H43: one that resets while the phone streams does not disturb the others`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    bench.serve { socket in
      guard socket.line() == "stream\n" else {
        try? socket.write(Array("other\n".utf8), by: .patient)
        return
      }
      try? socket.write([UInt8](repeating: 0, count: 1 << 20), by: .patient)
    }

    for _ in 0..<10 {
      let client = try ends.client()
      try client.write(Array("stream\n".utf8), by: .patient)
      _ = try client.read(max: 1024, by: .patient)
      client.reset()
      #expect(try await ends.call() == Array("other\n".utf8))
    }
  }

  @Test func `beyond the limit wait until another has ended`() async throws {
    let bench = try Bench("16.7")
    bench.serveEcho()
    let ends = try ForwardBench(bench) { $0.connections = 2 }
    let (first, second, third) = (try ends.client(), try ends.client(), try ends.client())
    for client in [first, second] {
      try client.write(Array("a\n".utf8), by: .patient)
      #expect(client.line() == "a\n")
    }
    try third.write(Array("b\n".utf8), by: .patient)
    #expect(throws: StreamError.timedOut) { try third.read(max: 1, by: .after(.milliseconds(200))) }

    first.close()

    #expect(third.line() == "b\n")
    try second.write(Array("c\n".utf8), by: .patient)
    #expect(second.line() == "c\n")
  }

  @Test func `eighty at once all get through a daemon with the real one's backlog`() async throws {
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let mux = try FakeMux(backlog: 5) { socket in
      while let request = FakeMux.request(on: socket) {
        FakeMux.send(FakeMux.result(0), on: socket)
        if request["MessageType"] == "Listen" {
          FakeMux.send(FakeMux.entry(1, udid.description), on: socket)
          continue
        }
        try? socket.write(Array(socket.line().utf8), by: .patient)
        return
      }
    }
    let ends = try ForwardBench(to: udid, at: mux.address)

    let answers = await withTaskGroup { group in
      for index in 0..<80 { group.addTask { try? await ends.call("\(index)\n") } }
      return await group.reduce(into: Set<String>()) { $0.insert(String(decoding: $1 ?? [], as: UTF8.self)) }
    }

    #expect(answers == Set((0..<80).map { "\($0)\n" }))
  }

  @Test func `are reset when nothing listens on the phone's port, which is told once`() async throws {
    let bench = try Bench("16.7")
    let ends = try ForwardBench(bench)
    let udid = bench.fleet.phones[0].udid
    let refused = Forward.Event.trouble(.refused(udid, port: ForwardBench.port))

    for _ in 0..<3 { #expect(await ends.turnsAway()) }
    #expect(await ends.tells(refused))
    bench.serveOnce()
    #expect(try await ends.call() == Array("hello\n".utf8))

    #expect(ends.events.with { $0 } == [refused])
  }

  @Test func `get through when the phone is slow to take connections, and do not hold each other up`() async throws {
    let bench = try Bench("16.7")
    bench.serveOnce()
    bench.serveOnce(8131)
    try bench.do("connect-delay", ["for": "2s", "port": "8130"])
    let ends = try ForwardBench(bench, [ForwardBench.port, 8131])
    let slow = try (0..<8).map { _ in try ends.client() }
    let quick = try ends.client(1)

    try quick.write(Array("quick\n".utf8), by: .patient)
    #expect(quick.line() == "quick\n")

    for client in slow {
      try client.write(Array("slow\n".utf8), by: .patient)
      #expect(client.line() == "slow\n")
    }
  }

  @Test func `are reset when the daemon does not connect them in time`() async throws {
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let mux = try FakeMux { socket in
      while let request = FakeMux.request(on: socket) {
        guard request["MessageType"] == "Listen" else { continue }
        FakeMux.send(FakeMux.result(0), on: socket)
        FakeMux.send(FakeMux.entry(1, udid.description), on: socket)
      }
    }
    let ends = try ForwardBench(to: udid, at: mux.address) { $0.connecting = .milliseconds(300) }

    let turnedAway = await withTaskGroup { group in
      for _ in 0..<10 { group.addTask { await ends.turnsAway() } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }

    #expect(turnedAway == 10)
    let step = "connecting to its port \(ForwardBench.port)"
    #expect(ends.events.with { $0 } == [.trouble(.silent(udid, step: step, limit: .milliseconds(300)))])
  }

  @Test func `leave no descriptor behind, however they end`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("16.7")
      bench.serveEcho()
      let ends = try ForwardBench(bench, [ForwardBench.port, 9])
      func round(_ index: Int) async throws {
        // The phone's port 9 refuses; its reset may come before connect has returned.
        if index % 5 == 4 {
          _ = try? ends.client(1)
          return
        }
        let client = try ends.client()
        defer { client.close() }
        try client.write(Array("hello\n".utf8), by: .patient)
        if index % 5 == 3 { client.endSending() }
        #expect(client.line() == "hello\n")
        if index % 5 == 2 { client.reset() }
      }
      for index in 0..<20 { try await round(index) }
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for index in 0..<1000 { try await round(index) }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
      #expect(ends.forward.stop(by: .patient))
    }
  }
}
