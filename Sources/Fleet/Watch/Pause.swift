import Wire

/// Launches on one body withheld for a while, because a person said so. It ends by itself.
///
/// Whoever pauses stores it before the watch is told, so that none is lost that was promised.
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

  /// The same for this boot of the host's; asked once, when the process starts (see `LaunchStamp.rebased`).
  func rebased(to now: LaunchStamp) -> Pause {
    var pause = self
    pause.began = began.rebased(to: now)
    return pause
  }

  /// - Parameter now: of the same boot.
  func left(at now: WatchTime) -> Duration { began.left(of: length, at: now.host) }

  var text: String {
    let who = user.map { " by \($0)" } ?? ""
    return "launches are paused\(who)\(reason.map { ": \($0)" } ?? "")"
  }
}

/// Written and read without loss; times in nanoseconds.
extension Pause {
  public var json: JSON {
    [
      "began": began.json, "length_ns": .integer(length.inNanoseconds), "user": .text(user), "reason": .text(reason),
    ]
  }

  /// - Returns: nil for anything that `json` would not write.
  public init?(_ json: JSON) {
    guard let began = json["began"].flatMap(LaunchStamp.init(_:)), let length = json["length_ns"]?.int else {
      return nil
    }
    self.init(
      began: began, length: .nanoseconds(length), user: json["user"]?.string, reason: json["reason"]?.string)
  }
}
