import DeviceBridge
import Wire

/// What the status page and its like see of a running supervisor. Reading touches no phone, and waits for none.
public protocol SupervisorView: Sendable {
  /// Each body once, those out of service too, in the configuration's order.
  func bodies() -> [BodyPresent]
  func host() -> HostPresent
  /// nil before the first completed one.
  func lastRound() -> RoundPresent?
  /// Rows with higher numbers than `seq`, oldest first; those that could not be stored yet are not among them.
  func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport]
  /// Hints that something that is told here has changed, at most one of them unread; ends with the supervisor.
  func changes() -> AsyncStream<Void>
  /// Asks a body's door for its status, as docs/door.md has it; the only question here that goes to a phone.
  ///
  /// - Returns: nil for what is no body, or out of service.
  func doorStatus(of udid: UDID, within limit: Duration) async -> DoorAnswer?
}

/// How the host is.
public struct HostPresent: Equatable, Sendable {
  public var words: OutcomeWords
  /// The wall clock at the latest change; nil: since the start.
  public var since: Duration?
  public var detail: String?
  /// Rows, memories and actions that wait for the record to take them.
  public var unstored = 0

  public init(words: OutcomeWords) { self.words = words }

  /// One object with all the keys; absent values are null.
  public var json: JSON {
    [
      "outcome": .string(words.kind.rawValue), "reason": .text(words.reason?.rawValue),
      "since": .text(since.map { WallClock.rfc3339($0) }), "detail": .text(detail?.oneLine()),
      "unstored": .integer(Int64(unstored)),
    ]
  }
}

/// The latest completed round: each body was looked at, or could not be for a reason that is told.
public struct RoundPresent: Equatable, Sendable {
  /// Counted from 1.
  public var number: Int
  /// The wall clock at its end.
  public var at: Duration
  /// From its beginning to its end, on the clock that stops in the host's sleep.
  public var took: Duration
  /// The longest time between two looks at one body, and for one answer, as they are configured now; nil where there is no
  /// body.
  public var every: Duration?
  public var answerWithin: Duration?

  public init(number: Int, at: Duration, took: Duration) {
    self.number = number
    self.at = at
    self.took = took
  }
}
