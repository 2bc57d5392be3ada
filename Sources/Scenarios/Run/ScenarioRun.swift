import DeviceBridge
import Fleet
import Transport
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
    /// Takes a phone before the first scenario on it; it is let go of after the last.
    public var claim: @Sendable (Body) async -> PhoneClaim = { _ in .unneeded }
    /// What the process will end with, asked once, when the last scenario has ended.
    public var exitCode: @Sendable (VerdictCounts) -> Int32 = { $0.exitCode }
    /// Whether the phones' logs are read along, for what reports show around a failure.
    public var keepsLog = false
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
    /// As `Options.exitCode` gave it.
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
    let began = options.clock.now
    let emitter = Emitter(
      number: options.number, secrets: options.secrets, wallClock: options.wallClock, emit: emit)
    let runs = bodies.filter { !($0.outOfService?.holds(on: options.today) ?? false) }.map { body in
      BodyRun(
        body: body, scenarios: scenarios, options: options, lab: lab, link: body.phone.map(connect), emitter: emitter)
    }
    let phones = await introduce(runs)
    await emitter(.runStarted(started(phones)))
    await forEach(runs.indices) { await runs[$0].run(ios: phones[$0].ios) }
    let counts = await emitter.counts
    let seconds = (options.clock.now - began).roundedSeconds
    let exit = options.exitCode(counts)
    await emitter(.runFinished(RunFinished(counts: counts, seconds: seconds, exit: exit)))
    let planned = runs.count * scenarios.count
    let stopped = Task.isCancelled
    return Result(
      counts: counts, exit: exit,
      summary: Summary.line(counts, planned: planned, phones: runs.count, stopped: stopped), stopped: stopped)
  }

  private func introduce(_ runs: [BodyRun]) async -> [RunStarted.Phone] {
    let found = Guarded<[Int: RunStarted.Phone]>([:])
    await forEach(runs.indices) { index in
      let phone = await runs[index].introduction()
      found.with { $0[index] = phone }
    }
    return runs.indices.map { index in
      found.with { $0[index] } ?? RunStarted.Phone(body: runs[index].body.name, udid: runs[index].body.udid)
    }
  }

  private func started(_ phones: [RunStarted.Phone]) -> RunStarted {
    RunStarted(
      version: options.version, label: options.label, meta: options.meta,
      files: scenarios.map { RunStarted.File(scenario: $0.name, file: $0.file, hash: $0.hash) }, phones: phones)
  }

  /// As many at once as the run may work on; the others wait for their turn.
  private func forEach(_ indices: Range<Int>, _ work: @escaping @Sendable (Int) async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      var next = indices.lowerBound
      while next < min(indices.lowerBound + max(1, options.jobs ?? indices.count), indices.upperBound) {
        let index = next
        group.addTask { await work(index) }
        next += 1
      }
      while await group.next() != nil {
        guard next < indices.upperBound else { continue }
        let index = next
        group.addTask { await work(index) }
        next += 1
      }
    }
  }
}
