extension RecordSchema {
  /// What the supervisor and people leave behind. `phone` is a UDID as it is compared, `udid` as it is shown; both are
  /// null in rows of the host. Times are milliseconds since 1970, UTC; a row keeps the time at which it was judged.
  static let watch = [
    """
    CREATE TABLE outcomes (
      seq INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      phone TEXT,
      udid TEXT,
      body TEXT,
      outcome TEXT NOT NULL,
      reason TEXT,
      was TEXT,
      detail TEXT,
      silent_ms INTEGER,
      launched INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX outcomes_by_phone ON outcomes (phone, seq)",
    "CREATE INDEX outcomes_by_time ON outcomes (at)",
    // What the watch of a body must not forget; a lower revision never takes the place of a higher one. The outcome is
    // the one that stood when the record was begun anew; any row of the body says it better.
    """
    CREATE TABLE memories (
      phone TEXT PRIMARY KEY,
      udid TEXT NOT NULL,
      revision INTEGER NOT NULL,
      memory TEXT NOT NULL,
      outcome TEXT,
      since INTEGER
    ) STRICT, WITHOUT ROWID
    """,
    // Apart from the memory, so that spacing holds also where that can't be read.
    """
    CREATE TABLE stamps (
      phone TEXT PRIMARY KEY,
      udid TEXT NOT NULL,
      stamp TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE pauses (
      phone TEXT PRIMARY KEY,
      udid TEXT NOT NULL,
      pause TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    // Without a user it is the supervisor's own.
    """
    CREATE TABLE actions (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      user TEXT,
      command TEXT NOT NULL,
      reason TEXT,
      phone TEXT,
      udid TEXT,
      body TEXT,
      result TEXT
    ) STRICT
    """,
    "CREATE INDEX actions_by_phone ON actions (phone, number)",
  ]
}
