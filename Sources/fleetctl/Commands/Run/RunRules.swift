import Fleet
import Scenarios

/// How often scenarios are run, under which conditions, and what their verdicts ask for.
struct RunRules: Sendable {
  var isAttended: Bool
  var retries: Int
  var rounds: Int
  var untilFailure: Bool
  var rerunsFailed: Bool
  var seed: UInt64?
  var expectedBuild: String?
  var failsOnSkip: Bool
  var failsOnFlaky: Bool
  /// Another build for this run.
  var app: String?
  var port: UInt16?
  var variables: [String: String]

  static let variable = OptionSpec.value("var", "K=V", "what {K} stands for in scenario files", repeats: true)

  static let specs: [OptionSpec] = [
    .flag("attended", "somebody stands by, and is asked to do what no command and no cable can"),
    .value("retries", "N", "try a scenario that failed again, up to N times; passing then, it is flaky"),
    .value("repeat", "N", "run everything so many times"),
    .flag("until-failure", "run everything again and again (or --repeat times), and stop at the first failure"),
    .flag("rerun-failed", "only what failed in the last run, on the phones on which it did"),
    .value("shuffle", "SEED", "in another order, the same for the same number"),
    .value("expect-build", "B", "run nothing, exit 3, unless this build is on every phone"),
    .flag("fail-on-skip", "a skipped scenario is a failure: exit 1"),
    .flag("fail-on-flaky", "a flaky scenario is a failure: exit 1"),
    .value("app", "BUNDLE", "another app for this run; the configured one is brought back in front"),
    .value("port", "N", "another port of the door for this run"),
    variable,
  ]

  init(_ invocation: Invocation) throws(UsageError) {
    isAttended = invocation.has("attended")
    retries = try invocation.number("retries", in: 0...100) ?? 0
    untilFailure = invocation.has("until-failure")
    rounds = try invocation.number("repeat", in: 1...1_000_000) ?? (untilFailure ? Int.max : 1)
    rerunsFailed = invocation.has("rerun-failed")
    failsOnSkip = invocation.has("fail-on-skip")
    failsOnFlaky = invocation.has("fail-on-flaky")
    expectedBuild = invocation.value("expect-build")
    app = invocation.value("app")
    port = try invocation.number("port", in: 1...65_535).map { UInt16($0) }
    variables = try Self.variables(invocation)
    let command = invocation.command.name
    if let text = invocation.value("shuffle") {
      guard let number = UInt64(text) else {
        throw .badValue(option: "shuffle", value: text, wanted: "a whole number from 0", command: command)
      }
      seed = number
    }
    for option in ["app", "expect-build"] where invocation.value(option)?.isEmpty == true {
      throw .badValue(option: option, value: "", wanted: "a text", command: command)
    }
  }

  static func variables(_ invocation: Invocation) throws(UsageError) -> [String: String] {
    let pairs = try invocation.pairs("var")
    if let odd = pairs.first(where: { !ScenarioFile.isVariable($0.name) }) {
      throw .badValue(
        option: "var", value: "\(odd.name)=\(odd.value)",
        wanted: "a name that can stand in braces and means nothing yet, and its value", command: invocation.command.name
      )
    }
    return Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  func set(_ settings: inout ScenarioRun.Options) {
    settings.retries = retries
    settings.rounds = rounds
    settings.untilFailure = untilFailure
    settings.seed = seed
    settings.expectedBuild = expectedBuild
  }

  /// The body with this run's app and port.
  func applied(to body: Body) -> Body {
    var body = body
    if let app { body.app.bundle = app }
    if let port { body.door.port = port }
    return body
  }
}

extension Scenario {
  /// So long before a quarantine ends, it is warned of.
  private static let warning = 7

  /// That the scenario counts again soon, or does again.
  var quarantineNotice: String? {
    guard let quarantine, let until = quarantine.until else { return nil }
    let left = until.days(since: .today())
    guard left <= Self.warning else { return nil }
    let ticket = quarantine.ticket.map { " (\($0))" } ?? ""
    let what = "\(name): its quarantine\(ticket) "
    return left < 0
      ? what + "ended with \(until); it counts again"
      : what + "ends with \(until); from the next day on it counts again"
  }
}
