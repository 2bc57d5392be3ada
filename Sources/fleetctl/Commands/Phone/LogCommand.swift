import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl log`: the phone's log as it is written, until a signal.
enum LogCommand {
  private static let limit = Duration.seconds(15)

  static let spec = CommandSpec(
    name: "log", summary: "the phone's log, live", positionals: [.body],
    options: [.flag("app", "only lines of the kiosk app's process")],
    notes: [
      "Control characters in it are shown as escapes. It goes on until SIGINT or SIGTERM, or until the phone leaves. A "
        + "reader that is slow misses lines: the phone drops them.",
      "--json: one object a line with at (when it came here), body, udid, process, pid, text, cut (its rest is gone).",
      "Exit codes: 130 and 143 on signals, 1 with --app when the app is not installed, 3 the phone cannot be reached, "
        + "does not trust this host, or has left.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let bench = try Bench(context)
    let body = try await bench.body(context.invocation.one("BODY"))
    let lane: PhoneLane
    do { lane = try body.lane(bench.mux) } catch { throw Complaint(error) }
    defer { lane.close() }
    let process = context.invocation.has("app") ? try await appProcess(of: body, over: lane) : nil
    let log: PhoneLog
    do { log = try await lane.log(openedBy: .after(limit)) } catch { throw Complaint(error) }
    defer { log.stop() }
    context.output.detail("the log of \(body.title) is open".printable)
    try await copy(log, of: body, process: process, context)
    return .done
  }

  private static func copy(
    _ log: PhoneLog, of body: Body, process: String?, _ context: Context
  ) async throws(Complaint) {
    var lines = log.makeAsyncIterator()
    while true {
      let line: LogRecord?
      do { line = try await lines.next() } catch { throw Complaint(error) }
      guard let line else { return }
      if let process, line.process != process { continue }
      if context.wantsJSON {
        try context.output.result(json(line, of: body, at: WallClock.rfc3339()))
      } else {
        try context.output.result(line.text.printable + (line.isCut ? " …" : ""))
      }
    }
  }

  /// The name under which the app's process writes.
  private static func appProcess(of body: Body, over lane: PhoneLane) async throws(Complaint) -> String {
    guard let bundle = body.app.bundle else { throw .noApp }
    let app: InstalledApp?
    do { app = try await lane.app(bundle, by: .after(limit)) } catch { throw Complaint(error) }
    if let executable = app?.executable { return executable }
    throw Complaint(
      .no,
      "\(bundle.printable) is not installed on \(body.title.printable), so nothing of it can be in the log. "
        + "fleet.yaml may name another app than the phone has. Read the whole log: fleetctl log \(body.title.printable)."
    )
  }

  static func json(_ line: LogRecord, of body: Body, at time: String) -> JSON {
    [
      "at": .string(time), "body": .text(body.name), "udid": .string(body.udid.description),
      "process": .text(line.process), "pid": line.pid.map { .integer(Int64($0)) } ?? .null,
      "text": .string(line.text), "cut": .boolean(line.isCut),
    ]
  }
}
