import Transport
import Wire

/// What comes of a launch that a debugger asks for.
enum DebuggerLaunch: Sendable {
  /// Stopped before its first instruction.
  case started(AppProcess)
  /// The phone's own words.
  case refused(String)
  /// The phone never answers.
  case silent
  /// The phone accepts, and then never answers again.
  case mute
  /// The phone closes the connection.
  case lost
}

extension KioskApp {
  /// Starts an app anew, in front and stopped; a running one is ended first.
  ///
  /// - Parameter path: the app's folder, or the executable in it.
  func launchUnderDebugger(
    _ path: String, _ arguments: [String], _ environment: [String: String]
  ) -> DebuggerLaunch {
    let app = allInstalled.first { path == $0.executablePath || path == $0.path }
    note("launch-requested", app?.bundle ?? path, arguments, environment)
    guard let app else { return .refused("NotFound") }
    switch model.with({ $0.launchFaults[app.bundle] })
      ?? (app.isDebuggable ? nil : .refusedLate(LaunchFault.notDebuggable))
    {
    case .refused(let text): return .refused(text)
    case .refusedLate(let text):
      // It is there for a moment: the phone starts it before it finds out.
      launch(app.bundle, arguments: arguments, environment: environment, fresh: true)
      if let process = process(app.bundle) {
        timers.schedule(at: surroundings.clock.now + .seconds(3)) { [weak self] in self?.end(process, .signal(9)) }
      }
      return .refused(text)
    case .silent: return .silent
    case .mute: return .mute
    case .lost: return .lost
    case .collide where process(app.bundle) != nil:
      model.with { $0.launchFaults[app.bundle] = nil }
      kill(app.bundle)
      return .refused("The process could not be started: another one of it was ending")
    case .crash, .collide, nil: break
    }
    switch launch(app.bundle, arguments: arguments, environment: environment, fresh: true, stopped: .debugger) {
    case .refused(let text): return .refused(text)
    case .launched(let pid): return process(pid: pid).map { .started($0) } ?? .refused("The process has ended")
    }
  }

  /// The first process of that executable.
  func process(named executable: String) -> AppProcess? {
    model.with { $0.processes.values.first { $0.executable == executable } }
  }

  /// Writes what the host wants to start into the journal, the door's token aside.
  func note(
    _ event: String, _ name: String, _ arguments: [String], _ environment: [String: String],
    _ further: [String: JSON] = [:]
  ) {
    let token = model.with { $0.door.token } ?? ""
    func shown(_ text: String) -> JSON {
      .string(
        token.isEmpty ? text : text.split(separator: token, omittingEmptySubsequences: false).joined(separator: "***"))
    }
    var details = further
    details["app"] = .string(String(name.prefix(256)))
    details["arguments"] = .array(arguments.map(shown))
    details["environment"] = .object(environment.mapValues(shown))
    surroundings.note(event, details)
  }
}
