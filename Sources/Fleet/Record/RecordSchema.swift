/// The tables of the record, as a row of steps from an empty file to today's. A step that has been released is never
/// changed; what is new is a further step.
struct RecordSchema: Sendable {
  /// Step `n` makes schema `n + 1` of schema `n`.
  var migrations: [[String]]

  var version: Int { migrations.count }

  static let current = RecordSchema(migrations: [runs, watch])

  /// What runs leave behind. Times are milliseconds since 1970, UTC.
  private static let runs = [
    """
    CREATE TABLE runs (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      started_at INTEGER NOT NULL,
      finished_at INTEGER,
      version TEXT NOT NULL,
      label TEXT,
      is_virtual INTEGER NOT NULL,
      seconds REAL,
      exit INTEGER
    ) STRICT
    """,
    "CREATE INDEX runs_by_label ON runs (label, number)",
    """
    CREATE TABLE run_meta (
      run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (run, name)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE run_scenarios (
      run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
      place INTEGER NOT NULL,
      scenario TEXT NOT NULL,
      file TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (run, place)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE run_bodies (
      run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
      place INTEGER NOT NULL,
      udid TEXT NOT NULL,
      body TEXT,
      model TEXT,
      ios TEXT,
      bundle TEXT,
      version TEXT,
      build TEXT,
      usb_port TEXT,
      PRIMARY KEY (run, place)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE verdicts (
      number INTEGER PRIMARY KEY,
      run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
      udid TEXT NOT NULL,
      body TEXT,
      scenario TEXT NOT NULL,
      file TEXT NOT NULL,
      line INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      verdict TEXT NOT NULL,
      at INTEGER NOT NULL,
      seconds REAL NOT NULL,
      recovery_s REAL,
      message TEXT
    ) STRICT
    """,
    "CREATE INDEX verdicts_by_run ON verdicts (run, number)",
    "CREATE INDEX verdicts_by_scenario ON verdicts (scenario, number)",
  ]
}
