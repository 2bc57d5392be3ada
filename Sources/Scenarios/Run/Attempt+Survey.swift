import DeviceBridge
import Fleet
import Transport

extension Attempt {
  /// Whether the phone is there, and everything that the scenario does can be done to it and taken back: a scenario that
  /// cannot be carried out is skipped before anything is changed.
  func survey() async -> StepResult {
    let visit = await unlessCancelled { [scene] in await scene.link.facts(by: .after(Scene.lookLimit)) }
    guard let facts = visit else { return .stopped }
    // What the lock keeps from being read is for the needs to say.
    if let error = facts.error, !error.isBeforeFirstUnlock { return .broken(error.sentence) }
    if let ios = facts.ios { scene.ios = ios }
    scene.firstNumber = await scene.presence?(scene.body)?.deviceID
    let steps = scene.scenario.steps + scene.scenario.recovers
    scene.diary?.begin(lookingFor: scene.scenario.lookedForInLog.map { Placeholders.fill($0, scene.texts) })
    for result in [
      await surveyStates(steps), surveyPeople(steps), surveyLaunches(steps), await surveyScreen(steps), surveyLog(),
    ]
    where !result.isHeld {
      return result
    }
    return .held(came: nil)
  }

  private func surveyStates(_ steps: [Step]) async -> StepResult {
    for step in steps {
      guard case .arrange(let state) = step.action, let sentence = arranger.lacking(state) else { continue }
      // A state that a kiosk rests in and is in already needs no means.
      if state.isRest {
        switch await scene.read(state) {
        case .holds: continue
        case .unreachable(let sentence): return .broken(sentence)
        case .denied, .unreadable, .mute, .untold: break
        }
      }
      return .noMeans(sentence)
    }
    return .held(came: nil)
  }

  private func surveyPeople(_ steps: [Step]) -> StepResult {
    guard scene.attendant == nil, let step = steps.first(where: { if case .person = $0.action { true } else { false } })
    else { return .held(came: nil) }
    return .noMeans("line \(step.line) asks the operator, and nobody stands by. Run with --attended")
  }

  /// Some systems launch nothing over the cable.
  private func surveyLaunches(_ steps: [Step]) -> StepResult {
    let launches = steps.contains { step in
      switch step.action {
      case .launch: true
      case .revive(let revive): revive.kind == .revived || revive.kind == .launchedNoAnswer
      case .arrange, .request, .start, .finish, .until, .lock, .door, .ready, .app, .files, .screen, .log, .wait,
        .person, .command:
        false
      }
    }
    guard launches, let ios = scene.ios, Self.launchesNothing(ios) else { return .held(came: nil) }
    return .noMeans(
      "needs the app launched over the cable, which iOS \(ios) does not do: only up to 16, and from 17.4 on")
  }

  /// 17.0 to 17.3: no debugger any more, and no tunnel yet.
  private static func launchesNothing(_ ios: String) -> Bool {
    let parts = ios.split(separator: ".").compactMap { Int($0) }
    return parts.first == 17 && (parts.dropFirst().first ?? 0) < 4
  }

  /// Some phones give no picture of their screen.
  private func surveyScreen(_ steps: [Step]) async -> StepResult {
    guard steps.contains(where: { if case .screen = $0.action { true } else { false } }) else {
      return .held(came: nil)
    }
    do throws(PhoneError) {
      _ = try await scene.link.screen(by: .after(Scene.lookLimit))
      return .held(came: nil)
    } catch {
      switch error {
      case .launchRefused: return .noMeans("needs a picture of the screen, but: \(error.sentence)")
      default: return .broken(error.sentence)
      }
    }
  }

  private func surveyLog() -> StepResult {
    guard !scene.scenario.lookedForInLog.isEmpty else { return .held(came: nil) }
    guard let diary = scene.diary else { return .broken("nobody reads the phone's log") }
    return diary.trouble.map { .broken("the phone's log is not read: \($0)") } ?? .held(came: nil)
  }
}

extension Scenario {
  /// Texts that its steps look for in the phone's log.
  var lookedForInLog: [String] {
    (steps + recovers).compactMap { if case .log(let step) = $0.action { step.contains } else { nil } }
  }
}
