@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

/// Counts hints as they come.
private final class Hints: Sendable {
  private let count = Guarded(0)
  private let ended = Guarded(false)

  init(_ watch: LockWatch) {
    let (hints, count, ended) = (watch.hints, count, ended)
    Task {
      for await _ in hints { count.with { $0 += 1 } }
      ended.with { $0 = true }
    }
  }

  func reach(_ number: Int) async -> Bool { await eventually { count.with { $0 } >= number } }
  func end() async -> Bool { await eventually { ended.with { $0 } } }
  var number: Int { count.with { $0 } }
}

@Suite struct `a watch of the lock` {
  @Test func `hints at each change`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    let watch = lane.lockChanges()
    let hints = Hints(watch)
    #expect(await hints.reach(1))

    // The phone acknowledges no observer: what changes before it has one is not heard.
    #expect(
      await eventually {
        try? bench.do("unlock")
        try? bench.do("lock")
        return hints.number > 1
      })
    #expect(await lane.lock(by: .patient).state == .locked)
    let before = hints.number
    try bench.do("unlock")

    #expect(await hints.reach(before + 1))
    #expect(await lane.lock(by: .patient).state == .unlocked)
    watch.stop()
    #expect(await hints.end())
  }

  @Test func `begins anew when the phone comes back, and hints then`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    let watch = LockWatch(lane.route, lane.calls, pauses: [.milliseconds(10)])
    let hints = Hints(watch)
    #expect(await hints.reach(1))

    try bench.do("detach")
    try bench.do("attach")

    #expect(await hints.reach(2))
    let before = hints.number
    // The phone acknowledges no observer: the first change may come before it has one.
    #expect(
      await eventually {
        try? bench.do("lock")
        try? bench.do("unlock")
        return hints.number > before
      })
    lane.close()
    #expect(await hints.end())
  }

  @Test func `tries at once when it is told that the phone is back`() async throws {
    let bench = try Bench("17.6", trusted: false)
    let lane = try await bench.lane()
    let watch = LockWatch(lane.route, lane.calls, pauses: [.seconds(600)])
    let hints = Hints(watch)
    #expect(await eventually { bench.count("mux-request") { $0["request"] == "ReadPairRecord" } > 0 })
    try bench.do("trust", ["mode": "now"])

    // It may not have begun to wait yet.
    #expect(
      await eventually {
        watch.retry()
        return hints.number > 0
      })
    watch.stop()
    #expect(await hints.end())
  }

  @Test func `never pairs, and costs the lane nothing`() async throws {
    let bench = try Bench("17.6", trusted: false)
    let lane = try await bench.lane()
    let watch = LockWatch(lane.route, lane.calls, pauses: [.milliseconds(1)])
    #expect(await eventually { bench.count("mux-request") { $0["request"] == "ReadPairRecord" } > 5 })

    #expect(await lane.facts(by: .patient).trust == .untrusted)

    #expect(!bench.requests().contains("Pair"))
    watch.stop()
  }

  @Test func `leaves no thread and no descriptor behind`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("17.6")
      let lane = try await bench.lane()
      _ = await lane.facts(by: .patient)
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for _ in 0..<10 {
        let watch = lane.lockChanges()
        let hints = Hints(watch)
        #expect(await hints.reach(1))
        watch.stop()
        #expect(await hints.end())
      }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
    }
  }
}
