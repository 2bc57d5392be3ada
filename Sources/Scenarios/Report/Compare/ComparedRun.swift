import Fleet
import Wire

/// A run as it is compared with another: from the record, or from a report off the box.
public struct ComparedRun: Equatable, Sendable {
  /// `run 17`, or the file's path.
  public var title: String
  /// The record's row; of a report what its first line says.
  public var run: RunRow
  public var verdicts: [VerdictRow]
  /// It was killed, or is under way: what is missing in it says nothing.
  public var isWhole: Bool { run.finishedAt != nil }

  public init(_ run: RunRow, _ verdicts: [VerdictRow]) {
    title = "run \(run.number)"
    self.run = run
    self.verdicts = verdicts
  }

  /// Where a verdict belongs: the body's name, so that a replaced phone keeps its history.
  struct Place: Hashable, Sendable {
    var body: String
    var scenario: String
  }

  /// What each scenario came to on each body. Of several attempts the last one counts; of a scenario that was repeated,
  /// the worst.
  var final: [Place: VerdictRow] {
    var rounds: [Place: [VerdictRow]] = [:]
    for row in verdicts {
      let place = Place(body: row.body ?? row.udid.description, scenario: row.scenario)
      if row.attempt > 1, let count = rounds[place]?.count {
        rounds[place]?[count - 1] = row
      } else {
        rounds[place, default: []].append(row)
      }
    }
    return rounds.compactMapValues { rows in rows.min { $0.verdict.goodness < $1.verdict.goodness } }
  }
}

extension Verdict {
  /// The smaller, the more it needs a look.
  fileprivate var goodness: Int {
    switch self {
    case .failed: 0
    case .error: 1
    case .flaky: 2
    case .skipped: 3
    case .quarantined: 4
    case .passed: 5
    }
  }
}

/// Why two runs could not be compared.
public enum CompareTrouble: Error, Equatable, Sendable {
  case noRun(Int)
  /// There are fewer than two runs to choose from.
  case tooFew(label: String?)
  /// The file holds no events of a run.
  case notAReport(path: String, line: Int)

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .noRun(let number):
      "There is no run \(number) in the record. It may be older than the record keeps. See those that are: fleetctl runs"
    case .tooFew(let label?):
      "There are no two runs labelled '\(label)' in the record. The label may be mistyped. See them all: fleetctl runs"
    case .tooFew(nil):
      "There are no two runs in the record to compare. Nothing has run twice yet. See those that are: fleetctl runs"
    case .notAReport(let path, let line):
      "\(path) is not a run's report: line \(line) is no event. JSON lines are expected, as --report writes them to run.jsonl. "
        + "Name such a file, or a run's number: fleetctl runs"
    }
  }
}

extension ComparedRun {
  /// Reads the events that `run --json` prints and `--report` writes.
  ///
  /// A last line that is cut off is passed over: the run was killed while it was written.
  public init(reportAt path: String, _ bytes: [UInt8]) throws(CompareTrouble) {
    title = path
    run = RunRow(startedAt: "", version: "")
    verdicts = []
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var hasBegun = false
    for (index, line) in lines.enumerated() where !line.isEmpty {
      guard let event = JSON(parsing: Array(line)), let name = event["event"]?.string, let at = event["at"]?.string
      else {
        if index == lines.count - 1, hasBegun { break }
        throw .notAReport(path: path, line: index + 1)
      }
      hasBegun = true
      add(event, name: name, at: at)
    }
    guard hasBegun else { throw .notAReport(path: path, line: 1) }
  }

  private mutating func add(_ event: JSON, name: String, at: String) {
    switch name {
    case "run-started":
      run = RunRow(
        number: event["run"]?.int ?? 0, startedAt: at, version: event["version"]?.string ?? "",
        label: event["label"]?.string, meta: (event["meta"]?.object ?? [:]).compactMapValues(\.string),
        scenarios: (event["scenarios"]?.array ?? []).map { file in
          RunScenarioRow(
            scenario: file["scenario"]?.string ?? "", file: file["file"]?.string ?? "",
            hash: file["hash"]?.string ?? "")
        }, bodies: (event["bodies"]?.array ?? []).map(RunBodyRow.init))
    case "scenario-finished":
      // A verdict of a newer fleetctl's is none that this one can compare.
      guard let verdict = event["verdict"]?.string.flatMap(Verdict.init) else { return }
      verdicts.append(
        VerdictRow(
          run: run.number, body: event["body"]?.string, udid: UDID(event["udid"]?.string ?? ""),
          scenario: event["scenario"]?.string ?? "", file: event["file"]?.string ?? "", line: event["line"]?.int ?? 0,
          attempt: event["attempt"]?.int ?? 1, verdict: verdict, at: at, seconds: event["seconds"]?.double ?? 0,
          recoverySeconds: event["recovery_s"]?.double, message: event["message"]?.string))
    case "run-finished":
      run.finishedAt = at
      run.seconds = event["seconds"]?.double
      run.exit = event["exit"]?.int
    default: break
    }
  }
}

extension RunBodyRow {
  fileprivate init(_ json: JSON) {
    self.init(
      body: json["body"]?.string, udid: UDID(json["udid"]?.string ?? ""), model: json["model"]?.string,
      ios: json["ios"]?.string, bundle: json["bundle"]?.string, version: json["CFBundleShortVersionString"]?.string,
      build: json["CFBundleVersion"]?.string, usbPort: json["usb_port"]?.string)
  }
}
