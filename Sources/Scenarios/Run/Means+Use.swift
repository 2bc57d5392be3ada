import DeviceBridge
import Fleet
import Transport
import Wire

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
  func use(_ means: Means) async -> MeansOutcome {
    switch means {
    case .command(let argv, let limit): await run(argv, limit: limit).outcome
    case .hook(let line, let limit): await call(hook: line, limit: limit)
    case .launch(let bundle, let fresh): await launch(LaunchRequest(bundle: bundle, fresh: fresh))
    case .stop(let bundle):
      await onPhone(bundle) { link throws(PhoneError) in try await link.suspend(bundle, by: .after(Self.launchLimit)) }
    case .goOn(let bundle):
      await onPhone(bundle) { link throws(PhoneError) in try await link.resume(bundle, by: .after(Self.launchLimit)) }
    case .end(let bundle):
      await onPhone(bundle) { link throws(PhoneError) in
        _ = try await link.kill(bundle, by: .after(Self.launchLimit))
        return true
      }
    case .clip: keepCameraBusy()
    case .patience: .claimed
    case .attendant(let sentence, let limit): await ask(sentence, limit: limit)
    }
  }

  /// Longest for bringing an app in front, stopping or ending it, on the host's clock.
  static let launchLimit = Duration.seconds(40)

  /// A command of the lab, with its texts filled in. The lab's time is the host's, however fast the phones' time runs.
  func run(_ argv: [String], limit: Duration) async -> (outcome: MeansOutcome, output: String) {
    let texts = texts
    let command = LabCommand(
      argv: argv.map { Placeholders.fill($0, texts) },
      environment: Dictionary(
        texts.merging(names) { own, _ in own }.map { ("FLEETCTL_\(Self.variable($0))", $1) },
        uniquingKeysWith: { first, _ in first }))
    let ended = await lab.run(command, by: .after(limit))
    let output = AnswerText.visible(ended.output.trimmed)
    deeds.add("$ \(command.argv.joined(separator: " "))", output.isEmpty ? nil : output)
    let said = output.isEmpty ? "" : ": \(output.suffix(300))"
    let name = "the command '\(command.argv.first ?? "")'"
    let outcome: MeansOutcome =
      switch ended.ending {
      case .exited(0): .claimed
      case .exited(let code): .broken("\(name) ended with \(code)\(said)")
      case .killed(let signal): .broken("\(name) was ended by signal \(signal)\(said)")
      case .timedOut: .broken("\(name) did not end within \(limit.shown)\(said)")
      case .stopped: .broken("\(name) was ended because the run was stopped")
      case .notStarted(let why): .broken("\(name) could not be started: \(why)")
      }
    return (outcome, output)
  }

  /// A name as environment variables are written.
  private static func variable(_ name: String) -> String {
    String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private func call(hook line: RequestLine, limit: Duration) async -> MeansOutcome {
    var step = RequestStep(line: line)
    step.deadline = limit
    guard let ending = await send(step)?.ending else { return .broken("the run was stopped") }
    if case .response(let message) = ending, (200..<300).contains(message.status) { return .claimed }
    let text = "the app's hook \(line): \(AnswerText.of(ending))"
    if case .unreachable = ending { return .lost(text) }
    return .broken(text)
  }

  /// Launches the app, through a developer image that is mounted for it where the owner wants that.
  private func launch(_ request: LaunchRequest) async -> MeansOutcome {
    let lacksImage = Guarded(false)
    func once() async -> MeansOutcome {
      await onPhone(request.bundle) { link throws(PhoneError) in
        do throws(PhoneError) {
          try await link.launch(request, by: .after(Self.launchLimit))
          return true
        } catch {
          if case .launchRefused(_, .noDeveloperImage, _) = error { lacksImage.with { $0 = true } }
          throw error
        }
      }
    }
    let outcome = await once()
    guard lacksImage.with({ $0 }), let mountImage else { return outcome }
    if let why = await mountImage(link) { return .refused(why) }
    deeds.add("the developer image is mounted", nil)
    return await once()
  }

  /// What is under way on the phone is waited for even when the run is stopped: only then can it be undone.
  private func onPhone(
    _ bundle: String, _ deed: @escaping @Sendable (any ScenarioLink) async throws(PhoneError) -> Bool
  ) async -> MeansOutcome {
    let work = Task { [link] () -> MeansOutcome in
      do throws(PhoneError) {
        return try await deed(link) ? .claimed : .refused("\(bundle) does not run")
      } catch {
        return Self.outcome(bundle, error)
      }
    }
    return await work.value
  }

  private static func outcome(_ bundle: String, _ error: PhoneError) -> MeansOutcome {
    // Its lock keeps even the session from it, as the passcode does the launch.
    if error.isBeforeFirstUnlock { return .refused(error.sentence) }
    guard case .launchRefused(_, let refusal, _) = error else { return .lost(error.sentence) }
    return refusal == .appExited ? .broken("\(bundle) ended right after its launch") : .refused(error.sentence)
  }

  /// As long as a state is held that nobody ends.
  private static let clipSeconds = 20

  private func keepCameraBusy() -> MeansOutcome {
    let target = "/clip?camera=back&seconds=\(Self.clipSeconds)"
    beside { [self] in _ = await send(RequestStep(line: RequestLine(method: "POST", target: target))) }
    return .claimed
  }

  private func ask(_ sentence: String, limit: Duration) async -> MeansOutcome {
    let filled = Placeholders.fill(sentence, texts)
    guard let attendant else { return .refused("nobody stands by") }
    deeds.add("operator: \(filled)", nil)
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
