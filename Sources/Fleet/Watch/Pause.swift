/// Launches on one body withheld for a while, because a person said so. It ends by itself.
public struct Pause: Equatable, Sendable {
  /// When it began: on all clocks, so that it outlives restarts and reboots of this host.
  public var began: LaunchStamp
  public var length: Duration
  public var user: String?
  public var reason: String?

  public init(began: LaunchStamp, length: Duration, user: String? = nil, reason: String? = nil) {
    self.began = began
    self.length = length
    self.user = user
    self.reason = reason
  }

  /// - Parameter now: of the same boot; see `WatchMemory.rebased`.
  func left(at now: WatchTime) -> Duration { began.left(of: length, at: now.host) }

  var text: String {
    let who = user.map { " by \($0)" } ?? ""
    return "launches are paused\(who)\(reason.map { ": \($0)" } ?? "")"
  }
}
