import FoundationEssentials
import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

/// What this process holds now.
struct Holding {
  let threads: Int
  let descriptors: Int
  let kilobytes: Int

  init() throws {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    func field(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
    threads = field("Threads")
    kilobytes = field("VmRSS")
    descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  /// This process's share of the processors so far, in seconds: a busy machine does not add to it.
  static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

@Suite struct `a large fleet` {
  @Test(arguments: MuxManners.allCases)
  func `of 200 phones is ready within five seconds of work and 300 MiB`(manners: MuxManners) async throws {
    let (before, began) = (try Holding(), Holding.processorSeconds)

    let (after, listed) = try await onWorker {
      let test = try TestFleet(phones: 200, ios: PhonePreset.all.map(\.ios), manners: manners)
      let listed = test.lists(200)
      return (try Holding(), listed)
    }

    #expect(listed)
    #expect(Holding.processorSeconds - began < 5)
    #expect(after.kilobytes - before.kilobytes < 300 << 10)
  }

  @Test func `holds no more after 10,000 connects than before`() async throws {
    let test = try TestFleet(phones: 10, ios: PhonePreset.all.map(\.ios))

    let (before, after) = try await onWorker {
      func connect(_ index: Int) throws {
        let host = try test.mux()
        try #require(try host.result(MuxHost.connect(Int64(1 + index % 10), port: LockdownServer.port)) == 0)
      }
      for index in 0..<100 { try connect(index) }
      let before = try Holding()
      for index in 0..<10_000 { try connect(index) }
      // The last ones' threads may be on their way out.
      _ = holds(within: .seconds(100)) { ((try? Holding().threads) ?? 0) <= before.threads + 2 }
      return (before, try Holding())
    }

    #expect(after.threads <= before.threads + 4)
    #expect(after.descriptors <= before.descriptors + 4)
  }

  @Test func `holds no more after 200 replugs and 200 restarts of its mux than before`() async throws {
    let test = try TestFleet(phones: 4, manners: .real)

    let (before, after) = try await onWorker {
      func round(_ index: Int) throws {
        let phone = "\(1 + index % 4)"
        try test.fleet.perform("detach", on: phone)
        try test.fleet.perform("attach", on: phone)
        try test.fleet.perform("mux-quit", on: "1", ["for": "0s", "apart": "0s"])
        _ = holds(within: soon) { (try? test.mux()) != nil }
      }
      for index in 0..<10 { try round(index) }
      _ = test.lists(4)
      let before = try Holding()
      for index in 0..<200 { try round(index) }
      _ = test.lists(4)
      _ = holds { (try? Holding()).map(isAsBefore) ?? false }
      return (before, try Holding())

      // A restart in mid-handshake costs a phone its record, as with the real daemon: it then waits to be trusted, on one
      // connection (two descriptors, two threads). A leak would show in hundreds.
      func isAsBefore(_ now: Holding) -> Bool {
        now.threads <= before.threads + 4 + 2 * 4 && now.descriptors <= before.descriptors + 4 + 2 * 4
      }
    }

    #expect(after.threads <= before.threads + 4 + 2 * 4)
    #expect(after.descriptors <= before.descriptors + 4 + 2 * 4)
  }

  @Test func `has all the descriptors that the system gives`() throws {
    let test = try TestFleet()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)

    #expect(limit.rlim_cur == limit.rlim_max)
    #expect(try test.numbers() == [1])
  }
}
