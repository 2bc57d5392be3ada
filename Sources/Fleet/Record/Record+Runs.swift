import Wire

extension Record {
  /// Makes room for a run, and lets go of those that are older than the record keeps.
  ///
  /// - Parameter keep: measured against the row's start; the newest run of each label is kept however old it is.
  /// - Returns: the run's number; no other run has had it.
  public func begin(_ row: RunRow, keep: Duration, within limit: Duration) async throws(RecordTrouble) -> Int {
    let started = RecordTime.milliseconds(row.startedAt) ?? 0
    let oldest = started - keep.components.seconds * 1_000
    return try await perform(within: limit) { database throws(RecordTrouble) in
      try database.run(
        """
        DELETE FROM runs WHERE started_at < ?
        AND number NOT IN (SELECT max(number) FROM runs GROUP BY label, is_virtual)
        """, [.integer(oldest)])
      try database.run(
        "INSERT INTO runs (started_at, version, label, is_virtual) VALUES (?, ?, ?, ?)",
        [.integer(started), .text(row.version), .optional(row.label), .integer(row.isVirtual)])
      let number = database.lastRow
      for (name, value) in row.meta {
        try database.run(
          "INSERT INTO run_meta (run, name, value) VALUES (?, ?, ?)", [.integer(number), .text(name), .text(value)])
      }
      return number
    }
  }

  /// Writes what a run is about to judge, once that has been read from the phones.
  public func describe(_ number: Int, scenarios: [RunScenarioRow], bodies: [RunBodyRow]) {
    enqueue { database throws(RecordTrouble) in
      for (place, row) in scenarios.enumerated() {
        try database.run(
          "INSERT OR REPLACE INTO run_scenarios (run, place, scenario, file, hash) VALUES (?, ?, ?, ?, ?)",
          [.integer(number), .integer(place), .text(row.scenario), .text(row.file), .text(row.hash)])
      }
      for (place, row) in bodies.enumerated() {
        try database.run(
          """
          INSERT OR REPLACE INTO run_bodies (run, place, udid, body, model, ios, bundle, version, build, usb_port)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
          [
            .integer(number), .integer(place), .text(row.udid.description), .optional(row.body), .optional(row.model),
            .optional(row.ios), .optional(row.bundle), .optional(row.version), .optional(row.build),
            .optional(row.usbPort),
          ])
      }
    }
  }

  /// Writes one attempt's verdict.
  public func add(_ row: VerdictRow) {
    enqueue { database throws(RecordTrouble) in
      try database.run(
        """
        INSERT INTO verdicts (run, udid, body, scenario, file, line, attempt, verdict, at, seconds, recovery_s, message)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .integer(row.run), .text(row.udid.description), .optional(row.body), .text(row.scenario), .text(row.file),
          .integer(row.line), .integer(row.attempt), .text(row.verdict.rawValue),
          .integer(RecordTime.milliseconds(row.at) ?? 0), .real(row.seconds), .optional(row.recoverySeconds),
          .optional(row.message),
        ])
    }
  }

  /// Takes a run back in which nothing was begun; its number is not given again.
  public func forget(_ number: Int) {
    enqueue { database throws(RecordTrouble) in
      try database.run("DELETE FROM runs WHERE number = ?", [.integer(number)])
    }
  }

  /// Writes how a run ended.
  public func finish(_ number: Int, at: String, seconds: Double, exit: Int) {
    enqueue { database throws(RecordTrouble) in
      try database.run(
        "UPDATE runs SET finished_at = ?, seconds = ?, exit = ? WHERE number = ?",
        [.integer(RecordTime.milliseconds(at) ?? 0), .real(seconds), .integer(exit), .integer(number)])
    }
  }
}

/// Times as the record keeps them: milliseconds since 1970.
enum RecordTime {
  static func text(_ milliseconds: Int) -> String { WallClock.rfc3339(.milliseconds(milliseconds)) }

  /// - Returns: nil for anything but RFC 3339 in UTC, such as `2026-12-20T08:30:00.250Z`.
  static func milliseconds(_ text: String) -> Int64? { WallClock.moment(text).map { $0.wholeMilliseconds } }
}

extension Duration {
  var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
