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
  let link: (any PhoneLink)?
  let emitter: Emitter

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
    let diary = options.keepsLog ? link.flatMap(PhoneDiary.init) : nil
    await diary?.start()
    defer { diary?.stop() }
    for scenario in scenarios {
      if Task.isCancelled { break }
      await emitter(
        .scenarioStarted(
          ScenarioStarted(body: body.name, udid: body.udid, scenario: scenario.name, attempt: 1)))
      let began = options.clock.now
      diary?.begin()
      let (judgement, exchanges) = await judge(scenario, ios: ios, claim, diary)
      let verdict = Self.verdict(judgement, scenario.quarantine, body, options.today)
      await emitter(
        .scenarioFinished(
          ScenarioFinished(
            body: body.name, udid: body.udid, scenario: scenario.name, attempt: 1, verdict: verdict.word,
            seconds: (options.clock.now - began).roundedSeconds,
            recoverySeconds: judgement.recovery?.roundedSeconds, message: verdict.message, file: scenario.file,
            line: judgement.line ?? scenario.line, notUndone: judgement.notUndone,
            exchanges: exchanges, log: diary?.excerpt() ?? [])))
    }
    link?.close()
  }

  /// - Returns: the exchanges are those that no step has reported.
  private func judge(
    _ scenario: Scenario, ios: String?, _ claim: PhoneClaim, _ diary: PhoneDiary?
  ) async -> (Judgement, [Exchange]) {
    if case .refused(let sentence) = claim {
      return (Judgement(word: .error, message: sentence, line: nil, recovery: nil), [])
    }
    guard let link else {
      return (Judgement(word: .error, message: PhoneError.absent(body.udid).sentence, line: nil, recovery: nil), [])
    }
    let token: Secret?
    do throws(Problem) {
      token = try body.door.token(options.files)
    } catch {
      return (Judgement(word: .error, message: "the door's token: \(error)", line: nil, recovery: nil), [])
    }
    if let token { await emitter.hide(token) }
    let scene = Scene(
      scenario: scenario, body: body, link: link, ios: ios, token: token, clock: options.clock, lab: lab,
      attendant: options.attendant)
    let attempt = Attempt(scene) { [body, emitter] step, result, took in
      if !result.isHeld { diary?.mark() }
      var event = Self.event(step, result, took, scenario, body)
      (event.exchanges, event.exchangesLeftOut) = scene.exchanges.take()
      await emitter(.stepFinished(event))
    }
    let judgement = await attempt.judgement()
    return (judgement, scene.exchanges.take().exchanges)
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
