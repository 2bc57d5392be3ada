import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl revive`: brings the app back, once, because a person asked.
enum ReviveBodyCommand {
  static let spec = CommandSpec(
    name: "revive", summary: "bring the app back where its door is silent, and say what came of it",
    positionals: [.body],
    notes: [
      "A door that answers is left alone. Otherwise the lock is read and the app launched; it is back only when its "
        + "door answers in time. Grace, spacing and pauses do not hold a person up; a locked phone, the hands' driver "
        + "and whoever holds the phone do.",
      "Exit codes: 0 up or revived, 1 locked, launched-no-answer, launch-refused, left-alone or held, 3 unreachable, "
        + "untrusted, or trouble of this machine.",
      "--json: one object with seq, at, body, udid, outcome, reason, was, detail, silent_s, launched.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let bench = try Bench(context)
    let body = try await bench.body(context.invocation.one("BODY"))
    let bundle = body.app.bundle
    // Where something else brings the app back, there is nothing to launch.
    guard bundle != nil || body.app.launcher == .others else { throw .noApp }
    let settings = PhoneMeans.Settings(
      mux: bench.mux, bundle: bundle ?? "", token: try body.door.readToken(), holder: .current(.revive))
    let stamps: LaunchStampFolder
    do throws(HostTrouble) { stamps = LaunchStampFolder(try StateFolder.find(context.environment)) } catch {
      return try tell(OutcomeReport(error, of: body), of: body, context)
    }
    let report = try await revive(body, settings, stamps, context)
    await context.note(.revive, on: body, result: report.words.text, in: bench.configuration)
    return try tell(report, of: body, context)
  }

  private static func revive(
    _ body: Body, _ settings: PhoneMeans.Settings, _ stamps: LaunchStampFolder, _ context: Context
  ) async throws(Complaint) -> OutcomeReport {
    // A phone that is not there is an outcome, too.
    let lane = try? body.lane(settings.mux)
    defer { lane?.close() }
    let output = context.output
    let means = PhoneMeans(
      body, over: lane, settings, locks: PhoneLocks(environment: context.environment), stamps: stamps
    ) { holder in output.say("\(body.title) is held by \(holder.text); it is waited for.".printable) }
    let draws = !context.wantsJSON && output.isOnScreen
    defer { if draws { output.draw("") } }
    do throws(RevivalError) {
      return try await Revival(body, means: means).run { step in
        output.detail("\(body.title.printable): \(Self.doing(step))")
        if draws { output.draw("\(body.title.printable): \(Self.doing(step))") }
      }
    } catch {
      switch error {
      case .impossible(let error): throw Complaint(error)
      case .interrupted: throw Complaint(PhoneError.ended(body.udid))
      }
    }
  }

  private static func tell(
    _ report: OutcomeReport, of body: Body, _ context: Context
  ) throws(Complaint) -> ExitCode {
    let code = report.words.reviveExitCode
    try context.tell(report.sentence.map { Complaint(code, $0.printable) }) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result(report.json)
      } else {
        let words = code == .done ? context.output.style.good(report.words.text) : report.words.text
        let line = [body.title.printable, words, report.detail?.printable].compactMap { $0 }.joined(separator: "  ")
        try context.output.result(line)
      }
    }
    return code
  }
}

extension OutcomeReport {
  /// What kept this machine from even beginning.
  fileprivate init(_ trouble: HostTrouble, of body: Body) {
    self.init(
      at: WallClock.now(), body: body.name, udid: body.udid, words: trouble.words, detail: trouble.sentence)
    self.trouble = trouble
  }
}

extension ReviveBodyCommand {
  fileprivate static func doing(_ step: ReviveCommand) -> String {
    switch step {
    case .probe: "asking its door"
    case .takeLease: "taking the phone"
    case .openSession: "opening a session"
    case .askHands: "looking for the hands' driver"
    case .readLock: "reading the lock"
    case .storeStamp: "storing the launch stamp"
    case .launch(let fresh): fresh ? "launching the app afresh" : "launching the app"
    case .rest: "waiting for its door"
    }
  }
}
