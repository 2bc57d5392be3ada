import Fleet
import Wire

/// `fleetctl status`: how each body is, without touching a phone.
enum StatusCommand {
  static let spec = CommandSpec(
    name: "status", summary: "how each body is, from the supervisor and the record; touches no phone",
    notes: [
      "One line a body, those first that want somebody's eyes: name, outcome, and since when, or for how long silent "
        + "and when the supervisor may act. No line is wider than 45 columns. Where no supervisor runs, the first "
        + "line says so, and the rest is what the record knows.",
      "Exit codes: 0 told, also of sick bodies, 3 no supervisor runs and the record cannot be read.",
      "--json: one object a body with body, udid, device_name, outcome, reason, detail, since, lock, last_answer, "
        + "silent_s, awaited, next_launch, launches, revivals, flaps, held_by (run, pid, user, reason), paused_until, "
        + "usb_port, out_of_service, supervised.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let bench = try RecordBench(context)
    let (bodies, trouble) = try await bench.bodies()
    let isSupervised = trouble == nil
    if let trouble, trouble.isStrange { context.output.complain(trouble.sentence.printable) }
    if context.wantsJSON {
      let sorted = bodies.enumerated().sorted { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }.map(\.1)
      if !isSupervised { context.output.say("No supervisor runs: this is what the record knows.") }
      try context.output.results(sorted.map { JSON.object($0.json(isSupervised: isSupervised)).line })
      return .done
    }
    let text = StatusText(style: context.output.style, now: WallClock.now())
    var lines: [String] = []
    if !isSupervised { lines.append("No supervisor runs: as the record has it.") }
    if let host = await host(bench) { lines.append(text.host(host)) }
    lines += text.lines(bodies, isSupervised: isSupervised)
    let well = bodies.count { $0.rank == 3 }
    lines.append(bodies.isEmpty ? "No body has been seen." : "\(well) of \(bodies.count) well")
    try context.output.results(lines)
    return .done
  }

  /// The latest row of the host, where it is not well; a record that can't be read says nothing here.
  private static func host(_ bench: RecordBench) async -> OutcomeReport? {
    guard let rows = try? await bench.reader.latest(), let row = rows.first(where: { $0.udid == nil }),
      row.words.kind != .up
    else { return nil }
    return row
  }
}

extension SupervisorClient.Trouble {
  /// Not merely that none runs.
  var isStrange: Bool {
    switch self {
    case .notRunning: false
    case .forbidden, .noAnswer, .refused: true
    }
  }
}
