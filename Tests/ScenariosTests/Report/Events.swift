import Fleet
import Glibc
import Transport
import Wire

@testable import Scenarios

/// A run's events, written down by hand.
struct Script {
  static let hall = UDID("00008110-000A1B2C3D4E5F60")
  static let stairs = UDID("00008101-000A1B2C3D4E001E")

  private(set) var events: [RunEvent] = []
  private var second = 0

  /// Two phones, `hall` and one without a name, and these scenarios.
  init(_ scenarios: String..., label: String? = "nightly") {
    var hall = RunStarted.Phone(body: "hall", udid: Self.hall)
    (hall.model, hall.ios, hall.bundle) = ("iPhone12,1", "16.7", "com.example.kiosk")
    (hall.version, hall.build, hall.usbPort) = ("3.2.0", "412", "1-2.3")
    let files = scenarios.map { RunStarted.File(scenario: $0, file: "scenarios/\($0).yaml", hash: "hash-\($0)") }
    add(
      .runStarted(
        RunStarted(
          version: "1.0", label: label, meta: ["BUILD_URL": "https://ci/1"], files: files,
          phones: [hall, RunStarted.Phone(body: nil, udid: Self.stairs)], planned: 2 * files.count)))
  }

  mutating func add(_ happening: RunEvent.Happening) {
    let seconds = second < 10 ? "0\(second % 60)" : "\(second % 60)"
    events.append(RunEvent(at: "2026-11-30T12:00:\(seconds).000Z", run: 17, happening: happening))
    second += 1
  }

  mutating func start(_ scenario: String, on udid: UDID = hall, attempt: Int = 1) {
    add(.scenarioStarted(ScenarioStarted(body: name(udid), udid: udid, scenario: scenario, attempt: attempt)))
  }

  mutating func step(
    _ scenario: String, ok: Bool, came: String? = nil, exchanges: [Exchange] = [], on udid: UDID = hall,
    attempt: Int = 1
  ) {
    add(
      .stepFinished(
        StepFinished(
          body: name(udid), udid: udid, scenario: scenario, attempt: attempt, step: "request POST /photo",
          file: "scenarios/\(scenario).yaml", line: 11, ok: ok, seconds: 0.5, expected: "status 423", came: came,
          exchanges: exchanges)))
  }

  mutating func end(
    _ scenario: String, _ verdict: Verdict, message: String? = nil, recovery: Double? = nil, log: [String] = [],
    on udid: UDID = hall, attempt: Int = 1
  ) {
    add(
      .scenarioFinished(
        ScenarioFinished(
          body: name(udid), udid: udid, scenario: scenario, attempt: attempt, verdict: verdict, seconds: 4.2,
          recoverySeconds: recovery, message: message, file: "scenarios/\(scenario).yaml", line: 11, log: log)))
  }

  /// A scenario from its start to its end, in one attempt.
  mutating func whole(
    _ scenario: String, _ verdict: Verdict, message: String? = nil, recovery: Double? = nil, on udid: UDID = hall
  ) {
    start(scenario, on: udid)
    step(scenario, ok: verdict == .passed, came: verdict == .passed ? nil : "status 200", on: udid)
    end(scenario, verdict, message: message, recovery: recovery, on: udid)
  }

  mutating func finish(exit: ExitCode = .no) {
    add(.runFinished(RunFinished(counts: ledger.counts, seconds: 60, exit: exit)))
  }

  var ledger: RunLedger {
    var ledger = RunLedger()
    for event in events { ledger.take(event) }
    return ledger
  }

  private func name(_ udid: UDID) -> String? { udid == Self.hall ? "hall" : nil }
}

/// A folder of the test's own, removed with what is in it.
final class ReportFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/reports-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder: \(Errno.text(errno))") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
    rmdir(path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  var names: [String] { Self.names(in: path) }

  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }

  func read(_ name: String) -> String? {
    (try? Files.host.read(file(name), 64 << 20)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The report as it would be written now.
  func written(_ kind: (String) -> ReportKind, _ script: Script, isLast: Bool = true) throws -> String {
    let report = try kind(file("report")).opened()
    var ledger = RunLedger()
    for event in script.events {
      let changed = ledger.take(event)
      try report.take(event, ledger, changed: changed)
    }
    try report.write(ledger, isLast: isLast)
    return read("report") ?? ""
  }
}
