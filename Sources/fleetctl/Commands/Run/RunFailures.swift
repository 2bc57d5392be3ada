import Fleet
import Scenarios
import Wire

/// What a run in the record has failed, so that it can be run again.
struct RunFailures: Sendable {
  private struct Pair: Hashable, Sendable {
    var udid: UDID
    var scenario: String
  }

  /// The run's number.
  let run: Int
  private let pairs: Set<Pair>

  /// What failed in the last run, errors among it.
  ///
  /// - Parameter number: that of the run that asks; 0 where it is not kept.
  static func last(
    isVirtual: Bool, before number: Int, _ context: Context
  ) async throws(Complaint) -> RunFailures {
    let reader = try context.record()
    let filter = RecordReader.RunFilter(
      isVirtual: isVirtual, before: number > 0 ? number : nil, hasVerdicts: true, count: 1)
    let found: RunFailures?
    do throws(RecordTrouble) {
      if let last = try await reader.runs(filter).first {
        found = RunFailures(last.number, try await reader.verdicts(of: last.number))
      } else {
        found = nil
      }
    } catch {
      throw Complaint(error)
    }
    guard let found else { throw .noRun }
    return found
  }

  /// The last verdict on each scenario and body counts.
  private init(_ run: Int, _ rows: [VerdictRow]) {
    var verdicts: [Pair: Verdict] = [:]
    for row in rows { verdicts[Pair(udid: row.udid, scenario: row.scenario)] = row.verdict }
    self.run = run
    pairs = Set(verdicts.filter { $0.value == .failed || $0.value == .error }.keys)
  }

  func holds(_ scenario: Scenario, _ body: Body) -> Bool {
    pairs.contains(Pair(udid: body.udid, scenario: scenario.name))
  }
}

extension Complaint {
  fileprivate static let noRun = Complaint(
    .nothingJudged,
    "There is no run that could have failed. The record has none of this kind. Run it all: fleetctl run.")
}
