import Fleet
import Wire

/// `fleetctl outcomes`: the record, one line for each changed outcome.
enum OutcomesCommand {
  static let spec = CommandSpec(
    name: "outcomes", summary: "the record: one line for each changed outcome",
    options: [
      .value("body", "BODY", "only of this body, also of the phones that had its name before"),
      .value("kind", "KIND", "only of this kind, or kind/reason"),
      .value("since", "T", "from then on: a time, a day, or 2h for two hours ago"),
      .value("until", "T", "before then"),
      .value("limit", "N", "at most so many, the last ones (else 50; all where --since is given)"),
      .flag("follow", "go on with each row as it comes, until a signal"),
      .flag("csv", "for spreadsheets: a head, then one row a line"),
    ],
    notes: [
      "The oldest first. A line has the time with its offset, the body (or host), the outcome, the one before it, and "
        + "what else is known. A row keeps the time at which it was judged, also where it was stored later. --csv and "
        + "--json have times in UTC.",
      "Exit codes: 0 told, 1 nothing like it is in the record, 2 the body is not known, 3 the record cannot be read.",
      "--json: one object a row with seq, at, body, udid, outcome, reason, was, detail, silent_s, launched. Rows of the "
        + "host have no body and no udid.",
    ])

  /// What is asked for.
  private struct Wish: Sendable {
    var body: BodyPresent?
    var kind: OutcomeWords?
    var since: Duration?
    var until: Duration?
    var limit: Int?
  }

  /// So many rows are in memory at once, and nothing is held while they are printed.
  private static let page = 1_000

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    if invocation.has("csv"), invocation.has("json") {
      throw Complaint(.contradiction("--csv and --json are two ways to print the same.", command: spec.name))
    }
    var wish = try context.usage { () throws(UsageError) in try read(invocation) }
    let bench = try RecordBench(context)
    wish.body = try await body(bench, context)
    var tell = Teller(context)
    let last = try await tellPast(wish, bench.reader, &tell)
    guard invocation.has("follow") else {
      if last == nil {
        throw Complaint(
          .no,
          "There is no such row in the record. Nothing has changed yet, or the filter fits nothing. "
            + "See all of them: fleetctl outcomes.")
      }
      return .done
    }
    try await follow(wish, after: last, bench.reader, &tell, context)
    return .done
  }

  private static func read(_ invocation: Invocation) throws(UsageError) -> Wish {
    let now = WallClock.now()
    func moment(_ option: String) throws(UsageError) -> Duration? {
      guard let text = invocation.value(option) else { return nil }
      guard let moment = Moment.read(text, now: now) else {
        throw .badValue(option: option, value: text, wanted: Moment.wanted, command: spec.name)
      }
      return moment
    }
    var wish = Wish(since: try moment("since"), until: try moment("until"))
    wish.limit = try invocation.number("limit", in: 1...10_000_000) ?? (wish.since == nil ? 50 : nil)
    if let text = invocation.value("kind") {
      guard let words = OutcomeWords(text: text) else {
        throw .badValue(
          option: "kind", value: text,
          wanted: "one of \(OutcomeKind.allCases.map(\.rawValue).joined(separator: ", ")), or kind/reason",
          command: spec.name)
      }
      wish.kind = words
    }
    return wish
  }

  private static func body(_ bench: RecordBench, _ context: Context) async throws(Complaint) -> BodyPresent? {
    guard let typed = context.invocation.value("body") else { return nil }
    let known: [BodyPresent]
    do { known = try await bench.everyone() } catch { throw Complaint(error) }
    guard let found = try RecordedBodies.find(typed, among: known) else {
      throw RecordedBodies.unknown(typed, among: known)
    }
    return found
  }

  /// Tells what is there, page by page.
  ///
  /// - Returns: the number of the last row that was told; nil where none was.
  private static func tellPast(
    _ wish: Wish, _ reader: RecordReader, _ tell: inout Teller
  ) async throws(Complaint) -> Int? {
    var after: Int?
    if let limit = wish.limit {
      // The last ones: where they begin.
      let rows = try await ask(wish, reader, after: nil, limit: limit, newest: true)
      guard let first = rows.first?.seq else { return nil }
      if rows.count <= page {
        try tell(rows)
        return rows.last?.seq
      }
      after = first - 1
    }
    var last: Int?
    while true {
      let rows = try await ask(wish, reader, after: after, limit: page, newest: false)
      guard let end = rows.last?.seq else { return last }
      try tell(rows)
      (after, last) = (end, end)
    }
  }

  private static func ask(
    _ wish: Wish, _ reader: RecordReader, after: Int?, limit: Int, newest: Bool
  ) async throws(Complaint) -> [OutcomeReport] {
    do {
      return try await reader.outcomes(
        body: wish.body?.body, phone: wish.body?.udid, kind: wish.kind, since: wish.since, until: wish.until,
        after: after, limit: limit,
        newest: newest)
    } catch {
      throw Complaint(error)
    }
  }

  /// Tells each row as it comes.
  private static func follow(
    _ wish: Wish, after last: Int?, _ reader: RecordReader, _ tell: inout Teller, _ context: Context
  ) async throws(Complaint) {
    var after = last ?? 0
    // Rows before those that were told are none that come.
    if last == nil, let newest = try await ask(Wish(), reader, after: nil, limit: 1, newest: true).last?.seq {
      after = newest
    }
    var state = reader.fileState
    while true {
      guard await Bench.rest() else { return }
      let now = reader.fileState
      if now == state { continue }
      state = now
      let rows: [OutcomeReport]
      do throws(RecordTrouble) {
        if let newest = try await reader.outcomes(limit: 1, newest: true).last?.seq, newest < after {
          context.output.say("The record was begun anew; what follows is the new one's.")
          after = 0
        }
        rows = try await reader.outcomes(
          body: wish.body?.body, phone: wish.body?.udid, kind: wish.kind, since: wish.since, until: wish.until,
          after: after,
          limit: page)
      } catch {
        // It is being moved, or begun anew in this moment.
        guard case .missing = error else { throw Complaint(error) }
        continue
      }
      try tell(rows)
      after = rows.last?.seq ?? after
      // There may be more than a page of them.
      if rows.count == page { state = nil }
    }
  }
}

/// Prints rows in the form that was asked for.
private struct Teller {
  private let context: Context
  private var hasHead = false

  init(_ context: Context) { self.context = context }

  mutating func callAsFunction(_ rows: [OutcomeReport]) throws(Complaint) {
    if context.wantsJSON {
      try context.output.results(rows.map(\.json.line))
    } else if context.invocation.has("csv") {
      try context.output.results((hasHead ? [] : [OutcomeText.csvHead]) + rows.map { OutcomeText.csv($0) })
      hasHead = true
    } else {
      var table = Table()
      for row in rows { table.add(OutcomeText.cells(row)) }
      try context.output.results(table.lines)
    }
  }
}
