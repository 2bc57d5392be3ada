import DeviceBridge
import Fleet
import Transport
import Wire

/// Steps that look at the phone beside the door, and those that somebody else carries out.
extension StepRunner {
  func app(_ step: AppStep) async -> StepResult {
    guard let bundle = scene.body.app.bundle else { return .broken(Scene.noBundle) }
    do throws(PhoneError) {
      guard let app = try await scene.link.app(bundle, by: .after(Scene.lookLimit)) else {
        return .failed(expected: "\(bundle) installed", came: "it is not")
      }
      return BuildCheck(step).result(app)
    } catch {
      return .broken(error.sentence)
    }
  }

  func files(_ step: FilesStep) async -> StepResult {
    guard let within = step.within else { return await filesOnce(step) }
    return await keepTrying(within: within) { _ in Try(result: await filesOnce(step)) }
  }

  private func filesOnce(_ step: FilesStep) async -> StepResult {
    guard let bundle = scene.body.app.bundle else { return .broken(Scene.noBundle) }
    let pattern = Placeholders.fill(step.pattern, scene.texts)
    let parts = pattern.split(separator: "/").map(String.init)
    let folder = parts.dropLast().joined(separator: "/")
    do throws(PhoneError) {
      let files = try await scene.link.files(in: folder, of: bundle, by: .after(Scene.lookLimit)) ?? []
      let found = files.map(\.name).filter { Glob.matches($0, parts.last ?? "") }
      let shown = found.prefix(5).map { AnswerText.visible(String($0.prefix(120))) }.joined(separator: ", ")
      let came = found.isEmpty ? "none" : "\(found.count): \(shown)\(found.count > 5 ? ", …" : "")"
      if found.isEmpty != step.some { return .held(came: came) }
      return .failed(expected: step.some ? "a file \(pattern)" : "no file \(pattern)", came: came)
    } catch {
      return .broken(error.sentence)
    }
  }

  func screen(_ step: ScreenStep) async -> StepResult {
    guard let within = step.within else { return await screenOnce(step) }
    return await keepTrying(within: within) { _ in Try(result: await screenOnce(step)) }
  }

  /// The picture is looked at in memory and dropped.
  private func screenOnce(_ step: ScreenStep) async -> StepResult {
    do throws(PhoneError) {
      let picture = try await scene.link.screen(by: .after(Scene.lookLimit))
      guard let pixels = Pixels(picture) else { return .broken("the picture of the screen is damaged") }
      return BandLook(pixels).result(wanted: step.band)
    } catch {
      return .broken(error.sentence)
    }
  }

  /// A line takes a moment from the app to this host, also where a step gives it no time.
  private static let logDelay = Duration.seconds(2)

  func log(_ step: LogStep) async -> StepResult {
    guard let diary = scene.diary else { return .broken("nobody reads the phone's log") }
    let text = Placeholders.fill(step.contains, scene.texts)
    return await keepTrying(within: step.within ?? Self.logDelay) { _ in
      if let line = diary.line(with: text) { return Try(result: .held(came: line)) }
      if let trouble = diary.trouble { return Try(result: .broken("the phone's log is not read: \(trouble)")) }
      return Try(result: .failed(expected: "a line in the phone's log with '\(text)'", came: "none"))
    }
  }

  func person(_ step: OperatorStep) async -> StepResult {
    let sentence = Placeholders.fill(step.sentence, scene.texts)
    switch await scene.use(.attendant(sentence, limit: step.deadline)) {
    case .claimed: return .held(came: "the operator says that it is done")
    case .refused(let why): return .noMeans(why)
    case .broken(let why), .lost(let why): return .broken(why)
    }
  }

  func command(_ step: CommandStep) async -> StepResult {
    let (outcome, output) = await scene.run(step.argv, limit: step.deadline)
    switch outcome {
    case .claimed: return .held(came: output.isEmpty ? nil : String(output.suffix(300)))
    // What a lab's command says is the lab's: nothing is known about the app.
    case .refused(let why), .broken(let why), .lost(let why): return .broken(why)
    }
  }

  func revive(_ step: ReviveStep) async -> StepResult {
    let body = scene.body
    guard body.app.bundle != nil || body.app.launcher == .others else { return .broken(Scene.noBundle) }
    var rules = ReviveRules(body)
    rules.holdsPhone = true
    let clock = RevivalClock(scene.clock)
    let settings = PhoneMeans.Settings(
      mux: .system, bundle: body.app.bundle ?? "", token: scene.token, holder: .current(.run))
    // The run holds the phone, so neither the locks nor the mux's address are asked for.
    let means = PhoneMeans(
      body, over: scene.link, settings, locks: PhoneLocks(), stamps: scene.stamps, clock: clock)
    let report: OutcomeReport
    do throws(RevivalError) {
      report = try await Revival(body, rules: rules, means: means, clock: clock).run()
    } catch {
      switch error {
      case .interrupted: return .stopped
      case .impossible(let error): return .broken(error.sentence)
      }
    }
    let came = [report.words.text, report.detail].compactMap { $0 }.joined(separator: ": ")
    scene.deeds.add("revive", came)
    if report.words.kind == step.kind, step.reason == nil || report.words.reason == step.reason {
      return .held(came: came)
    }
    switch report.words.kind {
    // What the cable, this host, a person or the phone itself kept from being tried says nothing of the app.
    case .unreachable, .untrusted, .hostFault, .launchRefused, .leftAlone, .held, .paused:
      return .broken(report.sentence ?? came)
    case .up, .revived, .silent, .locked, .launchedNoAnswer:
      return .failed(expected: "the outcome \(step.text)", came: came)
    }
  }
}

/// A scenario's time as a revival takes it. How old a reading may be is the host's own time: phones that live faster are
/// read no faster.
private struct RevivalClock: HostClock {
  private let clock: any ScenarioClock
  private let host = SystemClock()

  init(_ clock: any ScenarioClock) { self.clock = clock }

  var now: HostMoment { HostMoment(awake: clock.now, elapsed: host.now.elapsed) }
  var wall: Duration { host.wall }
  var boot: String { host.boot }

  func sleep(for span: Duration) async throws(CancellationError) {
    do { try await clock.sleep(for: span) } catch { throw CancellationError() }
  }

  func deadline(after span: Duration) -> Deadline { clock.deadline(after: span) }
}
