/// What a revival may do, and how long things may take.
public struct ReviveRules: Equatable, Sendable {
  /// Whether a launch may be sent, as far as the phone itself has no say in it.
  public enum Permit: Equatable, Sendable {
    case granted
    /// Somebody has paused launches.
    case paused
    /// Nothing may be launched now, since the last launch is less than a spacing ago, or since it is only looked
    /// whether something else stands in the way.
    case withheld
    /// Single App Mode or MDM brings the app back: all there is to do is to wait for the door.
    case others
  }

  public var permit = Permit.granted
  /// Whether the body has a port on which the hands' driver would answer.
  public var asksHands = true
  /// Whether whoever runs the revival holds the phone's lock already.
  public var holdsPhone = false
  /// Ends a running app first, where the phone's iOS leaves the choice: after a launch that no answer followed.
  public var fresh = false
  /// How long one probe may take, and how long after a launch the door may stay silent.
  public var answerWithin = Duration.seconds(10)
  /// Between the beginnings of two probes after a launch.
  public var pollEvery = Duration.seconds(1)
  /// The phone's lookup shows a developer image: a launch that misses it has come too early for its service.
  public var hasImage = false
  public var book = RuleBook.whole

  public init() {}

  /// The rules for a person's asking: no grace, no spacing, no pause.
  public init(_ body: Body) {
    switch body.app.launcher {
    case .auto: permit = .granted
    case .others: permit = .others
    }
    asksHands = body.hands.port != nil
    answerWithin = body.supervise.answerWithin
  }

  /// The age of a lock reading, from the asking on, at which a launch may still be sent.
  static let lockFreshness = Duration.seconds(2)
  /// The same of a look at the hands' driver.
  static let handsFreshness = Duration.seconds(10)
  /// How often either may turn out too old before the phone is left alone.
  static let readings = 6
  /// A refusal for no known reason that comes sooner is asked once more: another launch may have been in its way.
  static let collision = Duration.seconds(5)
  /// How often, how long and in which steps a service is waited for that can be missing after a mount or a boot.
  static let service = (times: 3, span: Duration.seconds(10), pause: Duration.seconds(3))
}
