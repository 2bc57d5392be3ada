import Wire

extension Record {
  /// Writes what a person or the supervisor did.
  public func act(_ action: ActionRow, within limit: Duration) async throws(RecordTrouble) {
    let action = masked(action)
    try await hand(mindsMoves: false, within: limit) { database throws(RecordTrouble) in try database.insert(action) }
  }

  /// Withholds launches on a body, or (nil) no longer, and writes that down as an action.
  public func pause(
    _ pause: Pause?, of udid: UDID, _ action: ActionRow, within limit: Duration
  ) async throws(RecordTrouble) {
    let action = masked(action)
    let pause = pause.map { pause in
      var masked = pause
      masked.reason = pause.reason.map { mask($0) }
      return masked
    }
    try await hand(mindsMoves: false, within: limit) { database throws(RecordTrouble) in
      if let pause {
        try database.run(
          """
          INSERT INTO pauses (phone, udid, pause) VALUES (?, ?, ?)
          ON CONFLICT (phone) DO UPDATE SET udid = excluded.udid, pause = excluded.pause
          """, [.text(udid.bare), .text(udid.description), .text(pause.json.line)])
      } else {
        try database.run("DELETE FROM pauses WHERE phone = ?", [.text(udid.bare)])
      }
      try database.insert(action)
    }
  }

  private func masked(_ action: ActionRow) -> ActionRow {
    var action = action
    action.reason = action.reason.map { mask($0) }
    action.result = action.result.map { mask($0) }
    return action
  }
}

extension Database {
  func insert(_ action: ActionRow) throws(RecordTrouble) {
    try run(
      """
      INSERT INTO actions (at, user, command, reason, phone, udid, body, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(action.at.wholeMilliseconds), .optional(action.user), .text(action.kind.rawValue),
        .optional(action.reason), .optional(action.udid?.bare), .optional(action.udid?.description),
        .optional(action.body), .optional(action.result),
      ])
  }

  /// Whether the supervisor has written this already: it does one thing to one body at one moment.
  func holds(_ action: ActionRow) throws(RecordTrouble) -> Bool {
    try number(
      "SELECT 1 FROM actions WHERE phone IS ? AND at = ? AND command = ? AND user IS ? AND result IS ?",
      [
        .optional(action.udid?.bare), .integer(action.at.wholeMilliseconds), .text(action.kind.rawValue),
        .optional(action.user), .optional(action.result),
      ]) != nil
  }
}
