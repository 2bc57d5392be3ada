/// What holds for one body: the configuration's times, and the rules.
public struct WatchRules: Equatable, Sendable {
  /// Between the beginnings of two rounds.
  public var every = Duration.seconds(10)
  /// Silence before anything is done.
  public var grace = Duration.seconds(300)
  /// Between two launches.
  public var spacing = Duration.seconds(300)
  /// Shorter than this nobody was away.
  public var settle = Duration.seconds(15)
  /// For the whole answer to one probe, and for the first answer after a launch.
  public var answerWithin = Duration.seconds(10)
  /// False where Single App Mode or MDM brings the app back.
  public var launches = true
  /// Whether the body has a port on which the hands' driver would answer.
  public var asksHands = true
  /// images.mount: auto.
  public var mountsImages = false
  public var book = RuleBook.whole

  public init() {}

  public init(_ body: Body, mounting: ImageMounting) {
    every = body.supervise.every
    grace = body.supervise.grace
    spacing = body.supervise.spacing
    settle = body.supervise.settle
    answerWithin = body.supervise.answerWithin
    switch body.app.launcher {
    case .auto: launches = true
    case .others: launches = false
    }
    asksHands = body.hands.port != nil
    switch mounting {
    case .never: mountsImages = false
    case .auto: mountsImages = true
    }
  }

  /// That many launches within this span are a crash loop.
  static let crashLoop = (launches: 3, span: Duration.seconds(3_600))
  /// After a round that took longer than it should, a phone is let be for this.
  static let rest = Duration.seconds(1)
  /// More than this between the two steady clocks is sleep, and not the time between two readings.
  static let sleepTolerance = Duration.seconds(1)

  /// How long a revival may keep others from the phone: half a minute with the usual answer time.
  var leaseLimit: Duration { answerWithin * 2 + .seconds(10) }
  /// After this a launch is no longer begun: what is left belongs to the launch and to its answer.
  var launchBegins: Duration { answerWithin + .seconds(2) }
}

/// The longest that each step may take; whoever carries it out answers by then, whatever the phone does.
public enum StepLimit {
  public static let session = Duration.seconds(10)
  public static let hands = Duration.seconds(5)
  public static let lock = Duration.seconds(5)
  public static let stamp = Duration.seconds(10)
  public static let launch = Duration.seconds(30)
  public static let lease = Duration.seconds(1)
  public static let facts = Duration.seconds(5)
  public static let mount = Duration.seconds(25)
  /// The margin that the last look at the lock is given.
  static let margin = Duration.seconds(1)
}

extension ReviveCommand {
  /// The longest that it may take.
  public var limit: Duration {
    switch self {
    case .probe(let within): within
    case .takeLease: StepLimit.lease
    case .openSession: StepLimit.session
    case .askHands: StepLimit.hands
    case .readLock: StepLimit.lock
    case .storeStamp: StepLimit.stamp
    case .launch: StepLimit.launch
    case .rest(let span): span
    }
  }
}
