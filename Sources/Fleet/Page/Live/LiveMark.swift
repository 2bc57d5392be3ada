/// Up to where a page has been told: the row it ends with, and the state of the cards that it was made from.
struct LiveMark: Equatable, Sendable {
  /// How many rows a page shows.
  static let rowsShown = 50

  /// Of this process: numbers of another one's states mean nothing here.
  var era: String
  var state: Int
  /// Counts the records that this process has read; rows of an earlier one mean nothing in a later one.
  var record: Int
  var row: Int

  /// As the query of the events' address.
  var text: String { "era=\(era)&amp;state=\(state)&amp;record=\(record)&amp;row=\(row)" }

  init(era: String, state: Int, record: Int, row: Int) {
    self.era = era
    self.state = state
    self.record = record
    self.row = row
  }

  /// - Parameter present: this process's own, now.
  init(_ request: PageRequest, _ present: LiveMark) {
    func number(_ text: String?) -> Int { text.flatMap(Int.init).map { max(0, $0) } ?? 0 }
    era = present.era
    let isOurs = request.query["era"] == era
    state = isOurs ? number(request.query["state"]) : 0
    // A record outlives the processes that read it.
    record = isOurs ? number(request.query["record"]) : present.record
    // A browser whose line broke says which row it had last.
    row = number(request.lastEventID ?? request.query["row"])
  }
}
