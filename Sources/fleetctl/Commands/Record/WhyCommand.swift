import DeviceBridge
import Fleet
import Wire

/// `fleetctl why`: all that is known of how one body is, and what it waits for.
enum WhyCommand {
  static let spec = CommandSpec(
    name: "why", summary: "how one body is and since when, what is awaited, who holds it, what was done",
    positionals: [.body],
    options: [.value("limit", "N", "so many of the last outcomes and of the last actions (else 10)")],
    notes: [
      "The present comes from the running supervisor, the past from the record; no phone is touched. Where no "
        + "supervisor runs, that is said, and who holds the phone is read from its lock.",
      "Exit codes: 0 told, 2 the body is not known, 3 neither a supervisor nor the record can be asked.",
      "--json: one object: that of status, with transitions (objects of outcomes) and actions (at, user, command, "
        + "reason, body, udid, result), both oldest first. An action without a user is the supervisor's own.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let count = try context.usage { () throws(UsageError) in
      try context.invocation.number("limit", in: 0...10_000) ?? 10
    }
    let bench = try RecordBench(context)
    let (bodies, trouble) = try await bench.bodies()
    if let trouble, trouble.isStrange { context.output.complain(trouble.sentence.printable) }
    let typed = context.invocation.one("BODY")
    var known = bodies
    if let everyone = try? await bench.everyone() {
      known += everyone.filter { one in !bodies.contains { $0.udid == one.udid } }
    }
    guard var body = try RecordedBodies.find(typed, among: known) else {
      throw RecordedBodies.unknown(typed, among: known)
    }
    let isSupervised = trouble == nil && bodies.contains { $0.udid == body.udid }
    if !isSupervised {
      body.heldBy = await PhoneLocks(environment: context.environment).holder(
        of: body.udid, on: try Bench.address(context))
    }
    let past = try await Past(body, count, bench.reader)
    if context.wantsJSON {
      var object = body.json(isSupervised: isSupervised)
      object["transitions"] = .array(past.rows.map(\.json))
      object["actions"] = .array(past.actions.map(\.json))
      try context.output.result(JSON.object(object))
    } else {
      let text = WhyText(body, past.rows, past.actions, isSupervised: isSupervised, style: context.output.style)
      try context.output.results(text.lines)
    }
    return .done
  }

  private struct Past: Sendable {
    var rows: [OutcomeReport] = []
    var actions: [ActionRow] = []

    /// A record that is not there is an empty one.
    init(
      _ body: BodyPresent, _ count: Int, _ reader: RecordReader
    ) async throws(Complaint) {
      do throws(RecordTrouble) {
        rows = try await reader.outcomes(phone: body.udid, limit: count, newest: true)
        actions = try await reader.actions(of: body.udid, limit: count)
      } catch {
        guard case .missing = error else { throw Complaint(error) }
      }
    }
  }
}

/// A body's answer to why, for people.
struct WhyText {
  private let body: BodyPresent
  private let rows: [OutcomeReport]
  private let actions: [ActionRow]
  private let isSupervised: Bool
  private let style: Style
  private let now = WallClock.now()

  init(_ body: BodyPresent, _ rows: [OutcomeReport], _ actions: [ActionRow], isSupervised: Bool, style: Style) {
    self.body = body
    self.rows = rows
    self.actions = actions
    self.isSupervised = isSupervised
    self.style = style
  }

  var lines: [String] {
    var lines = [title, outcome] + (body.detail.map { ["  \($0)".printable] } ?? [])
    var facts = Table()
    for (name, text) in self.facts { facts.add([name, text]) }
    lines += facts.lines
    lines += block("outcomes", rows.map { OutcomeText.cells($0) }, else: "none in the record")
    lines += block("actions", actions.map(Self.cells), else: "none in the record")
    return lines
  }

  private var title: String {
    let names = [body.body, body.udid.description, body.deviceName.map { "(\($0))" }]
    return names.compactMap { $0 }.joined(separator: "  ").printable
  }

  private var outcome: String {
    if let reason = body.outOfService { return "· out of service: \(reason)".printable }
    guard let words = body.words else { return "· no outcome yet" }
    let painted = words.isWell ? style.good(words.text) : style.bad(words.text)
    let since = body.since.map { " since \(Self.moment($0)) (\(Age.text(now - $0)))" } ?? ""
    return "\(words.kind.symbol) \(painted)\(since)"
  }

  private var facts: [(String, String)] {
    var facts: [(String, String)] = []
    if let silent = body.silent { facts.append(("silent", "for \(Age.text(silent))")) }
    if let answer = body.lastAnswer { facts.append(("last answer", Self.moment(answer))) }
    if isSupervised {
      facts.append(("lock", body.lock.rawValue))
      facts.append(("awaited", body.awaited))
      facts.append(("next launch", launch))
    } else {
      facts.append(("awaited", "nothing: no supervisor runs, or it does not have this body"))
    }
    if let holder = body.heldBy { facts.append(("held by", holder.text)) }
    if let until = body.pausedUntil {
      facts.append(("paused", "until \(Self.moment(until)) (\(Age.text(until - now)) left)"))
    }
    facts.append(("counted", Self.counted(body)))
    if let port = body.usbPort { facts.append(("usb port", port)) }
    return facts
  }

  private static func counted(_ body: BodyPresent) -> String {
    [(body.launches, "launch", "es"), (body.revivals, "revival", "s"), (body.flaps, "flap", "s")]
      .map { "\($0) \($1)\($0 == 1 ? "" : $2)" }.joined(separator: ", ")
  }

  private var launch: String {
    guard let next = body.nextLaunch else { return "not before something else has happened" }
    return next > now ? "\(Self.moment(next)) at the earliest (in \(Age.text(next - now)))" : "as soon as it is due"
  }

  private func block(_ head: String, _ rows: [[String]], else none: String) -> [String] {
    guard !rows.isEmpty else { return ["\(head): \(none)"] }
    var table = Table()
    for row in rows { table.add(row) }
    return ["\(head):"] + table.lines.map { "  \($0)" }
  }

  private static func cells(_ action: ActionRow) -> [String] {
    [
      moment(action.at), action.user ?? "supervisor", action.kind.rawValue,
      [action.reason.map { "\"\($0)\"" }, action.result].compactMap { $0 }.joined(separator: ": "),
    ]
  }

  private static func moment(_ moment: Duration) -> String { LocalTime.text(WallClock.rfc3339(moment)) }
}
