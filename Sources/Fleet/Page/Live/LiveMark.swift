/// Up to where a page has been told: the row it ends with, and the state of the cards that it was made from.
struct LiveMark: Equatable, Sendable {
  /// How many rows a page shows.
  static let rowsShown = 50

  /// Of this process: numbers of another one's states mean nothing here.
  var era: String
  var state: Int
  var row: Int

  /// As the query of the events' address.
  var text: String { "era=\(era)&amp;state=\(state)&amp;row=\(row)" }

  init(era: String, state: Int, row: Int) {
    self.era = era
    self.state = state
    self.row = row
  }

  /// - Parameter era: this process's.
  init(_ request: PageRequest, era: String) {
    func number(_ text: String?) -> Int { text.flatMap(Int.init).map { max(0, $0) } ?? 0 }
    self.era = era
    state = request.query["era"] == era ? number(request.query["state"]) : 0
    // A browser whose line broke says which row it had last.
    row = number(request.lastEventID ?? request.query["row"])
  }
}
