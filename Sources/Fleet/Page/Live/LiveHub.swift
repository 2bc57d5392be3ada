import Transport
import Wire

/// What open pages are told: the cards that have changed, and the rows as they come. It is drawn once for all of them.
final class LiveHub: Sendable {
  /// Names this process's states.
  let era: String
  private let view: any SupervisorView
  private let now: @Sendable () -> Duration
  private let state = Guarded(State())

  struct State {
    /// Counts what has changed; each piece carries the number at which it did so last.
    var number = 0
    var cards: [Card] = []
    var places: [UDID: Int] = [:]
    var membersChanged = 0
    var head = ""
    var headChanged = 0
    /// Counts the records.
    var record = 0
    /// The latest, oldest first.
    var rows: [OutcomeReport] = []
    /// The newest row's number; nil before the record was read.
    var newest: Int?
  }

  struct Card {
    var body: BodyPresent
    var event: String
    var changed: Int
    var answerChanged: Int
  }

  /// - Parameter now: the wall clock, since 1970.
  init(_ view: any SupervisorView, era: String, now: @escaping @Sendable () -> Duration) {
    self.view = view
    self.era = era
    self.now = now
  }

  /// Where a page that is made now goes on.
  var mark: LiveMark { state.with { LiveMark(era: era, state: $0.number, record: $0.record, row: $0.newest ?? 0) } }
  var rows: [OutcomeReport] { state.with { $0.rows } }

  func source(from mark: LiveMark) -> any EventSource { LiveSource(self, mark) }

  /// Looks at everything anew.
  ///
  /// - Throws: where the record can't be read; all else has been looked at.
  func refresh() async throws(RecordTrouble) {
    state.with { draw(&$0) }
    try await readRows()
  }

  // MARK: - Cards

  /// The view is read under the lock: what was read first is drawn first.
  private func draw(_ state: inout State) {
    let bodies = view.bodies()
    let time = PageTime(now: now())
    let next = state.number + 1
    var hasChanged = false
    var cards: [Card] = []
    cards.reserveCapacity(bodies.count)
    for body in bodies {
      let old = state.places[body.udid].map { state.cards[$0] }
      guard var card = old, !body.looksDifferent(from: card.body),
        body.warnings(at: time.now) == card.body.warnings(at: time.now)
      else {
        let told: JSON = [
          "id": .string(BodyCard.mark(body.udid)), "html": .string(BodyCard(body, time).html),
        ]
        cards.append(Card(body: body, event: Self.event("card", told), changed: next, answerChanged: next))
        hasChanged = true
        continue
      }
      if card.body.lastAnswer != body.lastAnswer {
        card.body.lastAnswer = body.lastAnswer
        card.answerChanged = next
        hasChanged = true
      }
      cards.append(card)
    }
    if cards.map(\.body.udid) != state.cards.map(\.body.udid) {
      state.places = Dictionary(
        cards.enumerated().map { ($0.element.body.udid, $0.offset) }, uniquingKeysWith: { first, _ in first })
      state.membersChanged = next
      hasChanged = true
    }
    state.cards = cards
    let (host, round) = (view.host(), view.lastRound())
    let head = Self.event(
      "head",
      [
        "html": .string(PageDocument.head(bodies, host, round, time)),
        "title": .string(PageDocument.title(bodies, host)),
      ])
    if head != state.head {
      state.head = head
      state.headChanged = next
      hasChanged = true
    }
    if hasChanged { state.number = next }
  }

  // MARK: - Rows

  private static let page = 200

  private func readRows() async throws(RecordTrouble) {
    guard let newest = state.with({ $0.newest }) else { return try await readFromNewest(isAnother: false) }
    // With the last known one first: if it is no longer there, the record is another one.
    var rows = try await view.rows(after: max(newest - 1, 0), limit: Self.page)
    if newest > 0 {
      guard rows.first?.seq == newest else { return try await readFromNewest(isAnother: true) }
      rows.removeFirst()
    }
    while let last = rows.last?.seq {
      add(rows)
      if rows.count < Self.page - 1 { return }
      rows = try await view.rows(after: last, limit: Self.page)
    }
  }

  private func readFromNewest(isAnother: Bool) async throws(RecordTrouble) {
    let newest = try await findNewest()
    let rows = try await view.rows(after: max(newest - LiveMark.rowsShown, 0), limit: Self.page)
    state.with { state in
      state.rows = Array(rows.suffix(LiveMark.rowsShown))
      state.newest = rows.last?.seq ?? newest
      if isAnother { state.record += 1 }
    }
  }

  /// Numbers rise, so the last is found by halving.
  private func findNewest() async throws(RecordTrouble) -> Int {
    func next(after seq: Int) async throws(RecordTrouble) -> Int? {
      try await view.rows(after: seq, limit: 1).first?.seq
    }
    var low = 0
    var step = 1
    while let seq = try await next(after: low + step - 1) {
      low = seq
      step = min(step * 2, 1 << 40)
    }
    var high = low + step - 1
    while low < high {
      let middle = low + (high - low) / 2
      if let seq = try await next(after: middle) { low = seq } else { high = middle }
    }
    return low
  }

  private func add(_ rows: [OutcomeReport]) {
    state.with { state in
      let new = rows.filter { ($0.seq ?? 0) > (state.newest ?? 0) }
      guard let last = new.last?.seq else { return }
      state.rows = Array((state.rows + new).suffix(LiveMark.rowsShown))
      state.newest = last
    }
  }

  // MARK: - News

  /// What has come since a page was told last; the mark goes on with it.
  func news(since mark: inout LiveMark) -> [UInt8] {
    let from = mark
    let (text, after): (String, LiveMark) = state.with { state in
      // What was told may be ahead of what has been read here.
      let row = state.record == from.record ? max(from.row, state.newest ?? 0) : state.newest ?? 0
      return (
        Self.news(state, since: from), LiveMark(era: era, state: state.number, record: state.record, row: row)
      )
    }
    mark = after
    return Array(text.utf8)
  }

  private static func news(_ state: State, since mark: LiveMark) -> String {
    var text = ""
    if state.membersChanged > mark.state {
      text += event("bodies", .array(state.cards.map { .string(BodyCard.mark($0.body.udid)) }))
    }
    var answers: [String: JSON] = [:]
    for card in state.cards {
      if card.changed > mark.state {
        text += card.event
      } else if card.answerChanged > mark.state, let answer = card.body.lastAnswer {
        answers[BodyCard.mark(card.body.udid)] = .string(WallClock.rfc3339(answer))
      }
    }
    if !answers.isEmpty { text += event("answers", .object(answers)) }
    if state.headChanged > mark.state { text += state.head }
    let isAnother = state.record != mark.record
    if isAnother { text += event("anew", .null) }
    let told = isAnother ? 0 : mark.row
    for row in state.rows where (row.seq ?? 0) > told {
      text += "id: \(row.seq ?? 0)\n" + event("row", ["html": .string(RowLine(row).html)])
    }
    return text
  }

  private static func event(_ name: String, _ json: JSON) -> String { "event: \(name)\ndata: \(json.line)\n\n" }
}

/// One page's place in what is told.
private final class LiveSource: EventSource {
  private let hub: LiveHub
  private let mark: Guarded<LiveMark>

  init(_ hub: LiveHub, _ mark: LiveMark) {
    self.hub = hub
    self.mark = Guarded(mark)
  }

  func next() -> [UInt8] {
    mark.with { mark in hub.news(since: &mark) }
  }
}
