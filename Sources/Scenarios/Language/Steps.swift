import DeviceBridge
import Fleet

/// A request to the door and what is expected of it.
public struct RequestStep: Equatable, Sendable {
  /// As docs/door.md names it; texts in braces are filled in when it is sent.
  public var line: RequestLine
  public var headers: [NamedText] = []
  public var body: String?
  public var token = DoorToken.configured
  /// The request's own limit; nil: docs/door.md's caller clock.
  public var deadline: Duration?
  /// What must be true of the answer; without one, any complete answer will do.
  public var expectation = Expectation()
  /// Repeats the request until the expectation holds.
  public var retryWithin: Duration?
}

/// A name and a text, in the order of the file.
public struct NamedText: Equatable, Sendable {
  public var name: String
  public var text: String
}

/// Asks again and again until something holds.
public struct UntilStep: Equatable, Sendable {
  public enum Condition: Equatable, Sendable {
    case request(RequestStep)
    case lock(LockState)
  }
  public var condition: Condition
  public var within: Duration
  public var every: Duration
}

/// Brings the kiosk app to the front.
public struct LaunchStep: Equatable, Sendable {
  public var arguments: [String] = []
  public var environment: [NamedText] = []
  /// Ends a running one first.
  public var fresh = false
}

/// Reads the lock.
public struct LockStep: Equatable, Sendable {
  public var state: LockState
  /// Keeps reading until then; nil: once.
  public var within: Duration?
}

/// Calls the door's hello.
public struct DoorStep: Equatable, Sendable {
  /// Whether it must answer; otherwise it must be silent.
  public var answers: Bool
  /// Keeps asking until then; nil: once.
  public var within: Duration?
  /// Must hold all that time.
  public var throughout: Duration?
}

/// Asks what `/api/bodies/NAME/ready` would say of this phone.
public struct ReadyStep: Equatable, Sendable {
  public var wish: CaptureWish
  /// What must be true of the answer; without one: ready, 200.
  public var expectation: Expectation
  /// Keeps asking until then; nil: once.
  public var within: Duration?
}

/// Runs the revive procedure once and holds its outcome against this one.
public struct ReviveStep: Equatable, Sendable {
  public var kind: OutcomeKind
  /// nil: whatever the reason.
  public var reason: OutcomeReason?

  /// `kind`, or `kind/reason`.
  public var text: String { reason.map { "\(kind.rawValue)/\($0.rawValue)" } ?? kind.rawValue }
}

/// Looks at the installed build's Info dictionary.
public struct AppStep: Equatable, Sendable {
  public var absent: [String] = []
  public var present: [String] = []
  /// Keys, and a text that their value holds.
  public var contains: [NamedText] = []
}

/// Looks for files in the app's container.
public struct FilesStep: Equatable, Sendable {
  /// Whether at least one is expected; otherwise none.
  public var some: Bool
  /// A path in the container; `*` and `?` may stand in its last part.
  public var pattern: String
  /// Keeps looking until then; nil: once.
  public var within: Duration?
}

/// Looks for the red band at the top of the screen.
public struct ScreenStep: Equatable, Sendable {
  /// Whether it must be up; otherwise it must not.
  public var band: Bool
  /// Keeps looking until then; nil: once.
  public var within: Duration?
}

/// Looks for a line in the phone's log since the scenario began.
public struct LogStep: Equatable, Sendable {
  public var contains: String
  /// Waits for it until then; nil: it must have been written already.
  public var within: Duration?
}

/// Asks the person beside the phone.
public struct OperatorStep: Equatable, Sendable {
  public var sentence: String
  public var deadline = Duration.seconds(600)
}

/// Runs a command of the lab.
public struct CommandStep: Equatable, Sendable {
  /// The program and its arguments.
  public var argv: [String]
  public var deadline = Duration.seconds(60)
}
