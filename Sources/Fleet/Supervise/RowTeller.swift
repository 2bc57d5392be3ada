/// Rows on their way to whoever is told of them: with their number once they are stored, and without one when the record
/// does not take them.
struct RowTeller: Sendable {
  private var waiting: [OutcomeReport] = []
  /// So many of the next that are stored were told before.
  private var ahead = 0

  mutating func made(_ rows: [OutcomeReport]) { waiting += rows }

  /// - Parameter row: as it was stored, with its number.
  /// - Returns: what is to be told now.
  mutating func stored(_ row: OutcomeReport) -> OutcomeReport? {
    guard ahead == 0 else {
      ahead -= 1
      return nil
    }
    if !waiting.isEmpty { waiting.removeFirst() }
    return row
  }

  /// - Returns: what is to be told now, though nobody knows when it will be stored.
  mutating func notStored() -> [OutcomeReport] {
    defer { waiting = [] }
    ahead += waiting.count
    return waiting
  }
}
