import Wire

/// A run as the record keeps it.
public struct RunRow: Equatable, Sendable {
  public var number: Int
  /// RFC 3339, UTC.
  public var startedAt: String
  /// nil: it is under way, or was killed.
  public var finishedAt: String?
  /// fleetctl's own.
  public var version: String
  public var label: String?
  /// On virtual phones of its own.
  public var isVirtual: Bool
  public var meta: [String: String]
  public var seconds: Double?
  /// What the process ended with.
  public var exit: Int?
  public var scenarios: [RunScenarioRow]
  public var bodies: [RunBodyRow]

  public init(
    number: Int = 0, startedAt: String, finishedAt: String? = nil, version: String, label: String? = nil,
    isVirtual: Bool = false, meta: [String: String] = [:], seconds: Double? = nil, exit: Int? = nil,
    scenarios: [RunScenarioRow] = [], bodies: [RunBodyRow] = []
  ) {
    self.number = number
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.version = version
    self.label = label
    self.isVirtual = isVirtual
    self.meta = meta
    self.seconds = seconds
    self.exit = exit
    self.scenarios = scenarios
    self.bodies = bodies
  }
}

/// A scenario file of a run.
public struct RunScenarioRow: Equatable, Sendable {
  public var scenario: String
  public var file: String
  /// SHA-256 of the file's bytes, in hexadecimal.
  public var hash: String

  public init(scenario: String, file: String, hash: String) {
    self.scenario = scenario
    self.file = file
    self.hash = hash
  }
}

/// A phone of a run, with the build under test on it as far as it could be read.
public struct RunBodyRow: Equatable, Sendable {
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

  public init(
    body: String?, udid: UDID, model: String? = nil, ios: String? = nil, bundle: String? = nil,
    version: String? = nil, build: String? = nil, usbPort: String? = nil
  ) {
    self.body = body
    self.udid = udid
    self.model = model
    self.ios = ios
    self.bundle = bundle
    self.version = version
    self.build = build
    self.usbPort = usbPort
  }
}

/// One attempt's verdict.
public struct VerdictRow: Equatable, Sendable {
  public var run: Int
  public var body: String?
  public var udid: UDID
  public var scenario: String
  public var file: String
  public var line: Int
  /// Counted from 1; the last one's verdict is the scenario's.
  public var attempt: Int
  public var verdict: Verdict
  /// RFC 3339, UTC.
  public var at: String
  public var seconds: Double
  public var recoverySeconds: Double?
  public var message: String?

  public init(
    run: Int, body: String?, udid: UDID, scenario: String, file: String, line: Int, attempt: Int = 1,
    verdict: Verdict, at: String, seconds: Double, recoverySeconds: Double? = nil, message: String? = nil
  ) {
    self.run = run
    self.body = body
    self.udid = udid
    self.scenario = scenario
    self.file = file
    self.line = line
    self.attempt = attempt
    self.verdict = verdict
    self.at = at
    self.seconds = seconds
    self.recoverySeconds = recoverySeconds
    self.message = message
  }
}
