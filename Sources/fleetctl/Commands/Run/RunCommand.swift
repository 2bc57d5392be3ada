import DeviceBridge
import Fleet
import Scenarios
import Transport
import Wire

/// `fleetctl run`: scenarios, judged on every body.
enum RunCommand {
  static let spec = CommandSpec(
    name: "run", summary: "run scenarios on every body, phones in parallel, and judge them",
    positionals: [
      PositionalSpec(label: "FILE|DIR", help: "scenario files, or folders of them (else scenarios)", count: .any)
    ],
    options: RunOptions.specs,
    notes: [
      "The last line says how many of how many were judged, on how many phones. With --json every event of the run is "
        + "one object.",
      "Exit codes: 0 passed, 1 an expectation was false, 2 the command line or a file is wrong and nothing ran, 3 the "
        + "harness or the cable broke and nothing failed, 4 nothing was judged, 130 and 143 ended by a signal, after "
        + "undoing what was arranged.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let options = try context.usage { () throws(UsageError) in
      try RunOptions(context.invocation, environment: context.environment)
    }
    let bench = options.virtual == nil ? try Bench(context) : nil
    let scenarios = try scenarios(options)
    let attendant = try options.rules.isAttended ? TerminalOperator(context.output) : nil
    scenarios.compactMap(\.quarantineNotice).forEach { context.output.say($0.printable) }
    let stop = Stop()
    let stage: RunStage
    if let bench {
      stage = try await RunStage(options, bench)
      context.interruption.whenInterrupted(patience: nil) { _ in stop.now() }
    } else {
      // Phones that are starting have to be ended: from here on a signal ends the run in order.
      context.interruption.whenInterrupted(patience: nil) { _ in stop.now() }
      stage = try await RunStage(options, virtual: options.virtual ?? 1, context)
    }
    defer { stage.end() }
    for body in stage.outOfService { context.output.say(body.outOfServiceNotice.printable) }
    let secrets = stage.secrets + (try check(stage.bodies, options, scenarios))
    // Nothing has been touched yet; what cannot be written is to be known now.
    let reports = try await RunReports.open(
      options.reports, record: bench?.configuration.record, Mask(secrets), context)
    let work = Work(
      scenarios: scenarios, stage: stage, options: options, secrets: secrets, reports: reports, attendant: attendant)
    return try await run(work, context, stop)
  }

  /// Everything that a run needs, once nothing is wrong.
  private struct Work {
    var scenarios: [Scenario]
    var stage: RunStage
    var options: RunOptions
    var secrets: [Secret]
    var reports: RunReports
    var attendant: TerminalOperator?
  }

  private static func scenarios(_ options: RunOptions) throws(Complaint) -> [Scenario] {
    let all: [Scenario]
    do { all = try ScenarioFile.load(options.paths, variables: options.rules.variables) } catch {
      throw Complaint(
        .usage,
        "The scenario files are wrong, and nothing ran. \(error.description.printableLines). "
          + "Correct them; see them one a line: fleetctl lint.")
    }
    let chosen = options.chosen(from: all)
    guard !chosen.isEmpty else {
      throw Complaint(
        .nothingJudged,
        "No scenario is left of \(all.count). --tag and --exclude-tag fit none of them. "
          + "Choose other tags; see: fleetctl help run.")
    }
    return chosen
  }

  /// - Returns: the tokens of the bodies' doors.
  private static func check(
    _ bodies: [Body], _ options: RunOptions, _ scenarios: [Scenario]
  ) throws(Complaint) -> [Secret] {
    let attached = bodies.count { $0.phone?.transport == .usb }
    if let expected = options.expectedBodies, attached != expected {
      throw Complaint(
        .harness,
        "Phones that are there: \(attached); --expect-bodies says \(expected), and nothing ran. A cable may be loose. "
          + "See which are there: fleetctl devices.")
    }
    guard !bodies.isEmpty else {
      throw Complaint(
        .nothingJudged,
        "There is no body to run on. No phone is attached, or none fits --body. See which are there: fleetctl devices.")
    }
    guard bodies.allSatisfy({ body in !scenarios.contains { $0.needsApp(on: body) } }) else { throw .noApp }
    // Read again by each scenario; one that is not there must not be found out on a phone.
    var tokens: [Secret] = []
    for body in bodies { if let token = try body.door.readToken() { tokens.append(token) } }
    return tokens
  }

  private static func run(_ work: Work, _ context: Context, _ stop: Stop) async throws(Complaint) -> ExitCode {
    let (stage, options, reports) = (work.stage, work.options, work.reports)
    let teller = RunTeller(context.output, asJSON: context.wantsJSON, annotates: options.reports.isAnnotated)
    teller.whenBroken { stop.now() }
    work.attendant?.beforeAsking { teller.wipe() }
    var settings = ScenarioRun.Options(number: reports.number, version: Program.version)
    settings.attendant = work.attendant
    options.rules.set(&settings)
    try await select(&settings, work, context)
    try keep(&settings, work, context)
    settings.label = options.reports.label
    settings.meta = options.reports.meta
    settings.keepsLog = reports.keepsLog
    settings.jobs = options.jobs
    settings.clock = ScaledClock(scale: options.timeScale)
    settings.secrets = work.secrets
    let (interruption, rules) = (context.interruption, options.rules)
    settings.exitCode = { counts in
      if let code = interruption.settle() { return code }
      let code = counts.exitCode(failOnSkip: rules.failsOnSkip, failOnFlaky: rules.failsOnFlaky)
      // A failure that was found outweighs whatever else went wrong.
      if code == .no { return code }
      return stop.hasTimedOut || reports.isBroken ? .harness : code
    }
    let mux = stage.mux
    let run = ScenarioRun(
      scenarios: work.scenarios, bodies: stage.bodies, options: settings,
      lab: ProcessLab(environment: context.environment),
      connect: { PhoneLane($0, mux: mux) },
      emit: { event in
        reports.take(event)
        teller.tell(event)
      })
    let task = Task { await run.run() }
    stop.whenStopped { task.cancel() }
    let clock = Task { await keepTime(options.timeout, teller, stop) }
    let result = await task.value
    clock.cancel()
    let trouble = await reports.finish()
    teller.close()
    if let refusal = result.refusal {
      throw Complaint(
        .harness,
        "\(refusal); --expect-build says \(options.rules.expectedBuild ?? ""), and nothing ran. ".printable
          + "Another build may be installed there. Install the one that is meant: fleetctl install BODY FILE.ipa.")
    }
    return try conclude(result, timeout: options.timeout, trouble, context, stop)
  }

  /// Which scenarios are run on which bodies.
  private static func select(
    _ settings: inout ScenarioRun.Options, _ work: Work, _ context: Context
  ) async throws(Complaint) {
    guard work.options.rules.rerunsFailed else { return }
    let isVirtual = work.options.virtual != nil
    let failed = try await RunFailures.last(isVirtual: isVirtual, before: work.reports.number, context)
    guard work.scenarios.contains(where: { scenario in work.stage.bodies.contains { failed.holds(scenario, $0) } })
    else {
      throw Complaint(
        .nothingJudged,
        "Run \(failed.run) has left nothing of this to be run again. What failed in it is mended or not chosen here. "
          + "See what it came to: fleetctl runs.")
    }
    settings.selects = { failed.holds($0, $1) }
  }

  /// What outlives a run that is killed, and who is kept off its phones.
  private static func keep(
    _ settings: inout ScenarioRun.Options, _ work: Work, _ context: Context
  ) throws(Complaint) {
    let (mux, output) = (work.stage.mux, context.output)
    settings.configured = work.stage.configured
    settings.notice = { output.say($0.printable) }
    settings.presence = { body in
      let phones = (try? await Mux(address: mux).phones(by: .after(Bench.muxLimit))) ?? []
      return phones.first { $0.udid == body.udid }
    }
    // Phones of this run's own are nobody else's, and end with it.
    guard work.options.virtual == nil else { return }
    do throws(HostTrouble) {
      let state = try StateFolder.find(context.environment)
      settings.notes = UndoNoteFolder(state)
      settings.stamps = LaunchStampFolder(state)
      if let images = work.stage.images, images.mount == .auto {
        let folder = ImageFolder(path: images.folder ?? "\(state.path)/images", signing: images.signing.service)
        settings.mountImage = { link in await mount(from: folder, over: link) }
      }
    } catch {
      throw Complaint(.harness, error.sentence.printable)
    }
    settings.claim = claim(on: mux, wait: work.options.lockWait, run: work.reports.number, context)
  }

  /// An image has some ten megabytes, and old phones are slow to check it.
  private static let mountLimit = Duration.seconds(120)

  /// - Returns: why the developer image is not mounted; nil when it is.
  private static func mount(from folder: ImageFolder, over link: any ScenarioLink) async -> String? {
    guard let images = link as? any PhoneImages else { return "its developer image cannot be mounted from here" }
    do throws(PhoneError) {
      let outcome = try await images.mount(from: folder, near: false, by: .after(mountLimit)) { _ in }
      switch outcome {
      case .mounted, .alreadyMounted: return nil
      case .noImage, .refused: return outcome.sentence(link.udid)
      }
    } catch {
      return error.sentence
    }
  }

  /// Keeps supervisor, other runs and people off a phone while its scenarios run.
  private static func claim(
    on mux: MuxAddress, wait: Duration, run: Int, _ context: Context
  ) -> @Sendable (Body) async -> PhoneClaim {
    let (locks, output) = (PhoneLocks(environment: context.environment), context.output)
    let own = Holder.current(.run, run: run > 0 ? run : nil)
    return { body in
      do throws(HostTrouble) {
        let answer = try await locks.acquire(body.udid, on: mux, as: own, wait: .after(wait)) { holder in
          output.say("\(body.title) is held by \(holder.text); it is waited for.".printable)
        }
        switch answer {
        case .taken(let lease, _): return .taken(lease)
        case .held(let holder): return .refused("held by \(holder.text)")
        case .cancelled: return .stopped
        }
      } catch {
        return .refused(error.sentence)
      }
    }
  }

  /// Signs of life until the run ends, and its end when its time is over.
  private static func keepTime(_ timeout: Duration?, _ teller: RunTeller, _ stop: Stop) async {
    let limit = timeout.map { ContinuousClock.now + $0 }
    while true {
      let next = ContinuousClock.now + teller.beat
      let wake = limit.map { min($0, next) } ?? next
      do { try await ContinuousClock().sleep(until: wake) } catch { return }
      if let limit, ContinuousClock.now >= limit {
        stop.now(timedOut: true)
        return
      }
      teller.live()
    }
  }

  private static func conclude(
    _ result: ScenarioRun.Result, timeout: Duration?, _ trouble: Complaint?, _ context: Context, _ stop: Stop
  ) throws(Complaint) -> ExitCode {
    if context.wantsJSON { context.output.say(result.summary) } else { try? context.output.result(result.summary) }
    if result.exit == .no { return .no }
    if let complaint = context.output.complaint ?? trouble { throw complaint }
    if result.exit == .harness, stop.hasTimedOut, let timeout {
      throw Complaint(
        .harness,
        "The run was stopped after \(timeout.shown). --timeout gives it no longer, and what it had arranged is undone. "
          + "Give it more: fleetctl run --timeout DURATION.")
    }
    switch result.exit {
    case .done, .nothingJudged: return result.exit
    case .no, .usage, .harness, .bug, .signal: return .harness
    }
  }
}
