/// A moment on all of the host's clocks.
public struct WatchTime: Equatable, Sendable {
  /// The two steady ones.
  public var host: HostMoment
  /// Since 1970; it may jump. Rows carry it, and nothing is measured on it but what outlives a boot.
  public var wall: Duration

  public init(host: HostMoment, wall: Duration) {
    self.host = host
    self.wall = wall
  }

  /// Stops in the host's sleep: silence, grace and deadlines.
  public var awake: Duration { host.awake }
  /// Does not: spacing.
  public var elapsed: Duration { host.elapsed }

  /// On this clock for what is measured while the host is awake.
  func awake(_ book: RuleBook) -> Duration { book.keeps(.silenceStopsInSleep) ? awake : elapsed }
}
