import Fleet
import Wire

/// `fleetctl pause`: supervision of a body goes on, launches do not.
enum PauseCommand {
  static let spec = CommandSpec(
    name: "pause", summary: "withhold launches on a body for a while; supervision goes on", positionals: [.body],
    options: [
      .value("for", "DURATION", "so long; it ends by itself"), .value("reason", "R", "why, for whoever asks"),
    ],
    notes: [
      "Silence is recorded as ever, and a grace that is over stays over: when the pause ends, a launch may follow at "
        + "once. A pause stands in the record: a running supervisor sees it within a second, and one that is "
        + "started later keeps to it. Another pause takes its place; fleetctl resume BODY ends it.",
      "Exit codes: 0 paused, 2 the body is not known, or nothing says how long or why, 3 the record cannot be written.",
      "--json: one object with body, udid, reason, user, paused_until.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let span = try context.usage { () throws(UsageError) in try context.invocation.positiveDuration("for") }
    guard let span else {
      throw Complaint(
        .usage, "Nothing says how long. A pause ends by itself. Say it: fleetctl pause BODY --for 20m --reason R.")
    }
    guard let reason = context.invocation.value("reason"), !reason.isEmpty else {
      throw Complaint(
        .usage,
        "Nothing says why. Whoever meets the pause wants to know. Say it: fleetctl pause BODY --for 20m --reason R.")
    }
    let (path, body) = try await PauseCommand.body(context)
    let clock = SystemClock()
    let user = Holder.current(.hold).user
    let pause = Pause(began: LaunchStamp(clock), length: span, user: user, reason: reason)
    let action = ActionRow(
      .pause, at: clock.wall, user: user, reason: reason, body: body.body, udid: body.udid,
      result: "for \(span.shown)")
    try await write(pause, body, action, path, context)
    let until = clock.wall + span
    if context.wantsJSON {
      try context.output.result([
        "body": .text(body.body), "udid": .string(body.udid.description), "reason": .string(reason),
        "user": .text(user), "paused_until": .string(WallClock.rfc3339(until)),
      ])
    } else {
      try context.output.result(
        "\(body.title) is paused until \(LocalTime.text(WallClock.rfc3339(until)))".printable)
    }
    return .done
  }

  /// The body that is meant: one of fleet.yaml or the record, else one that is attached.
  ///
  /// - Returns: it, and where the record is.
  static func body(_ context: Context) async throws(Complaint) -> (path: String, body: BodyPresent) {
    let bench = try RecordBench(context)
    let typed = context.invocation.one("BODY")
    let known: [BodyPresent]
    do { known = try await bench.everyone() } catch {
      // An older one is brought up to date when it is written.
      guard case .older = error else { throw Complaint(error) }
      known = []
    }
    if let found = try RecordedBodies.find(typed, among: known) { return (bench.reader.path, found) }
    let attached: Body
    do { attached = try await Bench(context).body(typed) } catch {
      // Without a daemon nothing more is known than what the record and fleet.yaml say.
      throw error.code == .harness ? RecordedBodies.unknown(typed, among: known) : error
    }
    return (bench.reader.path, BodyPresent(body: attached.name, udid: attached.udid, awaited: ""))
  }

  static func write(
    _ pause: Pause?, _ body: BodyPresent, _ action: ActionRow, _ path: String, _ context: Context
  ) async throws(Complaint) {
    let mask = Mask(Array(try context.configuration().secrets.values))
    do throws(RecordTrouble) {
      let (record, notices) = try await Record.open(path, masking: mask, isChecked: false)
      for sentence in notices.compactMap(\.sentence) { context.output.say(sentence.printable) }
      try await record.pause(pause, of: body.udid, action, within: .seconds(10))
      try await record.close(within: .seconds(5))
    } catch {
      throw Complaint(error)
    }
  }
}

/// `fleetctl resume`: ends a pause before its time.
enum ResumeCommand {
  static let spec = CommandSpec(
    name: "resume", summary: "end a pause before its time", positionals: [.body],
    options: [.value("reason", "R", "why, for whoever asks")],
    notes: [
      "A body that is not paused stays as it is. Exit codes: 0 launches are no longer withheld, 2 the body is not "
        + "known, 3 the record cannot be written.",
      "--json: one object with body, udid, was_paused.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let (path, body) = try await PauseCommand.body(context)
    let wasPaused: Bool
    do throws(RecordTrouble) { wasPaused = try await RecordReader(path).pauses()[body.udid] != nil } catch {
      switch error {
      // No record: no pause. An older one has none either.
      case .missing, .older: wasPaused = false
      case .full, .locked, .slow, .corrupt, .newer, .foreign, .forbidden, .begunAnew, .outOfOrder, .failed:
        throw Complaint(error)
      }
    }
    if wasPaused {
      let action = ActionRow(
        .resume, at: WallClock.now(), user: Holder.current(.hold).user, reason: context.invocation.value("reason"),
        body: body.body, udid: body.udid)
      try await PauseCommand.write(nil, body, action, path, context)
    }
    if context.wantsJSON {
      try context.output.result([
        "body": .text(body.body), "udid": .string(body.udid.description), "was_paused": .boolean(wasPaused),
      ])
    } else {
      try context.output.result("\(body.title) \(wasPaused ? "is no longer paused" : "is not paused")".printable)
    }
    return .done
  }
}
