import Fleet
import Wire

/// `fleetctl runs`: past runs, or one scenario's last verdicts on one body.
enum RunsCommand {
  static let spec = CommandSpec(
    name: "runs", summary: "past runs, or one scenario's last verdicts on one body",
    options: [
      .value("scenario", "S", "with --body: the last verdicts of this scenario"),
      .value("body", "B", "with --scenario: on this body, by its name or UDID"),
      .value("label", "L", "only runs of this label"),
      .value("last", "N", "at most so many, the newest ones (else 20)"),
    ],
    notes: [
      "One line a run: number, when, label, phones, verdicts, exit code. What was killed has no exit code.",
      "--json: one object a run with number, started_at, finished_at, version, label, meta, virtual, seconds, exit, "
        + "counts, scenarios, bodies; with --scenario one a verdict with run, at, body, udid, scenario, attempt, verdict, "
        + "seconds, recovery_s, message, file, line, ios, bundle, CFBundleShortVersionString, CFBundleVersion, usb_port.",
      "Exit codes: 0 told, 1 nothing like it is in the record, 3 the record cannot be read.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let count = try context.usage { () throws(UsageError) in
      try context.invocation.number("last", in: 1...100_000)
    }
    let (scenario, body) = (context.invocation.value("scenario"), context.invocation.value("body"))
    let reader = try context.record()
    switch (scenario, body) {
    case (let scenario?, let body?):
      return try await tell(scenario, on: body, count ?? 20, reader, context)
    case (nil, nil):
      return try await tell(context.invocation.value("label"), count ?? 20, reader, context)
    case (.some, nil), (nil, .some):
      throw Complaint(
        .contradiction("--scenario and --body go together: a verdict is one scenario's on one body.", command: "runs"))
    }
  }

  private static func tell(
    _ label: String?, _ count: Int, _ reader: RecordReader, _ context: Context
  ) async throws(Complaint) -> ExitCode {
    var runs: [(run: RunRow, verdicts: [Verdict: Int])] = []
    do throws(RecordTrouble) {
      for run in try await reader.runs(RecordReader.RunFilter(label: label, count: count)) {
        runs.append((run, try await reader.counts(of: run.number)))
      }
    } catch {
      throw Complaint(error)
    }
    guard !runs.isEmpty else {
      let which = label.map { " labelled '\($0.printable)'" } ?? ""
      throw Complaint(
        .no,
        "There is no run\(which) in the record. Nothing has run yet, or the label is mistyped. "
          + "See all that are there: fleetctl runs.")
    }
    if context.wantsJSON {
      try context.output.results(runs.map { RunText.json($0.run, $0.verdicts).line })
      return .done
    }
    var table = Table()
    for (run, verdicts) in runs { table.add(RunText.cells(run, verdicts)) }
    try context.output.results(table.lines)
    return .done
  }

  private static func tell(
    _ scenario: String, on body: String, _ count: Int, _ reader: RecordReader, _ context: Context
  ) async throws(Complaint) -> ExitCode {
    var rows: [(row: VerdictRow, phone: RunBodyRow?)] = []
    do throws(RecordTrouble) {
      var known: [Int: [RunBodyRow]] = [:]
      for row in try await reader.verdicts(of: scenario, on: body, count: count) {
        if known[row.run] == nil { known[row.run] = try await reader.run(row.run)?.bodies ?? [] }
        rows.append((row, known[row.run]?.first { $0.udid == row.udid }))
      }
    } catch {
      throw Complaint(error)
    }
    guard !rows.isEmpty else {
      throw Complaint(
        .no,
        "There is no verdict on '\(scenario.printable)' on '\(body.printable)' in the record. It has not run there, or a name is mistyped. "
          + "See what has run: fleetctl runs --json.")
    }
    if context.wantsJSON {
      try context.output.results(rows.map { RunText.json($0.row, $0.phone).line })
      return .done
    }
    var table = Table()
    for (row, phone) in rows { table.add(RunText.cells(row, phone)) }
    try context.output.results(table.lines)
    return .done
  }
}
