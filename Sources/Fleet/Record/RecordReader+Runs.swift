import Wire

extension RecordReader {
  /// What runs are looked for.
  public struct RunFilter: Equatable, Sendable {
    public var label: String?
    /// nil: on virtual phones or not.
    public var isVirtual: Bool?
    /// Only runs before this one.
    public var before: Int?
    /// Only runs in which something came to a verdict.
    public var hasVerdicts: Bool
    /// At most so many, the newest ones.
    public var count = 20

    public init(
      label: String? = nil, isVirtual: Bool? = nil, before: Int? = nil, hasVerdicts: Bool = false, count: Int = 20
    ) {
      self.hasVerdicts = hasVerdicts
      self.label = label
      self.isVirtual = isVirtual
      self.before = before
      self.count = count
    }
  }

  /// Runs, the newest first.
  public func runs(_ filter: RunFilter = RunFilter()) async throws(RecordTrouble) -> [RunRow] {
    try await read { database throws(RecordTrouble) in
      var conditions: [String] = []
      var values: [SQLiteValue] = []
      if let label = filter.label {
        conditions.append("label = ?")
        values.append(.text(label))
      }
      if let isVirtual = filter.isVirtual {
        conditions.append("is_virtual = ?")
        values.append(.integer(isVirtual))
      }
      if let before = filter.before {
        conditions.append("number < ?")
        values.append(.integer(before))
      }
      if filter.hasVerdicts { conditions.append("EXISTS (SELECT 1 FROM verdicts WHERE run = runs.number)") }
      let filtered = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
      return try database.runs("\(filtered) ORDER BY number DESC LIMIT \(max(0, filter.count))", values)
    }
  }

  /// One run; nil where the record has none of that number.
  public func run(_ number: Int) async throws(RecordTrouble) -> RunRow? {
    try await read { database throws(RecordTrouble) in
      try database.runs(" WHERE number = ?", [.integer(number)]).first
    }
  }

  /// The verdicts of a run, in the order in which they came.
  public func verdicts(of run: Int) async throws(RecordTrouble) -> [VerdictRow] {
    try await read { database throws(RecordTrouble) in
      try database.verdicts(" WHERE run = ? ORDER BY number", [.integer(run)])
    }
  }

  /// How many scenarios of a run came to which verdict; of several attempts the last one counts.
  public func counts(of run: Int) async throws(RecordTrouble) -> [Verdict: Int] {
    let rows = try await verdicts(of: run)
    var last: [[String]: Verdict] = [:]
    var counts: [Verdict: Int] = [:]
    for row in rows {
      let place = [row.udid.bare, row.file, row.scenario]
      // Another attempt takes back what the one before it came to; another round of the same scenario does not.
      if row.attempt > 1, let before = last[place] { counts[before, default: 1] -= 1 }
      counts[row.verdict, default: 0] += 1
      last[place] = row.verdict
    }
    return counts.filter { $0.value > 0 }
  }

  /// The last verdicts of one scenario on one body, the newest first.
  ///
  /// - Parameters:
  ///   - body: as the body was called then, or the phone's UDID.
  ///   - count: at most so many.
  public func verdicts(
    of scenario: String, on body: String, count: Int
  ) async throws(RecordTrouble) -> [VerdictRow] {
    try await read { database throws(RecordTrouble) in
      try database.verdicts(
        " WHERE scenario = ? AND (body = ? OR lower(replace(udid, '-', '')) = ?) ORDER BY number DESC LIMIT ?",
        [.text(scenario), .text(body), .text(UDID(body).bare), .integer(max(0, count))])
    }
  }
}

extension Database {
  fileprivate func runs(_ rest: String, _ values: [SQLiteValue]) throws(RecordTrouble) -> [RunRow] {
    var runs = try rows(
      "SELECT number, started_at, finished_at, version, label, is_virtual, seconds, exit FROM runs\(rest)", values
    ) { row in
      RunRow(
        number: row.int(0) ?? 0, startedAt: RecordTime.text(row.int(1) ?? 0),
        finishedAt: row.int(2).map(RecordTime.text), version: row.text(3) ?? "", label: row.text(4),
        isVirtual: row.int(5) == 1, seconds: row.real(6), exit: row.int(7))
    }
    for index in runs.indices {
      let number: [SQLiteValue] = [.integer(runs[index].number)]
      for (name, value) in try rows(
        "SELECT name, value FROM run_meta WHERE run = ?", number, { ($0.text(0) ?? "", $0.text(1) ?? "") })
      {
        runs[index].meta[name] = value
      }
      runs[index].scenarios = try rows(
        "SELECT scenario, file, hash FROM run_scenarios WHERE run = ? ORDER BY place", number
      ) { RunScenarioRow(scenario: $0.text(0) ?? "", file: $0.text(1) ?? "", hash: $0.text(2) ?? "") }
      runs[index].bodies = try rows(
        """
        SELECT body, udid, model, ios, bundle, version, build, usb_port FROM run_bodies WHERE run = ? ORDER BY place
        """, number
      ) { row in
        RunBodyRow(
          body: row.text(0), udid: UDID(row.text(1) ?? ""), model: row.text(2), ios: row.text(3), bundle: row.text(4),
          version: row.text(5), build: row.text(6), usbPort: row.text(7))
      }
    }
    return runs
  }

  fileprivate func verdicts(_ rest: String, _ values: [SQLiteValue]) throws(RecordTrouble) -> [VerdictRow] {
    try rows(
      """
      SELECT run, body, udid, scenario, file, line, attempt, verdict, at, seconds, recovery_s, message
      FROM verdicts\(rest)
      """, values
    ) { row in
      // A word that this fleetctl does not know was written by a newer one, whose schema would not have been opened.
      VerdictRow(
        run: row.int(0) ?? 0, body: row.text(1), udid: UDID(row.text(2) ?? ""), scenario: row.text(3) ?? "",
        file: row.text(4) ?? "", line: row.int(5) ?? 0, attempt: row.int(6) ?? 1,
        verdict: Verdict(rawValue: row.text(7) ?? "") ?? .error, at: RecordTime.text(row.int(8) ?? 0),
        seconds: row.real(9) ?? 0, recoverySeconds: row.real(10), message: row.text(11))
    }
  }
}
