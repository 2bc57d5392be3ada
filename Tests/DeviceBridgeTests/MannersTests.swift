@testable import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a mux with a short queue` {
  /// All ask at once; how each failed.
  private func failures(_ count: Int, _ ask: @escaping @Sendable (Int) throws(PhoneError) -> Void) async -> [PhoneError]
  {
    await withTaskGroup(of: PhoneError?.self) { group in
      for index in 0..<count {
        group.addTask {
          do throws(PhoneError) {
            try await Blocking.run("caller") { () throws(PhoneError) in try ask(index) }
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
    }
  }

  @Test func `answers sixty-four questions that come at once`() async throws {
    let bench = try Bench(phones: 4)
    try bench.do("mux-manners", ["as": "real"])
    let mux = bench.mux

    let failures = await failures(64) { _ throws(PhoneError) in
      _ = try Mux(address: mux).list(by: .patient)
    }

    #expect(failures.isEmpty, "\(failures)")
  }

  @Test func `serves the bridge while strangers crowd it out`() async throws {
    let bench = try Bench(phones: 4)
    try bench.do("mux-manners", ["as": "real"])
    let isOver = Guarded(false)
    guard case .unix(let path) = bench.mux else { throw Trouble("no path") }
    let crowd = (0..<4).map { _ in
      Worker(name: "stranger") {
        while !isOver.with({ $0 }) {
          let sockets = (0..<8).map { _ in Self.knock(path) }
          for fd in sockets where fd >= 0 { close(fd) }
        }
      }
    }
    let lanes = try await (1...4).asyncMap { try await bench.lane($0) }

    for lane in lanes {
      for _ in 0..<10 { #expect(await lane.facts(by: .patient).error == nil) }
      try await lane.connect(port: 8127, by: .patient).close()
    }

    isOver.with { $0 = true }
    for worker in crowd { worker.join(by: .patient) }
    for lane in lanes { lane.close() }
  }

  /// A connect that waits for nothing, as libusbmuxd's does.
  private static func knock(_ path: String) -> Int32 {
    let fd = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return fd
  }

  @Test func `that shows a phone only after looking at it says nothing of one it hides`() async throws {
    let bench = try Bench("16.7", "17.6")
    try bench.do("detach")
    try bench.do("attach", ["listed": "no"])

    let phones = try await bench.listed()

    #expect(phones.map(\.udid) == [bench.fleet.phones[1].udid])
    #expect(PhoneError.absent(phones[0].udid).sentence.contains("replug it"))
  }
}

extension Sequence {
  fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async throws -> [T] {
    var results: [T] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}

@Suite struct `a phone that leaves in the middle` {
  @Test(arguments: ["QueryType", "StartSession", "TLS"])
  func `H15: is gone, also where the daemon notices a little later, in under two seconds`(_ request: String)
    async throws
  {
    let bench = try Bench("16.7", "17.6")
    try bench.do("lockdown-fault", ["kind": "close", "request": request])
    let (sick, sound) = (try await bench.lane(1), try await bench.lane(2))
    let unplugger = Worker(name: "cable") {
      let deadline = Deadline.patient
      while bench.connects(to: 62078) == 0, !deadline.hasPassed { _ = Latch().wait(until: .after(.milliseconds(2))) }
      _ = Latch().wait(until: .after(.milliseconds(150)))
      try? bench.do("detach")
    }

    let facts = await sick.facts(by: .patient)

    #expect(unplugger.join(by: .patient))
    #expect(facts.error == .absent(sick.udid))
    #expect(await sound.facts(by: .patient).error == nil)
  }

  @Test func `H16: is reached under its next number, and is no refusal while it is away`() async throws {
    let bench = try Bench("16.7", "17.6")
    let lane = try await bench.lane(1)
    try await lane.connect(port: 8127, by: .patient).close()

    try bench.do("detach")
    let away = await #expect(throws: PhoneError.self) { try await lane.connect(port: 8127, by: .patient) }
    try bench.do("attach")
    try await lane.connect(port: 8127, by: .patient).close()

    #expect(away == .absent(lane.udid))
  }

  @Test func `is gone and not refusing when its cable is pulled while the daemon asks it`() async throws {
    let udid = UDID("00008101-000A1B2C3D4E001E")
    let asked = Guarded(false)
    let mux = try FakeMux { socket in
      while let request = FakeMux.request(on: socket) {
        if request["MessageType"]?.string == "Connect" {
          asked.with { $0 = true }
          FakeMux.send(FakeMux.result(3), on: socket)
        } else {
          let isGone = asked.with { $0 }
          FakeMux.send(["DeviceList": isGone ? [] : [FakeMux.entry(1, udid.description)]], on: socket)
        }
      }
    }
    let lane = PhoneLane(
      ListedPhone(udid: udid, serial: udid.description, deviceID: 1, transport: .usb, alsoNetwork: false),
      mux: mux.address)

    await #expect(throws: PhoneError.absent(udid)) { try await lane.connect(port: 8127, by: .patient) }
  }
}

@Suite struct `TLS with a phone` {
  @Test(arguments: ["hello", "flight", "finished"])
  func `H21: that breaks names the versions tried, and no record changes`(_ step: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("tls-fault", ["kind": "close", "step": step])
    let lane = try await bench.lane()

    let error = await lane.facts(by: .patient).error

    guard case .tls = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.sentence.contains("1.0 to 1.3") == true)
    for writing in ["SavePairRecord", "DeletePairRecord"] {
      #expect(bench.count("mux-request") { $0["request"] == .string(writing) } == 0)
    }
  }

  @Test func `H21: of which it offers only 1.0 opens, or fails as TLS`() async throws {
    let bench = try Bench("16.7")
    try bench.do("tls-fault", ["kind": "tls10"])

    let facts = try await bench.lane().facts(by: .patient)

    if case .tls = facts.error {} else { #expect(facts.trust == .trusted) }
    #expect(bench.count("mux-request") { $0["request"] == "DeletePairRecord" } == 0)
  }

  @Test(arguments: ["hello", "flight", "finished", "after"], ["session", "services"])
  func `that hangs ends at the deadline`(_ step: String, _ place: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("tls-fault", ["kind": "hang", "step": step, "on": place])
    let lane = try await bench.lane()
    let start = ContinuousClock.now

    let error = await #expect(throws: PhoneError.self) {
      try await lane.app("com.example.kiosk", by: .after(.seconds(1)))
    }

    #expect(ContinuousClock.now - start < .seconds(6))
    if case .silent = error {} else { Issue.record("\(step) \(place): \(String(describing: error))") }
  }
}

@Suite struct `the functions before the libraries` {
  @Test func `are those that the dynamic linker finds first`() {
    #expect(Interposition.isInForce)
  }
}
