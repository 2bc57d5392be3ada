import DeviceBridge
import Fleet
import Transport
import Wire

/// The scenarios of a run on one body, one after another.
struct BodyRun: Sendable {
  let body: Body
  let scenarios: [Scenario]
  let options: ScenarioRun.Options
  let lab: any LabMeans
  /// nil: the phone is not attached.
  let link: (any ScenarioLink)?
  let emitter: Emitter
  /// Shared by the bodies of a run that ends at its first failure.
  let halt: Halt
  let ledger: UndoLedger

  /// What the phone and the build on it are, as far as it can be read.
  func introduction() async -> RunStarted.Phone {
    var phone = RunStarted.Phone(
      body: body.name, udid: body.udid, bundle: body.app.bundle, usbPort: body.usbPort)
    guard let link else { return phone }
    guard let facts = await unlessCancelled({ await link.facts(by: .after(Scene.lookLimit)) }) else { return phone }
    phone.model = facts.model
    phone.ios = facts.ios
    guard facts.error == nil, let bundle = body.app.bundle else { return phone }
    // What cannot be read stays absent; the scenarios say why.
    let app = await unlessCancelled { try? await link.app(bundle, by: .after(Scene.lookLimit)) }
    phone.version = app??.version
    phone.build = app??.build
    return phone
  }

  /// Runs them all, or until the task is cancelled; closes the link.
  func run(ios: String?) async {
    let claim = link == nil ? .unneeded : await options.claim(body)
    defer { if case .taken(let lease) = claim { lease.release() } }
    let diary = await diary()
    defer { diary?.stop() }
    var obstacle = Self.obstacle(claim, body, isAttached: link != nil)
    if obstacle == nil, let link { obstacle = await undoLeftovers(over: link, ios: ios) }
    if obstacle == nil { obstacle = await noteOtherApp() }
    for round in 1... {
      for scenario in options.order(scenarios, round: round) where options.selects(scenario, body) {
        if Task.isCancelled || halt.isWished { break }
        await perform(scenario, round: round, ios: ios, obstacle, diary)
      }
      if Task.isCancelled || halt.isWished || round >= options.rounds { break }
    }
    if obstacle == nil, let link { await bringBackApp(over: link, ios: ios) }
    link?.close()
  }

  /// Reads the phone's log where reports or steps want it.
  private func diary() async -> PhoneDiary? {
    guard let link, options.keepsLog || scenarios.contains(where: { !$0.lookedForInLog.isEmpty }) else { return nil }
    let diary = PhoneDiary(link)
    await diary.start()
    return diary
  }

  /// Why nothing can be judged on this body.
  private static func obstacle(_ claim: PhoneClaim, _ body: Body, isAttached: Bool) -> String? {
    switch claim {
    case .refused(let sentence): sentence
    case .stopped: "the run was stopped while it waited for the phone"
    case .unneeded, .taken: isAttached ? nil : PhoneError.absent(body.udid).sentence
    }
  }

  /// One scenario: once, or until an attempt passes or there are no more.
  private func perform(
    _ scenario: Scenario, round: Int, ios: String?, _ obstacle: String?, _ diary: PhoneDiary?
  ) async {
    let place = Place(scenario: scenario, round: round)
    var attempt = 1
    while true {
      await emitter(
        .scenarioStarted(
          ScenarioStarted(
            body: body.name, udid: body.udid, scenario: scenario.name, round: round, attempt: attempt)))
      let began = options.clock.now
      let (judgement, exchanges) = await judge(place, attempt, ios: ios, obstacle, diary)
      var verdict = Self.verdict(judgement, scenario.quarantine, body, options.today)
      if verdict.word == .passed, attempt > 1 {
        verdict = (.flaky, "passed at attempt \(attempt) of \(options.retries + 1)")
      }
      let again =
        [.failed, .error].contains(verdict.word) && attempt <= options.retries && obstacle == nil
        && !Task.isCancelled
      await emitter(
        .scenarioFinished(
          ScenarioFinished(
            body: body.name, udid: body.udid, scenario: scenario.name, round: round, attempt: attempt,
            isFinal: !again, verdict: verdict.word, seconds: (options.clock.now - began).roundedSeconds,
            recoverySeconds: judgement.recovery?.roundedSeconds, message: verdict.message, file: scenario.file,
            line: judgement.line ?? scenario.line, notUndone: judgement.notUndone, exchanges: exchanges,
            log: diary?.excerpt() ?? [])))
      if !again {
        if options.untilFailure, verdict.word == .failed { halt.wish() }
        return
      }
      attempt += 1
    }
  }

  /// A scenario of the run, and which repetition it is.
  private struct Place {
    var scenario: Scenario
    var round: Int
  }

  /// - Returns: the exchanges are those that no step has reported.
  private func judge(
    _ place: Place, _ number: Int, ios: String?, _ obstacle: String?, _ diary: PhoneDiary?
  ) async -> (Judgement, [Exchange]) {
    let scenario = place.scenario
    guard obstacle == nil, let link else {
      return (Judgement(word: .error, message: obstacle ?? "", line: nil, recovery: nil), [])
    }
    let token: Secret?
    do throws(Problem) { token = try await self.token() } catch {
      return (Judgement(word: .error, message: "the door's token: \(error)", line: nil, recovery: nil), [])
    }
    let scene = scene(of: scenario, over: link, ios: ios, token: token, diary)
    let attempt = Attempt(scene, ledger: ledger) { [body, emitter] step, result, took in
      if !result.isHeld { diary?.mark() }
      var event = Self.event(step, result, took, scenario, body)
      (event.round, event.attempt) = (place.round, number)
      (event.exchanges, event.exchangesLeftOut) = scene.exchanges.take()
      event.deeds = scene.deeds.take()
      await emitter(.stepFinished(event))
    }
    let judgement = await attempt.judgement()
    return (judgement, scene.exchanges.take().exchanges)
  }

  /// The door's token, read now, and taken out of every text from now on.
  func token() async throws(Problem) -> Secret? {
    guard let token = try body.door.token(options.files) else { return nil }
    await emitter.hide(token)
    return token
  }

  func scene(
    of scenario: Scenario, over link: any ScenarioLink, ios: String?, token: Secret?, _ diary: PhoneDiary? = nil
  ) -> Scene {
    Scene(
      scenario: scenario, body: body, link: link, ios: ios, token: token, clock: options.clock, lab: lab,
      attendant: options.attendant, diary: diary, stamps: options.stamps,
      presence: options.presence, mountImage: options.mountImage)
  }
}

extension BodyRun {
  private static func event(
    _ step: Step, _ result: StepResult, _ took: Duration, _ scenario: Scenario, _ body: Body
  ) -> StepFinished {
    var event = StepFinished(
      body: body.name, udid: body.udid, scenario: scenario.name, attempt: 1, step: step.text, file: scenario.file,
      line: step.line, ok: result.isHeld, seconds: took.roundedSeconds, expected: step.expected)
    switch result {
    case .held(let came): event.came = came
    case .failed(let expected, let came):
      event.expected = expected
      event.came = came
    case .broken(let sentence), .noMeans(let sentence): event.came = sentence
    case .stopped: event.came = "stopped"
    }
    return event
  }

  /// The verdict as it is reported: a known fault is apart for as long as its quarantine lasts.
  static func verdict(
    _ judgement: Judgement, _ quarantine: Quarantine?, _ body: Body, _ today: CalendarDay
  ) -> (word: Verdict, message: String?) {
    let isApart = quarantine?.holds(for: body, on: today) ?? false
    switch judgement.word {
    case .passed where isApart: return (.quarantined, "quarantined, but passes")
    case .failed where isApart:
      return (.quarantined, [quarantine?.reason, judgement.message].compactMap { $0 }.joined(separator: ": "))
    case .passed: return (.passed, nil)
    case .failed: return (.failed, judgement.message)
    case .skipped: return (.skipped, judgement.message)
    // A broken harness has judged nothing, known fault or not.
    case .error: return (.error, judgement.message)
    }
  }
}

extension Duration {
  /// Seconds to the millisecond, as events carry them.
  var roundedSeconds: Double { (inSeconds * 1_000).rounded() / 1_000 }
}
