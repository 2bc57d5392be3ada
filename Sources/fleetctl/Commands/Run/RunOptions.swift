import Fleet
import Scenarios

/// The options of `fleetctl run`, read.
struct RunOptions: Sendable {
  var paths: [String]
  var bodies: [String]
  var all: Bool
  var tags: [String]
  var excludedTags: [String]
  var jobs: Int?
  var virtual: Int?
  var timeScale: Double
  var expectedBodies: Int?
  var timeout: Duration?
  /// Longest for a phone that somebody else holds; by default as long as a revival may take.
  var lockWait = Duration.seconds(30)
  var rules: RunRules
  var reports: ReportOptions

  static let specs: [OptionSpec] =
    [
      .value("body", "NAME", "a body, or tag:T for all with that tag", repeats: true),
      .flag("all", "every body, where there are several"),
      .value("tag", "T", "only scenarios with this tag", repeats: true),
      .value("exclude-tag", "T", "no scenarios with this tag", repeats: true),
      .value("jobs", "N", "phones that are worked on at once (else all)"),
      .value("virtual", "N", "start so many virtual phones, run on them, and end them"),
      VirtualOptions.ios,
      VirtualOptions.timeScale,
      .value("expect-bodies", "N", "run nothing, exit 3, unless so many phones are there"),
      .value("timeout", "DURATION", "stop then, undo what was arranged, and exit 3 unless something failed"),
      .value("lock-wait", "DURATION", "wait so long for a phone that somebody holds (else 30s)"),
    ] + RunRules.specs + ReportOptions.specs

  static func paths(_ invocation: Invocation) -> [String] {
    let given = invocation.all("FILE") + invocation.all("FILE|DIR")
    return given.isEmpty ? ["scenarios"] : given
  }

  init(_ invocation: Invocation, environment: Environment = [:]) throws(UsageError) {
    paths = Self.paths(invocation)
    bodies = invocation.values("body")
    all = invocation.has("all")
    tags = invocation.values("tag")
    excludedTags = invocation.values("exclude-tag")
    jobs = try invocation.number("jobs", in: 1...1_000)
    virtual = try invocation.number("virtual", in: 1...256)
    timeScale = try VirtualOptions.timeScale(invocation) ?? 1
    expectedBodies = try invocation.number("expect-bodies", in: 0...10_000)
    timeout = try invocation.positiveDuration("timeout")
    if let wait = try invocation.duration("lock-wait") { lockWait = wait }
    rules = try RunRules(invocation)
    reports = try ReportOptions(invocation, environment: environment)
    let command = invocation.command.name
    if virtual == nil, let option = ["ios", "time-scale"].first(where: invocation.has) {
      throw .contradiction("--\(option) shapes virtual phones, and there are none without --virtual.", command: command)
    }
    if virtual != nil, let option = ["mux", "config"].first(where: invocation.has) {
      throw .contradiction(
        "--virtual brings its own phones and configuration. --\(option) names others.", command: command)
    }
  }

  /// The scenarios that the tags leave.
  func chosen(from scenarios: [Scenario]) -> [Scenario] {
    scenarios.filter { scenario in
      (tags.isEmpty || !tags.allSatisfy { !scenario.tags.contains($0) })
        && excludedTags.allSatisfy { !scenario.tags.contains($0) }
    }
  }
}
