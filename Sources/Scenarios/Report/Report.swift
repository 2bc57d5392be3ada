import Fleet
import Glibc
import Wire

/// A report and where it goes.
public enum ReportKind: Equatable, Sendable {
  /// One object a line, as `run --json` prints them.
  case jsonLines(path: String)
  case junit(path: String)
  case html(path: String)
  /// Markdown for the page of a step that runs on GitHub, added to what is there.
  case stepSummary(path: String)

  /// The reports of `--report`.
  public static func all(in folder: String) -> [ReportKind] {
    [
      .jsonLines(path: "\(folder)/run.jsonl"), .junit(path: "\(folder)/junit.xml"),
      .html(path: "\(folder)/report.html"),
    ]
  }

  public var path: String {
    switch self {
    case .jsonLines(let path), .junit(let path), .html(let path), .stepSummary(let path): path
    }
  }

  /// - Throws: where its file cannot be made.
  func opened() throws(ReportTrouble) -> any Report {
    try ReportFile.makeFolder(ReportFile.folder(of: path))
    switch self {
    case .jsonLines(let path): return try JSONLinesReport(path)
    case .junit(let path): return JUnitReport(path)
    case .html(let path): return HTMLReport(path)
    case .stepSummary(let path): return StepSummary(path)
    }
  }
}

/// A report in the making; used on one thread only.
protocol Report: AnyObject {
  var path: String { get }
  /// An event has been added to the ledger; `changed` is the case that it belongs to.
  func take(_ event: RunEvent, _ ledger: RunLedger, changed: Int?) throws(ReportTrouble)
  /// Writes what there is. The file is whole and valid whenever this returns.
  func write(_ ledger: RunLedger, isLast: Bool) throws(ReportTrouble)
}

/// `run --json`'s stream as a file.
final class JSONLinesReport: Report {
  let path: String
  private let fd: Int32

  init(_ path: String) throws(ReportTrouble) {
    self.path = path
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
    guard fd >= 0 else { throw ReportTrouble(path: path, code: errno) }
  }

  deinit { if fd >= 0 { close(fd) } }

  func take(_ event: RunEvent, _ ledger: RunLedger, changed: Int?) throws(ReportTrouble) {
    let code = ReportFile.append(event.json.line + "\n", to: fd)
    guard code == 0 else { throw ReportTrouble(path: path, code: code) }
  }

  func write(_ ledger: RunLedger, isLast: Bool) throws(ReportTrouble) {}
}
