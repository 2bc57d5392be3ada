import Wire

extension RecordReader {
  /// Outcomes, the oldest first.
  ///
  /// - Parameters:
  ///   - body: as it was called then, or the phone's UDID.
  ///   - phone: or of this phone, whatever it was called.
  ///   - kind: with a reason, only that one.
  ///   - since: the wall clock; this moment and later ones.
  ///   - until: before this moment.
  ///   - after: rows with a higher number.
  ///   - limit: at most so many.
  ///   - newest: of those that fit the last ones, not the first.
  public func outcomes(
    body: String? = nil, phone: UDID? = nil, kind: OutcomeWords? = nil, since: Duration? = nil, until: Duration? = nil,
    after: Int? = nil,
    limit: Int = 1_000, newest: Bool = false
  ) async throws(RecordTrouble) -> [OutcomeReport] {
    var conditions: [String] = []
    var values: [SQLiteValue] = []
    if let body {
      conditions.append("(body = ? OR phone = ?)")
      values += [.text(body), .text((phone ?? UDID(body)).bare)]
    } else if let phone {
      conditions.append("phone = ?")
      values.append(.text(phone.bare))
    }
    if let kind {
      conditions.append("outcome = ?")
      values.append(.text(kind.kind.rawValue))
      if let reason = kind.reason {
        conditions.append("reason = ?")
        values.append(.text(reason.rawValue))
      }
    }
    if let since {
      conditions.append("at >= ?")
      values.append(.integer(since.wholeMilliseconds))
    }
    if let until {
      conditions.append("at < ?")
      values.append(.integer(until.wholeMilliseconds))
    }
    if let after {
      conditions.append("seq > ?")
      values.append(.integer(after))
    }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let rest = "\(filter) ORDER BY seq\(newest ? " DESC" : "") LIMIT \(max(0, limit))"
    return try await read { [values] database throws(RecordTrouble) in
      let rows = try database.outcomes(rest, values)
      return newest ? rows.reversed() : rows
    }
  }

  /// The latest row of each body, and of the host.
  public func latest() async throws(RecordTrouble) -> [OutcomeReport] {
    try await read { database throws(RecordTrouble) in try database.latest() }
  }

  /// What was done, the oldest first.
  ///
  /// - Parameters:
  ///   - udid: only to this body.
  ///   - limit: at most so many, the last ones.
  public func actions(of udid: UDID? = nil, limit: Int = 20) async throws(RecordTrouble) -> [ActionRow] {
    try await read { database throws(RecordTrouble) in
      try database.rows(
        """
        SELECT at, command, user, reason, body, udid, result FROM actions\(udid == nil ? "" : " WHERE phone = ?")
        ORDER BY number DESC LIMIT \(max(0, limit))
        """, udid.map { [.text($0.bare)] } ?? []
      ) { row in
        ActionRow.Kind(rawValue: row.text(1) ?? "").map { kind in
          ActionRow(
            kind, at: .milliseconds(row.int(0) ?? 0), user: row.text(2), reason: row.text(3), body: row.text(4),
            udid: row.text(5).map { UDID($0) }, result: row.text(6))
        }
      }.compactMap { $0 }.reversed()
    }
  }

  /// The pauses that people have asked for and not ended; some may have run out.
  public func pauses() async throws(RecordTrouble) -> [UDID: Pause] {
    try await read { database throws(RecordTrouble) in try database.pauses() }
  }

  /// What a supervisor begins with: the host's past, and that of every body that the record has seen.
  public func past() async throws(RecordTrouble) -> (FleetWatch.Past, [UDID: BodyPast]) {
    try await read { database throws(RecordTrouble) in
      var host = FleetWatch.Past()
      var bodies: [UDID: BodyPast] = [:]
      for row in try database.latest() {
        guard let udid = row.udid else {
          host.outcome = row.words
          continue
        }
        bodies[udid, default: BodyPast()].outcome = row.words
        bodies[udid, default: BodyPast()].since = row.at
      }
      host.lastSeq = try database.lastSeq()
      for (udid, memory, standing) in try database.memories() {
        var past = bodies[udid] ?? BodyPast()
        past.memory = memory
        if past.outcome == nil, let standing { (past.outcome, past.since) = (standing.words, standing.since) }
        bodies[udid] = past
      }
      for (udid, stamp) in try database.stamps() { bodies[udid, default: BodyPast()].stamp = stamp }
      for (udid, pause) in try database.pauses() { bodies[udid, default: BodyPast()].pause = pause }
      return (host, bodies)
    }
  }
}

extension Database {
  fileprivate func outcomes(_ rest: String, _ values: [SQLiteValue] = []) throws(RecordTrouble) -> [OutcomeReport] {
    try rows(
      "SELECT seq, at, body, udid, outcome, reason, was, detail, silent_ms, launched FROM outcomes\(rest)", values
    ) { row in
      // Words that this fleetctl does not know were written by a newer one, whose schema would not have been opened.
      OutcomeKind(rawValue: row.text(4) ?? "").map { kind in
        OutcomeReport(
          seq: row.int(0), at: .milliseconds(row.int(1) ?? 0), body: row.text(2), udid: row.text(3).map { UDID($0) },
          words: OutcomeWords(kind, row.text(5).flatMap { OutcomeReason(rawValue: $0) }),
          was: row.text(6).flatMap { OutcomeWords(text: $0) }, detail: row.text(7),
          silent: row.int(8).map { .milliseconds($0) }, launched: row.int(9) == 1)
      }
    }.compactMap { $0 }
  }

  fileprivate func latest() throws(RecordTrouble) -> [OutcomeReport] {
    try outcomes(" WHERE seq IN (SELECT max(seq) FROM outcomes GROUP BY phone) ORDER BY seq")
  }

  fileprivate func memories() throws(RecordTrouble) -> [(UDID, WatchMemory, LedgerEntry.Standing?)] {
    try rows("SELECT udid, revision, memory, outcome, since FROM memories") { row in
      // One that can't be read leaves the number, so that the next one takes its place.
      var memory = JSON(parsing: Array((row.text(2) ?? "").utf8)).flatMap { WatchMemory($0) } ?? WatchMemory()
      memory.revision = max(memory.revision, row.int(1) ?? 0)
      let standing = row.text(3).flatMap { OutcomeWords(text: $0) }.map { words in
        LedgerEntry.Standing(words: words, since: row.int(4).map { .milliseconds($0) })
      }
      return (UDID(row.text(0) ?? ""), memory, standing)
    }
  }

  fileprivate func stamps() throws(RecordTrouble) -> [(UDID, LaunchStamp)] {
    try rows("SELECT udid, stamp FROM stamps") { row in
      LaunchStamp(line: Array((row.text(1) ?? "").utf8)).map { (UDID(row.text(0) ?? ""), $0) }
    }.compactMap { $0 }
  }

  fileprivate func pauses() throws(RecordTrouble) -> [UDID: Pause] {
    let pairs = try rows("SELECT udid, pause FROM pauses") { row in
      JSON(parsing: Array((row.text(1) ?? "").utf8)).flatMap { Pause($0) }.map { (UDID(row.text(0) ?? ""), $0) }
    }
    return Dictionary(pairs.compactMap { $0 }) { $1 }
  }
}
