import Fleet
import Scenarios
import Wire

/// A run as a table that is drawn over: a line for each phone.
struct RunBoard: Sendable {
  private struct Row: Sendable {
    var title: String
    /// Scenarios in one round.
    var planned: Int
    var scenario: String?
    var since: ContinuousClock.Instant?
    var done = 0
    var bad = 0
  }
  private var rows: [UDID: Row] = [:]
  private var order: [UDID] = []

  mutating func take(_ event: RunEvent, at now: ContinuousClock.Instant = .now) {
    switch event.happening {
    case .runStarted(let started):
      for phone in started.phones where rows[phone.udid] == nil {
        order.append(phone.udid)
        rows[phone.udid] = Row(
          title: phone.body ?? phone.udid.description, planned: phone.scenarios?.count ?? started.files.count)
      }
    case .scenarioStarted(let started):
      rows[started.udid]?.scenario = started.scenario
      rows[started.udid]?.since = now
      // The attempt before it has been counted.
      if started.attempt > 1 { rows[started.udid]?.done -= 1 }
    case .scenarioFinished(let finished):
      rows[finished.udid]?.scenario = nil
      rows[finished.udid]?.done += 1
      if finished.verdict == .failed || finished.verdict == .error { rows[finished.udid]?.bad += 1 }
    case .stepFinished, .runFinished: break
    }
  }

  /// - Parameters:
  ///   - height: lines at most. Phones on which something runs come first then, and a last line counts the others.
  ///   - width: columns at most.
  func lines(height: Int, width: Int, at now: ContinuousClock.Instant = .now) -> [String] {
    var table = Table()
    var shown = order.compactMap { rows[$0] }
    let limit = max(1, height)
    let left = shown.count - limit
    if left > 0 {
      shown = Array((shown.filter { $0.scenario != nil } + shown.filter { $0.scenario == nil }).prefix(limit - 1))
    }
    for row in shown {
      var doing = row.scenario ?? (row.done >= row.planned ? "done" : "waiting")
      if let since = row.since, row.scenario != nil { doing += " \((now - since).components.seconds) s" }
      table.add([row.title, "\(row.done)/\(max(row.planned, row.done))", row.bad > 0 ? "\(row.bad) bad" : "", doing])
    }
    var lines = table.lines
    if left > 0 { lines.append("… and \(left + 1) more phones") }
    return lines.map { Self.cut($0, to: width) }
  }

  /// A drawn line that wraps could not be drawn over.
  static func cut(_ text: String, to width: Int) -> String {
    var row = ""
    var columns = 0
    for character in text {
      columns += DisplayWidth.of(String(character))
      if columns >= width { break }
      row.append(character)
    }
    return row
  }
}
