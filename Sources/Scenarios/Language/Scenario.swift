import DeviceBridge
import Fleet
import Wire

/// One scenario file, read and checked.
public struct Scenario: Equatable, Sendable {
  /// The file as it was named on the command line.
  public var file: String
  /// SHA-256 of the file's bytes, in hexadecimal.
  public var hash: String
  public var name: String
  /// Where the name stands.
  public var line: Int
  public var about: String?
  public var tags: [String]
  public var needs: [Need]
  /// Never empty.
  public var steps: [Step]
  /// Always run, and judged: the door is back.
  public var recovers: [Step]
  public var quarantine: Quarantine?
}

/// A state that must hold before the first step.
public struct Need: Equatable, Sendable {
  public var state: BodyState
  public var line: Int
  public var column: Int
}

/// A known fault: the scenario still runs, and is reported apart.
public struct Quarantine: Equatable, Sendable {
  public var reason: String
  /// The last day of it; from the next day on the scenario counts again.
  public var until: CalendarDay?
  public var ticket: String?
  /// Names of bodies, and `tag:T`; empty for all bodies.
  public var on: [String]

  /// Whether the scenario is apart for that body on that day.
  public func holds(for body: Body, on day: CalendarDay) -> Bool {
    if let until, day > until { return false }
    return on.isEmpty
      || on.contains { pattern in
        pattern.hasPrefix("tag:") ? body.tags.contains(String(pattern.dropFirst(4))) : pattern == body.name
      }
  }
}

/// One step, and where it stands in the file. Those inside `repeat` and `for-each` stand there once for each time they run.
public struct Step: Equatable, Sendable {
  public var line: Int
  public var column: Int
  public var action: Action
  /// What the names of a `for-each` around it, and those of --var, stand for: lab commands are told.
  public var names: [String: String] = [:]

  public enum Action: Equatable, Sendable {
    case arrange(BodyState)
    case request(RequestStep)
    /// Goes on beside the following steps until its `finish`.
    case start(name: String, RequestStep)
    case finish(name: String, Expectation)
    case until(UntilStep)
    case launch(LaunchStep)
    case revive(ReviveStep)
    case lock(LockStep)
    case door(DoorStep)
    case ready(ReadyStep)
    case app(AppStep)
    case files(FilesStep)
    case screen(ScreenStep)
    case log(LogStep)
    case wait(Duration)
    case person(OperatorStep)
    case command(CommandStep)
  }

  /// The step in the words of the file.
  public var text: String {
    switch action {
    case .arrange(let state): "arrange \(state.rawValue)"
    case .request(let step): "request \(step.line)"
    case .start(let name, let step): "start \(name): request \(step.line)"
    case .finish(let name, _): "finish \(name)"
    case .until(let step):
      switch step.condition {
      case .request(let request): "until request \(request.line)"
      case .lock(let state): "until lock \(state.rawValue)"
      }
    case .launch(let step): step.fresh ? "launch fresh" : "launch"
    case .revive(let step): "revive \(step.text)"
    case .lock(let step): "lock \(step.state.rawValue)"
    case .door(let step): "door \(step.answers ? "answers" : "silent")"
    case .ready(let step): "ready for a \(step.wish.camera) \(step.wish.kind.rawValue)"
    case .app(let step): "app \(step.text)"
    case .files(let step): "files \(step.some ? "some" : "none") \(step.pattern)"
    case .screen(let step): step.band ? "screen with the red band" : "screen without the red band"
    case .log(let step): "log contains '\(step.contains)'"
    case .wait(let duration): "wait \(duration.shown)"
    case .person(let step): "operator: \(step.sentence)"
    case .command(let step): "command \(step.argv.joined(separator: " "))"
    }
  }
}

extension AppStep {
  fileprivate var text: String {
    let parts = [
      absent.isEmpty ? nil : "without \(absent.joined(separator: ", "))",
      present.isEmpty ? nil : "with \(present.joined(separator: ", "))",
      contains.isEmpty ? nil : contains.map { "\($0.name) containing '\($0.text)'" }.joined(separator: ", "),
    ]
    return parts.compactMap { $0 }.joined(separator: "; ")
  }
}
