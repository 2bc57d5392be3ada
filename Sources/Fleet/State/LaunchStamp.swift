import Wire

/// When a launch was sent to a body, on all clocks: what spacing is counted from, across restarts and reboots.
public struct LaunchStamp: Equatable, Sendable {
  /// The wall clock, since 1970.
  public var wall: Duration
  /// The kernel's name for the boot; empty where it could not be read.
  public var boot: String
  /// CLOCK_BOOTTIME of that boot.
  public var elapsed: Duration

  public init(wall: Duration, boot: String, elapsed: Duration) {
    self.wall = wall
    self.boot = boot
    self.elapsed = elapsed
  }

  /// Now.
  public init(_ clock: any HostClock) {
    self.init(wall: clock.wall, boot: clock.boot, elapsed: clock.now.elapsed)
  }

  /// The same launch as a stamp of the boot that `now` is of, so that spacing is elapsed time from then on.
  ///
  /// Of another boot only the wall clocks' difference is known; where the wall clock went backwards not even that, and
  /// a whole spacing counts from now. To be asked once when a process starts, and kept: asked again later, it would
  /// count anew.
  public func rebased(to now: LaunchStamp) -> LaunchStamp {
    var rebased = now
    let isSameBoot = !boot.isEmpty && boot == now.boot
    let since = isSameBoot ? now.elapsed - elapsed : now.wall - wall
    rebased.elapsed = now.elapsed - max(since, .zero)
    rebased.wall = now.wall - max(since, .zero)
    return rebased
  }

  /// How much of the spacing is left; zero when a launch may be sent.
  ///
  /// - Parameter now: of the same boot; see `rebased`.
  public func left(of spacing: Duration, at now: HostMoment) -> Duration {
    max(spacing - max(now.elapsed - elapsed, .zero), .zero)
  }
}

extension LaunchStamp {
  /// One line; times in nanoseconds, so that nothing is rounded away.
  var line: String { json.line + "\n" }

  var json: JSON {
    [
      "at": .string(WallClock.rfc3339(wall)), "boot": .string(boot), "boottime_ns": .integer(elapsed.inNanoseconds),
      "wall_ns": .integer(wall.inNanoseconds),
    ]
  }

  /// - Returns: nil for anything that `line` would not write.
  init?(line bytes: [UInt8]) {
    guard let json = JSON(parsing: bytes) else { return nil }
    self.init(json)
  }

  /// - Returns: nil for anything that `json` would not write.
  init?(_ json: JSON) {
    guard let boot = json["boot"]?.string, let elapsed = json["boottime_ns"]?.int, let wall = json["wall_ns"]?.int
    else { return nil }
    self.init(wall: .nanoseconds(wall), boot: boot, elapsed: .nanoseconds(elapsed))
  }
}
