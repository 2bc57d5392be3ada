import Fleet
import Scenarios
import Wire

/// `fleetctl compare`: what is different between two runs.
enum CompareCommand {
  static let spec = CommandSpec(
    name: "compare", summary: "what is different between two runs: newly failing, fixed, flaky, slower",
    positionals: [
      PositionalSpec(
        label: "A|B", help: "a run's number, or a report's run.jsonl; B is the last run where A stands alone",
        count: .any)
    ],
    options: [.value("label", "L", "the last two runs of this label")],
    notes: [
      "Without A and B the last run is compared with the one before it of the same kind, on real phones or on virtual ones.",
      "First what was changed between them: builds, iOS, phones, fleetctl, scenario files. Slower to recover is told from "
        + "half as much again, and a second.",
      "--json: one object a line: two with runs, then those with change, then those with difference.",
      "Exit codes: 0 nothing fails that did not fail before, 1 something does, 2 a file is no report or a number no run's, 3 the record cannot "
        + "be read, 4 no scenario was judged on one body in both.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let given = context.invocation.all("A|B")
    let label = context.invocation.value("label")
    guard given.count <= 2 else {
      throw Complaint(.contradiction("'compare' takes two runs, and was given \(given.count).", command: "compare"))
    }
    guard given.isEmpty || label == nil else {
      throw Complaint(.contradiction("--label chooses the two runs. A and B name others.", command: "compare"))
    }
    let (before, after) = try await runs(given, label, context)
    let comparison = Comparison(before, after)
    let code = comparison.exitCode
    let text = CompareText(before, after, comparison, style: context.output.style)
    let found: Complaint? = code == .done ? nil : Complaint(code, text.complaint)
    try context.tell(found) { () throws(Complaint) in
      try context.output.results(context.wantsJSON ? text.objects.map(\.line) : text.lines)
    }
    return code
  }

  private static func runs(
    _ given: [String], _ label: String?, _ context: Context
  ) async throws(Complaint) -> (ComparedRun, ComparedRun) {
    if given.count == 2 {
      let before = try await run(given[0], context)
      return (before, try await run(given[1], context))
    }
    let reader = try context.record()
    if let named = given.first {
      let before = try await run(named, context)
      guard let last = try await newest(RecordReader.RunFilter(hasVerdicts: true, count: 1), reader) else {
        throw Complaint(CompareTrouble.tooFew(label: nil))
      }
      return (before, last)
    }
    guard let last = try await newest(RecordReader.RunFilter(label: label, hasVerdicts: true, count: 1), reader) else {
      throw Complaint(CompareTrouble.tooFew(label: label))
    }
    // Virtual phones say nothing about those on the shelf.
    let filter = RecordReader.RunFilter(
      label: label, isVirtual: last.run.isVirtual, before: last.run.number, hasVerdicts: true, count: 1)
    guard let before = try await newest(filter, reader) else { throw Complaint(CompareTrouble.tooFew(label: label)) }
    return (before, last)
  }

  private static func newest(
    _ filter: RecordReader.RunFilter, _ reader: RecordReader
  ) async throws(Complaint) -> ComparedRun? {
    do throws(RecordTrouble) {
      guard let row = try await reader.runs(filter).first else { return nil }
      return ComparedRun(row, try await reader.verdicts(of: row.number))
    } catch {
      throw Complaint(error)
    }
  }

  /// A run by its number, or out of a report.
  private static func run(_ named: String, _ context: Context) async throws(Complaint) -> ComparedRun {
    if let number = Int(named) {
      let reader = try context.record()
      var found: ComparedRun?
      do throws(RecordTrouble) {
        if let row = try await reader.run(number) {
          found = ComparedRun(row, try await reader.verdicts(of: number))
        }
      } catch {
        throw Complaint(error)
      }
      guard let found else { throw Complaint(CompareTrouble.noRun(number)) }
      return found
    }
    let bytes: [UInt8]
    do { bytes = try Files.host.read(named, 512 << 20) } catch {
      throw Complaint(
        .usage,
        "The report \(error.description.printable). A run's number, or a run.jsonl of --report is expected. "
          + "See which runs there are: fleetctl runs.")
    }
    do { return try ComparedRun(reportAt: named, bytes) } catch { throw Complaint(error) }
  }
}

extension Complaint {
  fileprivate init(_ trouble: CompareTrouble) {
    switch trouble {
    case .noRun, .notAReport: self.init(.usage, trouble.sentence.printable)
    case .tooFew: self.init(.nothingJudged, trouble.sentence.printable)
    }
  }
}
