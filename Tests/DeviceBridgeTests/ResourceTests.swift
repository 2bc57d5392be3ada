import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `lanes in number` {
  @Test func `visit fifty phones side by side`() async throws {
    let bench = try Bench(phones: 50)
    let phones = try await bench.listed()

    let errors = await withTaskGroup { group in
      for phone in phones {
        group.addTask { [mux = bench.mux] in
          let lane = PhoneLane(phone, mux: mux)
          defer { lane.close() }
          return await lane.facts(by: .patient).error
        }
      }
      return await group.reduce(into: [PhoneError?]()) { $0.append($1) }
    }

    #expect(errors.count == 50)
    #expect(errors.compactMap(\.self).isEmpty)
  }

  // Threads and descriptors are the process's own: these run in one of their own.

  @Test func `leave no descriptor and no thread behind after two hundred calls`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("16.7")
      let lane = try await bench.lane()
      bench.fleet.phones[0].ports.listen(8130) { socket in
        _ = try? socket.read(max: 1024, by: .patient)
        try? socket.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), by: .patient)
      }
      func round() async throws {
        #expect(await lane.facts(by: .patient).error == nil)
        let request = DoorRequest(port: 8130, method: "GET", target: "/", deadline: .patient)
        #expect(await lane.request(request).response?.status == 200)
        #expect(await lane.lock(by: .patient).state == .unlocked)
        try await lane.connect(port: 8130, by: .patient).close()
      }
      for _ in 0..<5 { try await round() }
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for _ in 0..<50 { try await round() }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
    }
  }

  @Test func `leave nothing behind when their calls are cut and they are closed`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("16.7")
      let first = try await bench.lane()
      _ = await first.facts(by: .patient)
      first.close()
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for request in ["QueryType", "GetValue", "StartSession", "TLS"] {
        try bench.do("lockdown-fault", ["kind": "hang", "request": request])
        for _ in 0..<3 {
          let lane = try await bench.lane()
          _ = await lane.facts(by: .after(.milliseconds(50)))
          if request == "TLS" { lane.close() }
        }
        try bench.do("lockdown-fault", ["clear": "yes"])
      }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
    }
  }

  @Test func `H14: a watch leaves nothing behind however often the mux hangs up`() async {
    await #expect(processExitsWith: .success) {
      let hangUps = Guarded(0)
      let mux = try FakeMux { socket in
        guard FakeMux.request(on: socket) != nil else { return }
        FakeMux.send(FakeMux.result(0), on: socket)
        hangUps.with { $0 += 1 }
      }
      let watch = MuxWatch(mux.address, pauses: [.milliseconds(1)])
      #expect(await eventually { hangUps.with { $0 } >= 2 })
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)
      let before = hangUps.with { $0 }

      #expect(await eventually { hangUps.with { $0 } >= before + 50 })

      #expect(await eventually { Resources.threads <= threads + 1 && Resources.descriptors <= descriptors + 1 })
      watch.stop()
      #expect(await eventually { Resources.threads < threads })
    }
  }

  @Test func `H36: make thousands of door requests with few descriptors, though the phone never closes`() async {
    await #expect(processExitsWith: .success) {
      let calls = Rounds.many ? 5000 : 500
      var limit = rlimit(rlim_cur: 256, rlim_max: 256)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let bench = try Bench("16.7")
      bench.fleet.phones[0].ports.listen(8130) { socket in
        _ = try? socket.read(max: 1024, by: .patient)
        try? socket.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), by: .patient)
        // Open until the host closes it.
        _ = try? socket.read(max: 1, by: .patient)
      }
      let lane = try await bench.lane()
      var early = 0
      for call in 1...calls {
        let request = DoorRequest(port: 8130, method: "GET", target: "/", deadline: .patient)
        #expect(await lane.request(request).response?.status == 200, "call \(call)")
        if call == 10 {
          await Resources.settle()
          early = Resources.descriptors
        }
      }
      #expect(await eventually { Resources.descriptors <= early + 5 })
    }
  }

  @Test func `H36: say that this host is out of descriptors, and blame no phone`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("16.7")
      let lane = try await bench.lane()
      var limit = rlimit(rlim_cur: 128, rlim_max: 128)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      // The phone shares this process: what its threads are about to close would be free for the lane.
      await Resources.settle()
      while open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 {}

      let facts = await lane.facts(by: .patient)
      let answer = await lane.request(
        DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .patient))

      if case .host(EMFILE, _) = facts.error {} else { Issue.record("\(String(describing: facts.error))") }
      if case .unreachable(.host(EMFILE, _)) = answer.ending {} else { Issue.record("\(answer.ending)") }
      #expect(facts.trust == .unknown)
    }
  }

  @Test func `are refused connections that the C library can't wait on, rather than the process ended`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("16.7")
      let lane = try await bench.lane()
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(4096, limit.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var taken: [Int32] = []
      while (taken.last ?? 0) < FD_SETSIZE { taken.append(open("/dev/null", O_RDONLY | O_CLOEXEC)) }

      let crowded = await lane.facts(by: .patient)
      for fd in taken { close(fd) }
      let free = await lane.facts(by: .patient)

      if case .host(EMFILE, _) = crowded.error {} else { Issue.record("\(String(describing: crowded.error))") }
      #expect(free.error == nil)
    }
  }
}
