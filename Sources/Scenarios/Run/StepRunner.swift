import DeviceBridge
import Fleet
import Transport
import Wire

/// Runs the steps that look at the app and the phone; each ends by its own limit.
struct StepRunner: Sendable {
  let scene: Scene
  /// How long a pattern may be looked for in an answer, on the host's clock.
  var patternLimit = Duration.seconds(5)

  /// The pause between two tries where a step names none.
  static let pause = Duration.milliseconds(200)

  /// A request and what is expected of it, once or until it holds.
  func request(_ step: RequestStep) async -> StepResult {
    guard let within = step.retryWithin else { return await once(step, longest: nil).result }
    return await keepTrying(within: within, every: Self.pause) { left in await once(step, longest: left) }
  }

  func until(_ step: UntilStep) async -> StepResult {
    await keepTrying(within: step.within, every: step.every) { left in
      switch step.condition {
      case .request(let request): await once(request, longest: left)
      case .lock(let state): Try(result: await lockOnce(state))
      }
    }
  }

  func lock(_ step: LockStep) async -> StepResult {
    guard let within = step.within else { return await lockOnce(step.state) }
    return await keepTrying(within: within, every: Self.pause) { _ in Try(result: await lockOnce(step.state)) }
  }

  func launch(_ step: LaunchStep) async -> StepResult {
    guard let bundle = scene.body.app.bundle else { return .broken(Scene.noBundle) }
    let texts = scene.texts
    let request = LaunchRequest(
      bundle: bundle, arguments: step.arguments.map { Placeholders.fill($0, texts) },
      environment: step.environment.map { ($0.name, Placeholders.fill($0.text, texts)) }, fresh: step.fresh)
    do throws(PhoneError) {
      try await scene.link.launch(request, by: .after(Scene.launchLimit))
      return .held(came: "\(bundle) is launched")
    } catch .launchRefused(_, .appExited, _) {
      return .failed(expected: "\(bundle) running after its launch", came: "it ended within a second")
    } catch {
      return .broken(error.sentence)
    }
  }

  func wait(_ span: Duration) async -> StepResult {
    do {
      try await scene.clock.sleep(for: span)
      return .held(came: nil)
    } catch {
      return .stopped
    }
  }

  func door(_ step: DoorStep) async -> StepResult {
    var result: StepResult
    if let within = step.within {
      result = await keepTrying(within: within, every: Self.pause) { left in
        await doorOnce(step.answers, longest: left)
      }
    } else {
      result = await doorOnce(step.answers, longest: step.throughout).result
    }
    guard let span = step.throughout, result.isHeld else { return result }
    let end = scene.clock.now + span
    while result.isHeld, scene.clock.now < end {
      do { try await scene.clock.sleep(for: min(.seconds(1), end - scene.clock.now)) } catch { return .stopped }
      // The last look comes when the time is over, and may take its own time.
      let longest = step.answers ? nil : max(end - scene.clock.now, .seconds(1))
      result = await doorOnce(step.answers, longest: longest).result
    }
    return result
  }
}

extension StepRunner {
  /// One look; `wasCut` says that the look had less time than it would take by itself.
  struct Try {
    var result: StepResult
    var wasCut = false
  }

  private func once(_ step: RequestStep, longest: Duration?) async -> Try {
    guard let call = await scene.send(step, longest: longest) else { return Try(result: .stopped) }
    let result = await check(call.ending, took: call.took, step.expectation)
    return Try(result: result, wasCut: call.ranOut && Self.isLate(call.ending))
  }

  /// Whether more time could have made another ending of it. A way to the phone that is not open yet when the time is
  /// over says nothing of the cable.
  private static func isLate(_ ending: DoorAnswer.Ending) -> Bool {
    switch ending {
    case .silent: true
    case .unreachable(.silent), .unreachable(.muxSilent): true
    case .unreachable, .response, .refused, .badReply: false
    }
  }

  /// A pattern meets whatever a door sends, and may take for ever on it: that is the scenario's fault and not the app's.
  func check(
    _ ending: DoorAnswer.Ending, took: Duration, _ expectation: Expectation
  ) async -> StepResult {
    guard expectation.hasPattern else { return AnswerCheck(expectation).result(ending, took: took) }
    let race = OneShot<StepResult?>()
    let found = Latch()
    _ = Worker(name: "pattern", stackBytes: 4 << 20) {
      race.give(AnswerCheck(expectation).result(ending, took: took))
      found.open()
    }
    _ = Worker(name: "pattern limit") { [patternLimit] in
      if !found.wait(until: .after(patternLimit)) { race.give(nil) }
    }
    return await race.value()
      ?? .broken(
        "the pattern was not found within \(patternLimit.shown); write one that repeats nothing inside a repetition")
  }

  /// Looks again and again until it holds or the time is over.
  ///
  /// Where the phone was out of reach in between, the app did not have the whole time: what is false in the end is no
  /// fault of the app's then.
  func keepTrying(
    within: Duration, every: Duration = pause, _ look: (_ left: Duration) async -> Try
  ) async -> StepResult {
    let end = scene.clock.now + within
    var last: StepResult?
    var trouble: String?
    while true {
      let next = await look(max(end - scene.clock.now, .milliseconds(1)))
      if Task.isCancelled { return .stopped }
      if next.result.isHeld { return next.result }
      if case .broken(let sentence) = next.result, !next.wasCut { trouble = sentence }
      // A look that was cut short by the end says less than the one before it.
      if last == nil || !next.wasCut { last = next.result }
      if scene.clock.now + every >= end { break }
      do { try await scene.clock.sleep(for: every) } catch { return .stopped }
    }
    guard case .failed(let expected, let came) = last else { return last ?? .stopped }
    if let trouble { return .broken("\(trouble). Later: expected \(expected), within \(within.shown); came \(came)") }
    return .failed(expected: "\(expected), within \(within.shown)", came: "at last \(came)")
  }

  private func lockOnce(_ state: LockState) async -> StepResult {
    guard let reading = await scene.lock() else { return .stopped }
    switch reading.state {
    // Unknown is neither true nor false.
    case .unknown: return .broken("the lock cannot be read: \(reading.why)")
    case .locked, .unlocked:
      let came = "the phone is \(reading.state.rawValue)"
      return reading.state == state
        ? .held(came: came) : .failed(expected: "the phone \(state.rawValue)", came: came)
    }
  }

  /// Calls hello once. How long a mute door is listened to is the caller's to say: that it is silent can be said sooner
  /// than that it does not answer.
  private func doorOnce(_ answers: Bool, longest: Duration?) async -> Try {
    guard let call = await scene.call(.hello, longest: longest) else { return Try(result: .stopped) }
    let came = "\(AnswerText.of(call.ending)) after \(call.took.shown)"
    let wasCut = call.ranOut && Self.isLate(call.ending)
    switch call.ending {
    case .unreachable(let error): return Try(result: .broken(error.sentence), wasCut: wasCut)
    case .response: return Try(result: answers ? .held(came: came) : .failed(expected: "the door silent", came: came))
    case .refused, .silent, .badReply:
      let result: StepResult = answers ? .failed(expected: "the door to answer", came: came) : .held(came: came)
      return Try(result: result, wasCut: wasCut)
    }
  }
}
