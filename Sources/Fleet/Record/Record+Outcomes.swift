import Transport
import Wire

extension Record {
  /// Stores what a watch asks for: row, memory and action in one transaction.
  ///
  /// An entry whose row is there already counts as stored: an earlier attempt came through after its time was up.
  ///
  /// - Throws: `.outOfOrder` for a row that is not the next one, `.begunAnew` once when the record is another one now;
  ///   nothing is written then. At the limit the trouble that is in the way; the same entry may be given again.
  public func store(_ entry: LedgerEntry, within limit: Duration) async throws(RecordTrouble) {
    let entry = masked(entry)
    try await hand(within: limit) { database throws(RecordTrouble) in
      if let row = entry.row {
        if try database.holds(row) { return }
        try database.insert(row)
      }
      if let udid = entry.udid, let memory = entry.memory { try database.keep(memory, of: udid, entry.standing) }
      if let action = entry.action.map({ ActionRow($0) }) {
        if try database.holds(action) { return }
        try database.insert(action)
      }
    }
  }

  /// Stores a launch that is about to be sent; when this returns, it outlives the power.
  public func storeStamp(
    _ stamp: LaunchStamp, memory: WatchMemory, of udid: UDID, within limit: Duration
  ) async throws(RecordTrouble) {
    try await hand(within: limit) { database throws(RecordTrouble) in
      try database.run(
        """
        INSERT INTO stamps (phone, udid, stamp) VALUES (?, ?, ?)
        ON CONFLICT (phone) DO UPDATE SET udid = excluded.udid, stamp = excluded.stamp
        """, [.text(udid.bare), .text(udid.description), .text(stamp.json.line)])
      try database.keep(memory, of: udid)
    }
  }

  /// Whether somebody else has written: another number than last time says so. It may be asked as often as one likes.
  ///
  /// - Throws: `.begunAnew` once when the record is another one now.
  public func dataVersion(within limit: Duration) async throws(RecordTrouble) -> Int {
    try await hand(as: .look, within: limit) { database throws(RecordTrouble) in
      try database.number("PRAGMA data_version") ?? 0
    }
  }

  /// Lets go of rows that are older than the record keeps; the latest row of each body, and of the host, stays however
  /// old it is. A few hundred at a time, so that nobody waits long.
  ///
  /// - Parameter now: the wall clock. A row that is newer than every other is never too old, whatever that clock says.
  /// - Returns: how many rows went.
  @discardableResult
  public func letGo(keep: Duration, now: Duration, within limit: Duration) async throws(RecordTrouble) -> Int {
    let end = Deadline.after(limit)
    var gone = 0
    while true {
      let count = try await hand(within: end.remaining) { database throws(RecordTrouble) in
        let newest = try database.number("SELECT max(at) FROM outcomes") ?? Int(now.wholeMilliseconds)
        let oldest = min(newest, Int(now.wholeMilliseconds)) - Int(keep.wholeMilliseconds)
        return try database.letGo(before: oldest)
      }
      gone += count
      if count == 0 { return gone }
    }
  }

  private func masked(_ entry: LedgerEntry) -> LedgerEntry {
    var masked = entry
    masked.row?.detail = entry.row?.detail.map { mask($0) }
    if let result = entry.action?.result { masked.action?.result = mask(result) }
    return masked
  }
}

extension Database {
  /// At most so many rows go in one transaction.
  private static let letGoAtOnce = 500

  fileprivate func insert(_ row: OutcomeReport) throws(RecordTrouble) {
    let last = try lastSeq()
    guard row.seq == last + 1 else { throw .outOfOrder(path: path, seq: row.seq, last: last) }
    try run(
      """
      INSERT INTO outcomes (seq, at, phone, udid, body, outcome, reason, was, detail, silent_ms, launched)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(last + 1), .integer(row.at.wholeMilliseconds), .optional(row.udid?.bare),
        .optional(row.udid?.description), .optional(row.body), .text(row.words.kind.rawValue),
        .optional(row.words.reason?.rawValue), .optional(row.was?.text), .optional(row.detail),
        // A silence is never 0, however short it was.
        row.silent.map { .integer(max($0.wholeMilliseconds, 1)) } ?? .null, .integer(row.launched),
      ])
  }

  /// Whether this very row is there already.
  fileprivate func holds(_ row: OutcomeReport) throws(RecordTrouble) -> Bool {
    guard let seq = row.seq else { return false }
    return try number(
      "SELECT 1 FROM outcomes WHERE seq = ? AND at = ? AND phone IS ? AND outcome = ? AND reason IS ?",
      [
        .integer(seq), .integer(row.at.wholeMilliseconds), .optional(row.udid?.bare), .text(row.words.kind.rawValue),
        .optional(row.words.reason?.rawValue),
      ]) != nil
  }

  func lastSeq() throws(RecordTrouble) -> Int { try number("SELECT max(seq) FROM outcomes") ?? 0 }

  fileprivate func keep(
    _ memory: WatchMemory, of udid: UDID, _ standing: LedgerEntry.Standing? = nil
  ) throws(RecordTrouble) {
    try run(
      """
      INSERT INTO memories (phone, udid, revision, memory, outcome, since) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (phone) DO UPDATE SET udid = excluded.udid, revision = excluded.revision, memory = excluded.memory,
        outcome = coalesce(excluded.outcome, outcome), since = coalesce(excluded.since, since)
      WHERE excluded.revision >= memories.revision
      """,
      [
        .text(udid.bare), .text(udid.description), .integer(memory.revision), .text(memory.json.line),
        .optional(standing?.words.text), standing?.since.map { .integer($0.wholeMilliseconds) } ?? .null,
      ])
  }

  fileprivate func letGo(before oldest: Int) throws(RecordTrouble) -> Int {
    let before = try number("SELECT total_changes()") ?? 0
    try run(
      """
      DELETE FROM outcomes WHERE seq IN (
        SELECT seq FROM outcomes AS old WHERE at < ?
        AND seq < (SELECT max(seq) FROM outcomes WHERE phone IS old.phone) LIMIT \(Self.letGoAtOnce))
      """, [.integer(oldest)])
    try run(
      "DELETE FROM actions WHERE number IN (SELECT number FROM actions WHERE at < ? LIMIT \(Self.letGoAtOnce))",
      [.integer(oldest)])
    return (try number("SELECT total_changes()") ?? 0) - before
  }
}
