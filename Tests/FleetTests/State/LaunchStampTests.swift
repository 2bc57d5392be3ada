import Glibc
import Testing
import Wire

@testable import Fleet

@Suite struct `a launch stamp` {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")
  static let stamp = LaunchStamp(wall: .seconds(1_800_000_000), boot: "b1", elapsed: .seconds(5_000))

  let scratch: Scratch
  let stamps: LaunchStampFolder
  var file: String { "\(scratch.path)/launches/00008110000a1b2c3d4e5f60.json" }

  init() throws {
    scratch = try Scratch()
    stamps = LaunchStampFolder(StateFolder(path: scratch.path))
  }

  @Test func `is read as it was stored, to the nanosecond, and only the last one is kept`() throws {
    var stamp = Self.stamp
    stamp.elapsed += .nanoseconds(1)
    #expect(try stamps.last(of: Self.udid) == nil)

    try stamps.store(Self.stamp, of: Self.udid)
    try stamps.store(stamp, of: UDID("00008110000a1b2c3d4e5f60"))

    #expect(try stamps.last(of: Self.udid) == stamp)
    #expect(try stamps.last(of: UDID("another")) == nil)
    #expect(Scratch.names(in: "\(scratch.path)/launches").count == 1)
    #expect(Scratch.read(file)?.contains("2027-01-15T08:00:00.000Z") == true)
  }

  @Test(arguments: [0o2770, 0o700, 0o755]) func `lies open to the users of the state folder`(_ mode: UInt32) throws {
    chmod(scratch.path, mode)

    try stamps.store(Self.stamp, of: Self.udid)

    #expect(Scratch.mode("\(scratch.path)/launches") == mode)
  }

  @Test func `is stored over what a killed writer left behind`() throws {
    try stamps.store(Self.stamp, of: Self.udid)
    try Scratch.write("{\"boot", to: file + ".new")

    try stamps.store(Self.stamp, of: Self.udid)

    #expect(Scratch.names(in: "\(scratch.path)/launches").count == 1)
  }

  @Test(arguments: ["", "{\"boot\":\"b1\"", "{\"boot\":\"b1\",\"boottime_ns\":1}", "\u{0}\u{0}\u{0}"])
  func `is a trouble when it is damaged, and not the word that there was no launch`(_ text: String) throws {
    try stamps.store(Self.stamp, of: Self.udid)
    try Scratch.write(text, to: file)

    #expect(throws: HostTrouble.damagedStamp(path: file)) { try stamps.last(of: Self.udid) }
  }

  @Test func `is a trouble when it can't be stored`() throws {
    try Scratch.write("", to: "\(scratch.path)/launches")

    #expect(throws: HostTrouble.state(path: "\(scratch.path)/launches", code: ENOTDIR)) {
      try stamps.store(Self.stamp, of: Self.udid)
    }
  }

  @Test func `has this host's three clocks`() throws {
    let clock = SystemClock()

    let stamp = LaunchStamp(clock)

    #expect(stamp.boot.utf8.count == 36)
    #expect(stamp.wall > .seconds(1_700_000_000))
    #expect(stamp.elapsed > .zero && stamp.elapsed <= clock.now.elapsed)
  }
}

@Suite struct `the spacing after a launch` {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var boot: String
    /// How far the wall clock has gone since the launch.
    var wall: Int
    /// CLOCK_BOOTTIME now.
    var elapsed: Int
    /// What is left of 300 s.
    var left: Int
  }

  static let rows = [
    Row(testDescription: "at once", boot: "b1", wall: 0, elapsed: 5_000, left: 300),
    Row(testDescription: "in the middle", boot: "b1", wall: 100, elapsed: 5_100, left: 200),
    Row(testDescription: "just over", boot: "b1", wall: 300, elapsed: 5_300, left: 0),
    Row(testDescription: "H46: wall clock an hour back", boot: "b1", wall: -3_500, elapsed: 5_100, left: 200),
    Row(testDescription: "H46: wall clock two hours on", boot: "b1", wall: 7_300, elapsed: 5_100, left: 200),
    Row(testDescription: "rebooted", boot: "b2", wall: 100, elapsed: 40, left: 200),
    Row(testDescription: "rebooted long ago", boot: "b2", wall: 9_000, elapsed: 8_000, left: 0),
    Row(testDescription: "rebooted, wall clock back", boot: "b2", wall: -1, elapsed: 40, left: 300),
    Row(testDescription: "boots unknown", boot: "", wall: 100, elapsed: 6_000, left: 200),
  ]

  @Test(arguments: rows) func `is elapsed time of one boot, and the wall clock's only across boots`(_ row: Row) {
    var stamp = `a launch stamp`.stamp
    if row.boot.isEmpty { stamp.boot = "" }
    let now = LaunchStamp(wall: stamp.wall + .seconds(row.wall), boot: row.boot, elapsed: .seconds(row.elapsed))
    let moment = HostMoment(awake: .zero, elapsed: now.elapsed)

    let rebased = stamp.rebased(to: now)

    #expect(rebased.left(of: .seconds(300), at: moment) == .seconds(row.left))
    #expect(rebased.boot == now.boot)
    // From then on it is elapsed time, whatever the wall clock does.
    let later = HostMoment(awake: .zero, elapsed: now.elapsed + .seconds(row.left))
    #expect(rebased.left(of: .seconds(300), at: later) == .zero)
    #expect(rebased.rebased(to: now) == rebased)
  }
}
