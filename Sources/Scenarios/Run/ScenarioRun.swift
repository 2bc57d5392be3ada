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
    public var exitCode: @Sendable (VerdictCounts) -> ExitCode = { $0.exitCode }
    /// Whether the phones' logs are read along, for what reports show around a failure.
    public var keepsLog = false
    /// Values that no event may show, the door's tokens aside, which are taken out anyway.
    public var secrets: [Secret] = []
    /// Further attempts at a scenario that failed.
    public var retries = 0
    /// How often all of it is run.
    public var rounds = 1
    /// Ends with the first failure, once the scenarios under way have ended.
    public var untilFailure = false
    /// The scenarios in another order in each round, the same for the same seed; nil: as they were given.
    public var seed: UInt64?
    /// Which scenarios are run on which bodies.
    public var selects: @Sendable (Scenario, Body) -> Bool = { _, _ in true }
    /// Runs nothing unless this is the build on every phone: CFBundleVersion or CFBundleShortVersionString.
    public var expectedBuild: String?
    /// Where it is kept what is arranged, for whoever comes after a run that was killed.
    public var notes: any UndoNotes = FleetingUndoNotes()
    /// Where `revive` steps leave their launches.
    public var stamps: any LaunchStamps = FleetingLaunchStamps()
    /// The phone as the mux lists it now, by which a restart is seen; nil where nobody can be asked.
    public var presence: (@Sendable (Body) async -> ListedPhone?)?
    /// Mounts a missing developer image when an app is to be brought in front, where the owner wants that; says why it
    /// could not. nil: nothing is mounted.
    public var mountImage: (@Sendable (any ScenarioLink) async -> String?)?
    /// Bodies as fleet.yaml has them, where this run's app is another: theirs is brought back in front at the end.
    public var configured: [UDID: Body] = [:]
    /// Told what belongs to no scenario, in a sentence.
    public var notice: @Sendable (String) -> Void = { _ in }

    public init(number: Int, version: String) {
      self.number = number
      self.version = version
    }

    /// The scenarios of one round in their order.
    func order(_ scenarios: [Scenario], round: Int) -> [Scenario] {
      guard let seed else { return scenarios }
      var random = Shuffle(seed: seed &+ UInt64(round - 1))
      return scenarios.shuffled(using: &random)
    }
  }

  /// What came of a run.
  public struct Result: Equatable, Sendable {
    public var counts = VerdictCounts()
    /// As `Options.exitCode` gave it.
    public var exit: ExitCode
    /// One line: how many of how many were judged, on how many phones, with what verdicts.
    public var summary: String
    /// The run was stopped before its end.
    public var stopped: Bool
    /// Why nothing was run, in a clause; nil where something was.
    public var refusal: String?
  }

  private let scenarios: [Scenario]
  private let bodies: [Body]
  private let options: Options
  private let lab: any LabMeans
  private let connect: @Sendable (ListedPhone) -> any ScenarioLink
  private let emit: @Sendable (RunEvent) -> Void

  /// - Parameters:
  ///   - bodies: those out of service are left out.
  ///   - connect: makes the link to a phone; the run closes it.
  ///   - emit: called for one event after another, never for two at once.
  public init(
    scenarios: [Scenario], bodies: [Body], options: Options, lab: any LabMeans,
    connect: @escaping @Sendable (ListedPhone) -> any ScenarioLink, emit: @escaping @Sendable (RunEvent) -> Void
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
    let halt = Halt()
    let runs = bodies.filter { !($0.outOfService?.holds(on: options.today) ?? false) }.map { body in
      BodyRun(
        body: body, scenarios: scenarios, options: options, lab: lab, link: body.phone.map(connect), emitter: emitter,
        halt: halt, ledger: UndoLedger(body.udid, run: options.number, notes: options.notes))
    }
    let phones = await introduce(runs)
    if let refusal = refusal(phones) {
      for run in runs { run.link?.close() }
      return Result(exit: .harness, summary: "nothing ran", stopped: Task.isCancelled, refusal: refusal)
    }
    var start = started(phones)
    for (index, run) in runs.enumerated() {
      start.phones[index].scenarios = scenarios.filter { options.selects($0, run.body) }.map(\.name)
    }
    start.planned = options.untilFailure ? nil : planned(runs)
    await emitter(.runStarted(start))
    await forEach(runs.indices) { await runs[$0].run(ios: phones[$0].ios) }
    let counts = await emitter.counts
    let seconds = (options.clock.now - began).roundedSeconds
    var exit = options.exitCode(counts)
    if exit == .done, halt.hasTrouble { exit = .harness }
    await emitter(.runFinished(RunFinished(counts: counts, seconds: seconds, exit: exit)))
    let stopped = Task.isCancelled
    return Result(
      counts: counts, exit: exit,
      summary: Summary.line(
        // A run that goes on until something fails has set out to nothing more than it did.
        counts, planned: start.planned ?? counts.all, phones: runs.count, stopped: stopped),
      stopped: stopped)
  }

  private func planned(_ runs: [BodyRun]) -> Int {
    runs.map { run in scenarios.count { options.selects($0, run.body) } }.reduce(0, +) * options.rounds
  }

  /// Why nothing may be run on these phones.
  private func refusal(_ phones: [RunStarted.Phone]) -> String? {
    guard let expected = options.expectedBuild else { return nil }
    let others = phones.filter { $0.build != expected && $0.version != expected }
    guard !others.isEmpty else { return nil }
    return others.map { phone in
      let build = [phone.version, phone.build.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
      return "\(phone.body ?? phone.udid.description) has \(build.isEmpty ? "no build that can be read" : build)"
    }.joined(separator: ", ")
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
