import DeviceBridge
import Fleet
import Transport
import Wire

/// One way to bring a phone into a state.
enum Means: Equatable, Sendable {
  /// fleet.yaml's command.
  case command([String], limit: Duration)
  /// fleet.yaml's request to a hook of a test build.
  case hook(RequestLine, limit: Duration)
  /// The bridge brings an app in front.
  case launch(bundle: String)
  /// The person beside the phones.
  case attendant(String, limit: Duration)

  var text: String {
    switch self {
    case .command(let argv, _): "the command '\(argv.first ?? "")'"
    case .hook(let line, _): "the app's hook \(line)"
    case .launch(let bundle): "launching \(bundle) over the cable"
    case .attendant: "the operator"
    }
  }
}

/// What came of using a means.
enum MeansOutcome: Equatable, Sendable {
  /// It says that it is done; the phone has the last word.
  case claimed
  /// The phone would not; nothing is broken.
  case refused(String)
  /// The means itself did not work.
  case broken(String)
  /// Phone or daemon went out of reach meanwhile: it may have been done all the same, and may work once they are back.
  case lost(String)
}

extension Scene {
  /// What this phone has for a state: what fleet.yaml names, then the bridge, then the operator.
  func means(for state: BodyState) -> [Means] {
    var means: [Means] = []
    let named = body.arrange[state]
    if let command = named?.command {
      means.append(.command(command, limit: named?.deadline ?? .seconds(60)))
    } else if let line = named?.request.flatMap(RequestLine.init) {
      means.append(.hook(line, limit: named?.deadline ?? .seconds(10)))
    }
    if body.app.launcher == .auto, let bundle = bundleInFront(for: state) { means.append(.launch(bundle: bundle)) }
    if attendant != nil, let sentence = named?.operatorText ?? Self.usualSentence(state) {
      means.append(.attendant(sentence, limit: named?.deadline ?? .seconds(600)))
    }
    return means
  }

  private func bundleInFront(for state: BodyState) -> String? {
    switch state {
    case .inFront: body.app.bundle
    case .inBackground: body.app.decoy
    case .unlocked, .locked, .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraGranted,
      .cameraDenied, .appInstalled, .rebooted, .beforeFirstUnlock, .tokenConfigured:
      nil
    }
  }

  private static func usualSentence(_ state: BodyState) -> String? {
    switch state {
    case .unlocked: "Unlock {name}"
    case .locked: "Lock {name} with its side button"
    case .inFront: "Bring the kiosk app on {name} to the front"
    case .inBackground: "Put the kiosk app on {name} in the background: open another app"
    case .cameraGranted: "Allow the kiosk app on {name} to use the camera, in Settings"
    case .appInstalled: "Install the kiosk app on {name}"
    case .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraDenied, .rebooted,
      .beforeFirstUnlock, .tokenConfigured:
      nil
    }
  }

  func use(_ means: Means) async -> MeansOutcome {
    switch means {
    case .command(let argv, let limit): await run(argv, limit: limit)
    case .hook(let line, let limit): await call(hook: line, limit: limit)
    case .launch(let bundle): await launch(LaunchRequest(bundle: bundle))
    case .attendant(let sentence, let limit): await ask(sentence, limit: limit)
    }
  }

  /// The lab's time is the host's, however fast the phones' time runs.
  private func run(_ argv: [String], limit: Duration) async -> MeansOutcome {
    let texts = texts
    let command = LabCommand(
      argv: argv.map { Placeholders.fill($0, texts) },
      environment: Dictionary(uniqueKeysWithValues: texts.map { ("FLEETCTL_\($0.uppercased())", $1) }))
    let outcome = await lab.run(command, by: .after(limit))
    let output = AnswerText.visible(outcome.output.trimmed)
    let said = output.isEmpty ? "" : ": \(output.suffix(300))"
    let name = "the command '\(command.argv.first ?? "")'"
    switch outcome.ending {
    case .exited(0): return .claimed
    case .exited(let code): return .broken("\(name) ended with \(code)\(said)")
    case .killed(let signal): return .broken("\(name) was ended by signal \(signal)\(said)")
    case .timedOut: return .broken("\(name) did not end within \(limit.shown)\(said)")
    case .stopped: return .broken("\(name) was ended because the run was stopped")
    case .notStarted(let why): return .broken("\(name) could not be started: \(why)")
    }
  }

  private func call(hook line: RequestLine, limit: Duration) async -> MeansOutcome {
    var step = RequestStep(line: line)
    step.deadline = limit
    guard let (ending, _) = await send(step) else { return .broken("the run was stopped") }
    if case .response(let message) = ending, (200..<300).contains(message.status) { return .claimed }
    let text = "the app's hook \(line): \(AnswerText.of(ending))"
    if case .unreachable = ending { return .lost(text) }
    return .broken(text)
  }

  /// A launch that is under way is waited for even when the run is stopped: only then can it be undone.
  private func launch(_ request: LaunchRequest) async -> MeansOutcome {
    let launch = Task { [link] () -> PhoneError? in
      do throws(PhoneError) {
        try await link.launch(request, by: .after(.seconds(40)))
        return nil
      } catch {
        return error
      }
    }
    guard let error = await launch.value else { return .claimed }
    return Self.outcome(request.bundle, error)
  }

  private static func outcome(_ bundle: String, _ error: PhoneError) -> MeansOutcome {
    // Its lock keeps even the session from it, as the passcode does the launch.
    if error.isBeforeFirstUnlock { return .refused(error.sentence) }
    guard case .launchRefused(_, let refusal, _) = error else { return .lost(error.sentence) }
    return refusal == .appExited ? .broken("\(bundle) ended right after its launch") : .refused(error.sentence)
  }

  private func ask(_ sentence: String, limit: Duration) async -> MeansOutcome {
    let filled = Placeholders.fill(sentence, texts)
    guard let attendant else { return .refused("nobody stands by") }
    return await attendant.ask(filled, about: body, by: .after(limit))
      ? .claimed : .refused("the operator did not do it: \(filled)")
  }
}

extension String {
  /// Without white space at either end.
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
