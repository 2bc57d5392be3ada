import Transport
import Wire

/// What comes of a launch that CoreDevice's app service is asked for.
enum ServiceLaunch: Sendable {
  case launched(AppProcess)
  case refused(Refusal)
  /// The phone never answers.
  case silent
  /// The phone ends the connection.
  case lost

  enum Refusal: Equatable, Sendable {
    case locked
    case notFound
    case security
    case busy
    /// In the phone's own words.
    case other(String)
  }
}

extension ServiceLaunch.Refusal {
  /// The reason that debugserver would give as a text.
  init(_ text: String) {
    switch text {
    case "Locked": self = .locked
    case "NotFound": self = .notFound
    case "Busy": self = .busy
    case let text where text.hasSuffix("(Security)"): self = .security
    default: self = .other(text)
    }
  }
}

extension KioskApp {
  /// Starts an app as CoreDevice does; a running one is ended first only where the host wants it.
  func launch(byService input: LaunchInput) -> ServiceLaunch {
    note(
      "coredevice-launch", input.bundle, input.arguments, input.environment,
      [
        "terminate_existing": .boolean(input.terminatesExisting), "start_stopped": .boolean(input.startsStopped),
        "activate": .boolean(input.activates),
      ])
    switch model.with({ $0.launchFaults[input.bundle] }) {
    case .refused(let text): return .refused(ServiceLaunch.Refusal(text))
    case .refusedLate(let text):
      // It is there for a moment: the phone starts it before it finds out.
      if case .launched(let process) = start(input) {
        timers.schedule(at: surroundings.clock.now + .seconds(3)) { [weak self] in self?.end(process, .signal(9)) }
      }
      return .refused(ServiceLaunch.Refusal(text))
    case .silent: return .silent
    case .mute:
      _ = start(input)
      return .silent
    case .lost: return .lost
    case .collide where process(input.bundle) != nil:
      model.with { $0.launchFaults[input.bundle] = nil }
      kill(input.bundle)
      return .refused(.busy)
    case .crash, .collide, nil: return start(input)
    }
  }

  private func start(_ input: LaunchInput) -> ServiceLaunch {
    let outcome = launch(
      input.bundle, arguments: input.arguments, environment: input.environment, fresh: input.terminatesExisting,
      stopped: input.startsStopped ? .host : nil, inFront: input.activates)
    switch outcome {
    case .refused(let text): return .refused(ServiceLaunch.Refusal(text))
    case .launched(let pid):
      guard let process = process(pid: pid) else { return .refused(.other("The process has ended")) }
      return .launched(process)
    }
  }
}
