import Scenarios

/// What `fleetctl run` leaves behind beside its lines: reports, and what is remembered with the run.
struct ReportOptions: Equatable, Sendable {
  var kinds: [ReportKind]
  var label: String?
  var meta: [String: String]
  /// The run is a step of a workflow on GitHub, which shows lines of a certain form beside the files.
  var isAnnotated: Bool

  static let specs: [OptionSpec] = [
    .value("label", "L", "a name for this run"),
    .value("meta", "K=V", "something to remember with this run", repeats: true),
    .value("report", "DIR", "all reports in a folder: run.jsonl, junit.xml, report.html"),
    .value("junit", "FILE", "a report in JUnit's XML, as build servers read it"),
    .value("html", "FILE", "a report as one page for a browser"),
  ]

  /// What a build server says of itself, and is remembered without being asked.
  static let taken = ["BUILD_URL", "CI_JOB_URL", "GITHUB_RUN_ID"]

  init(kinds: [ReportKind], label: String?, meta: [String: String], isAnnotated: Bool) {
    self.kinds = kinds
    self.label = label
    self.meta = meta
    self.isAnnotated = isAnnotated
  }

  init(_ invocation: Invocation, environment: Environment) throws(UsageError) {
    label = invocation.value("label")
    meta = Dictionary(uniqueKeysWithValues: try invocation.pairs("meta").map { ($0.name, $0.value) })
    for name in Self.taken where meta[name] == nil {
      if let value = environment[name], !value.isEmpty { meta[name] = value }
    }
    isAnnotated = environment["GITHUB_ACTIONS"] == "true"
    kinds = invocation.value("report").map(ReportKind.all) ?? []
    if let path = invocation.value("junit") { kinds.append(.junit(path: path)) }
    if let path = invocation.value("html") { kinds.append(.html(path: path)) }
    if let path = environment["GITHUB_STEP_SUMMARY"], !path.isEmpty { kinds.append(.stepSummary(path: path)) }
    for option in ["report", "junit", "html"] where invocation.value(option)?.isEmpty == true {
      throw .badValue(option: option, value: "", wanted: "a path", command: invocation.command.name)
    }
    let paths = kinds.map { Self.plain(WorkingFolder.absolute($0.path)) }
    guard Set(paths).count == paths.count else {
      throw .contradiction("Two reports would be written to one file. Each needs its own.", command: "run")
    }
  }

  /// Without the parts that lead nowhere.
  private static func plain(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }
}
