import Fleet
import Wire

/// One thing that happened in a run: an object of the stream that `run --json` prints.
public struct RunEvent: Equatable, Sendable {
  /// RFC 3339, UTC.
  public var at: String
  /// The run's number.
  public var run: Int
  public var happening: Happening

  public enum Happening: Equatable, Sendable {
    case runStarted(RunStarted)
    case scenarioStarted(ScenarioStarted)
    case stepFinished(StepFinished)
    case scenarioFinished(ScenarioFinished)
    case runFinished(RunFinished)
  }
}

public struct RunStarted: Equatable, Sendable {
  public struct File: Equatable, Sendable {
    public var scenario: String
    public var file: String
    /// SHA-256 of the file's bytes, in hexadecimal.
    public var hash: String
  }

  /// A phone and the build under test on it, as far as they could be read.
  public struct Phone: Equatable, Sendable {
    public var body: String?
    public var udid: UDID
    public var model: String?
    public var ios: String?
    public var bundle: String?
    /// CFBundleShortVersionString.
    public var version: String?
    /// CFBundleVersion.
    public var build: String?
    public var usbPort: String?
    /// What is to be judged on it, where that is not every scenario of the run; no key of the stream.
    public var scenarios: [String]?
  }

  /// fleetctl's own.
  public var version: String
  public var label: String?
  public var meta: [String: String]
  public var files: [File]
  public var phones: [Phone]
  /// Scenarios times phones times repetitions, as the run sets out to judge; nil where that is open. No key of its own.
  public var planned: Int?
}

public struct ScenarioStarted: Equatable, Sendable {
  public var body: String?
  public var udid: UDID
  public var scenario: String
  /// Which of the run's repetitions it is, counted from 1.
  public var round: Int = 1
  /// Counted from 1 in each round; more than one where a failed attempt is followed by another.
  public var attempt: Int
}

public struct StepFinished: Equatable, Sendable {
  public var body: String?
  public var udid: UDID
  public var scenario: String
  public var round: Int = 1
  public var attempt: Int
  /// The step in the words of the file.
  public var step: String
  public var file: String
  public var line: Int
  public var ok: Bool
  /// On the scenarios' clock.
  public var seconds: Double
  public var expected: String?
  public var came: String?
  /// The door's part in it; like all that only reports show, no key of the stream.
  public var exchanges: [Exchange] = []
  /// Exchanges that are not among them, after the first ones.
  public var exchangesLeftOut = 0
  /// What lab commands and the operator were asked for and what they said, line by line.
  public var deeds: [String] = []
}

public struct ScenarioFinished: Equatable, Sendable {
  public var body: String?
  public var udid: UDID
  public var scenario: String
  public var round: Int = 1
  public var attempt: Int
  /// No other attempt follows: this verdict is the one that counts.
  public var isFinal: Bool = true
  public var verdict: Verdict
  /// On the scenarios' clock.
  public var seconds: Double
  /// From the end of the undo until `recovers` held; nil where it did not, or did not run.
  public var recoverySeconds: Double?
  /// Why the verdict is not `passed`.
  public var message: String?
  public var file: String
  /// The step that decided the verdict, or the scenario's own line.
  public var line: Int
  /// What may still be as the scenario arranged it, and why; `message` says it too, and so it is no key of its own.
  public var notUndone: String?
  /// Those that belong to no step, such as what the undo read.
  public var exchanges: [Exchange] = []
  /// The phone's log around what did not hold; empty where it was not kept or everything held.
  public var log: [String] = []
}

public struct RunFinished: Equatable, Sendable {
  public var counts: VerdictCounts
  public var seconds: Double
  /// What the process ends with.
  public var exit: ExitCode
}

extension RunEvent {
  /// The object of the run's stream: snake_case keys, absent values null.
  public var json: JSON {
    var object: [String: JSON] =
      switch happening {
      case .runStarted(let event): event.fields
      case .scenarioStarted(let event): event.fields
      case .stepFinished(let event): event.fields
      case .scenarioFinished(let event): event.fields
      case .runFinished(let event): event.fields
      }
    object["at"] = .string(at)
    object["run"] = .integer(Int64(run))
    return .object(object)
  }
}

extension RunStarted {
  fileprivate var fields: [String: JSON] {
    [
      "event": "run-started", "version": .string(version), "label": .text(label),
      "meta": .object(meta.mapValues(JSON.string)),
      "scenarios": .array(
        files.map { ["scenario": .string($0.scenario), "file": .string($0.file), "hash": .string($0.hash)] }),
      "bodies": .array(phones.map(\.json)),
    ]
  }
}

extension RunStarted.Phone {
  fileprivate var json: JSON {
    [
      "body": .text(body), "udid": .string(udid.description), "model": .text(model), "ios": .text(ios),
      "bundle": .text(bundle), "CFBundleShortVersionString": .text(version), "CFBundleVersion": .text(build),
      "usb_port": .text(usbPort),
    ]
  }
}

extension ScenarioStarted {
  fileprivate var fields: [String: JSON] {
    [
      "event": "scenario-started", "body": .text(body), "udid": .string(udid.description),
      "scenario": .string(scenario), "round": .integer(Int64(round)), "attempt": .integer(Int64(attempt)),
    ]
  }
}

extension StepFinished {
  fileprivate var fields: [String: JSON] {
    [
      "event": "step-finished", "body": .text(body), "udid": .string(udid.description),
      "scenario": .string(scenario), "round": .integer(Int64(round)), "attempt": .integer(Int64(attempt)),
      "step": .string(step),
      "line": .integer(Int64(line)), "ok": .boolean(ok), "seconds": .number(seconds), "expected": .text(expected),
      "came": .text(came),
    ]
  }
}

extension ScenarioFinished {
  fileprivate var fields: [String: JSON] {
    [
      "event": "scenario-finished", "body": .text(body), "udid": .string(udid.description),
      "scenario": .string(scenario), "round": .integer(Int64(round)), "attempt": .integer(Int64(attempt)),
      "final": .boolean(isFinal), "verdict": .string(verdict.rawValue),
      "seconds": .number(seconds), "recovery_s": recoverySeconds.map(JSON.number) ?? .null,
      "message": .text(message), "file": .string(file), "line": .integer(Int64(line)),
    ]
  }
}

extension RunFinished {
  fileprivate var fields: [String: JSON] {
    [
      "event": "run-finished", "counts": counts.json, "seconds": .number(seconds), "exit": .integer(Int64(exit.number)),
    ]
  }
}
