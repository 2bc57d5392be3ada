import Testing
import Wire

@testable import Fleet

@Suite struct `a watch's memory` {
  static let stamp = LaunchStamp(wall: .seconds(1_800_000_000) + .nanoseconds(1), boot: "b1", elapsed: .nanoseconds(7))

  static var full: WatchMemory {
    var memory = WatchMemory()
    memory.revision = 17
    memory.stamp = stamp
    memory.launches = [stamp, LaunchStamp(wall: .seconds(-1), boot: "", elapsed: .seconds(9))]
    memory.launchCount = 5
    memory.revivals = 3
    memory.flaps = 2
    memory.isProven = true
    memory.launchedSinceRow = true
    memory.launchEnd = OutcomeWords(.launchedNoAnswer, .appExited)
    memory.refusal = WatchMemory.Refusal(reason: .appUntrusted, fact: "1.2 (34), not validated")
    memory.mountTried = "boot/16.7"
    memory.lastAnswer = .nanoseconds(1_800_000_000_123_456_789)
    return memory
  }

  @Test func `comes back from its written form as it was`() throws {
    for memory in [Self.full, WatchMemory()] {
      let line = try #require(JSON(parsing: Array(memory.json.line.utf8)))

      #expect(WatchMemory(line) == memory)
    }
  }

  @Test func `and a pause comes back from its own`() throws {
    let pause = Pause(began: Self.stamp, length: .milliseconds(1_500), user: "ada", reason: nil)

    #expect(Pause(try #require(JSON(parsing: Array(pause.json.line.utf8)))) == pause)
    #expect(Pause(["began": .null, "length_ns": 5]) == nil)
  }

  @Test(arguments: WatchMemory().json.object.map { Array($0.keys.sorted()) } ?? [])
  func `is none where a part of it is missing or spoilt`(_ key: String) {
    var missing = Self.full.json.object ?? [:]
    missing[key] = nil
    var spoilt = missing
    spoilt[key] = ["spoilt": true]

    #expect(WatchMemory(.object(missing)) == nil)
    #expect(WatchMemory(.object(spoilt)) == nil)
  }

  @Test func `counts spacing from the wall clock after a reboot of the host, and anew where that went backwards`() {
    let later = LaunchStamp(wall: Self.stamp.wall + .seconds(100), boot: "b2", elapsed: .seconds(20))
    let earlier = LaunchStamp(wall: Self.stamp.wall - .seconds(100), boot: "b2", elapsed: .seconds(20))
    let now = HostMoment(awake: .zero, elapsed: .seconds(20))

    let after = Self.full.rebased(to: later, .whole)
    let before = Self.full.rebased(to: earlier, .whole)

    #expect(after.stamp?.left(of: .seconds(300), at: now) == .seconds(200))
    #expect(before.stamp?.left(of: .seconds(300), at: now) == .seconds(300))
  }
}
