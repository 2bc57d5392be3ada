import Fleet
import Transport
import Wire

/// Writes a run's events to the record, as they come.
public struct RecordKeeper: Sendable {
  private let record: Record
  /// The run's number in the record.
  public let number: Int
  private let hasBegun = Guarded(false)

  /// Makes room for a run.
  ///
  /// - Parameters:
  ///   - isVirtual: on virtual phones of the run's own.
  ///   - keep: runs that are older are let go of.
  public static func begin(
    _ record: Record, version: String, label: String?, meta: [String: String], isVirtual: Bool, keep: Duration,
    within limit: Duration = .seconds(10)
  ) async throws(RecordTrouble) -> RecordKeeper {
    let row = RunRow(
      startedAt: WallClock.rfc3339(), version: version, label: label, isVirtual: isVirtual, meta: meta)
    return RecordKeeper(record, number: try await record.begin(row, keep: keep, within: limit))
  }

  private init(_ record: Record, number: Int) {
    self.record = record
    self.number = number
  }

  /// Never waits.
  public func take(_ event: RunEvent) {
    switch event.happening {
    case .runStarted(let started):
      hasBegun.with { $0 = true }
      record.describe(
        number, scenarios: started.files.map { RunScenarioRow(scenario: $0.scenario, file: $0.file, hash: $0.hash) },
        bodies: started.phones.map(\.row))
    case .scenarioFinished(let finished): record.add(finished.row(run: number, at: event.at))
    case .runFinished(let finished):
      record.finish(number, at: event.at, seconds: finished.seconds, exit: Int(finished.exit.number))
    case .scenarioStarted, .stepFinished: break
    }
  }

  /// Waits until the run is in the record, and closes it. A run in which nothing was begun is taken back.
  ///
  /// - Throws: why it is not, or not whole.
  public func finish(within limit: Duration = .seconds(10)) async throws(RecordTrouble) {
    if !hasBegun.with({ $0 }) { record.forget(number) }
    try await record.close(within: limit)
  }

  /// What became of the record's file meanwhile, for people.
  public func takeNotices() -> [RecordNotice] { record.takeNotices() }
}

extension RunStarted.Phone {
  var row: RunBodyRow {
    RunBodyRow(
      body: body, udid: udid, model: model, ios: ios, bundle: bundle, version: version, build: build,
      usbPort: usbPort)
  }
}

extension ScenarioFinished {
  func row(run: Int, at: String) -> VerdictRow {
    VerdictRow(
      run: run, body: body, udid: udid, scenario: scenario, file: file, line: line, attempt: attempt,
      verdict: verdict, at: at, seconds: seconds, recoverySeconds: recoverySeconds, message: message)
  }
}
