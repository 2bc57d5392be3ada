import DeviceBridge
import Fleet
import Glibc
import Transport
import Wire

/// `fleetctl supervise`: watches every body, brings back what may be brought back, and writes each changed outcome.
enum SuperviseCommand {
  static let spec = CommandSpec(
    name: "supervise", summary: "watch every body, bring its app back, and write down each changed outcome",
    options: [
      .flag("once", "look at every body once, write down what has changed, and end"),
      .flag("dry-run", "launch, mount and write nothing: say what would be done"),
      .value("time-scale", "K", "for virtual phones: how many times as fast this supervisor's time runs"),
    ],
    notes: [
      "It prints a line for each changed outcome, and goes on until SIGINT or SIGTERM, which end it with 0 within two "
        + "seconds. SIGHUP reads fleet.yaml anew: what has changed is said, and a wrong file is refused and the old one "
        + "kept. Under systemd (Type=notify) it says when it is ready, how things stand, and feeds the watchdog with "
        + "each completed round.",
      "A record has one supervisor: a second one says who it is, and ends with 3.",
      "Exit codes: 0 told to end, 2 the configuration is wrong, 3 the record or the page is not to be had. With --once: "
        + "0 all up or revived, 1 some not, 3 trouble of this machine, 4 no body.",
      "--json: one object a row with the keys of outcomes; with --once one a body, with those of /api/bodies.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let isOnce = context.invocation.has("once")
    if isOnce, context.invocation.has("dry-run") {
      throw Complaint(.contradiction("--once launches nothing anyway.", command: spec.name))
    }
    let stop = Stop()
    // Being told to end is no failure.
    _ = context.interruption.settle()
    context.interruption.whenInterrupted(patience: .milliseconds(1_900)) { _ in stop.now() }
    let stage = try await SuperviseStage(context)
    defer { stage.end() }
    return isOnce ? try await once(stage, context, stop) : try await supervise(stage, context, stop)
  }

  private static func supervise(
    _ stage: SuperviseStage, _ context: Context, _ stop: Stop
  ) async throws(Complaint) -> ExitCode {
    try stage.open()
    context.interruption.whenHungUp { stage.reload() }
    await stop.wish()
    await stage.farewell()
    return .done
  }

  private static func once(
    _ stage: SuperviseStage, _ context: Context, _ stop: Stop
  ) async throws(Complaint) -> ExitCode {
    stage.supervisor.start()
    let looking = Task { await stage.supervisor.lookOnce() }
    stop.whenStopped { looking.cancel() }
    let look = await looking.value
    await stage.farewell()
    try tell(look, context)
    return look.exitCode
  }

  private static func tell(_ look: FleetLook, _ context: Context) throws(Complaint) {
    if context.wantsJSON {
      try context.output.results(look.bodies.map(\.json.line))
    } else {
      var table = Table()
      for body in look.bodies { table.add(cells(body, look)) }
      try context.output.results(table.lines)
    }
    if let trouble = look.trouble, let detail = trouble.detail { context.output.complain(detail.printable) }
    if look.exitCode == .nothingJudged {
      context.output.complain(
        "There is no body to look at. No phone is attached, and fleet.yaml names none. See: fleetctl devices.")
    }
  }

  private static func cells(_ body: BodyPresent, _ look: FleetLook) -> [String] {
    let words = body.words?.text ?? "not judged yet"
    var rest: [String] = []
    if let silent = body.silent { rest.append("silent \(silent.shown), awaited: \(body.awaited)") }
    if look.well.contains(body.udid) || body.silent == nil, let detail = body.detail { rest.append(detail) }
    return [body.title.printable, words, rest.joined(separator: "; ").printable]
  }
}

extension Stop {
  /// Waits for the wish.
  func wish() async {
    let shot = OneShot<Bool>()
    whenStopped { shot.give(true) }
    _ = await shot.value()
  }
}
