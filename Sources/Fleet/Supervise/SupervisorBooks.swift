import Wire

/// What a supervisor keeps, and where: the record, or something else in its place.
public protocol SupervisorBooks: Sendable {
  /// What is known of the host and of every body from before.
  func past() async throws(RecordTrouble) -> (FleetWatch.Past, [UDID: BodyPast])
  /// Row, memory and action in one transaction.
  func store(_ entry: LedgerEntry, within limit: Duration) async throws(RecordTrouble)
  func storeStamp(
    _ stamp: LaunchStamp, memory: WatchMemory, of udid: UDID, within limit: Duration
  ) async throws(RecordTrouble)
  func pauses() async throws(RecordTrouble) -> [UDID: Pause]
  /// Another number than last time: somebody else has written.
  func dataVersion(within limit: Duration) async throws(RecordTrouble) -> Int
  /// Rows with higher numbers, oldest first.
  func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport]
  /// Lets go of what is older than the record keeps.
  func letGo(now: Duration, within limit: Duration) async throws(RecordTrouble)
  /// What people should be told of the record's file.
  func notices() -> [String]
}

/// The record as a supervisor's books.
public final class RecordBooks: SupervisorBooks {
  private let record: Record
  private let reader: RecordReader
  private let keep: Duration

  public init(_ record: Record, keep: Duration) {
    self.record = record
    self.keep = keep
    reader = RecordReader(record.path)
  }

  public func past() async throws(RecordTrouble) -> (FleetWatch.Past, [UDID: BodyPast]) { try await reader.past() }

  public func store(_ entry: LedgerEntry, within limit: Duration) async throws(RecordTrouble) {
    try await record.store(entry, within: limit)
  }

  public func storeStamp(
    _ stamp: LaunchStamp, memory: WatchMemory, of udid: UDID, within limit: Duration
  ) async throws(RecordTrouble) {
    try await record.storeStamp(stamp, memory: memory, of: udid, within: limit)
  }

  public func pauses() async throws(RecordTrouble) -> [UDID: Pause] { try await reader.pauses() }

  public func dataVersion(within limit: Duration) async throws(RecordTrouble) -> Int {
    try await record.dataVersion(within: limit)
  }

  public func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport] {
    try await reader.outcomes(after: seq, limit: limit)
  }

  public func letGo(now: Duration, within limit: Duration) async throws(RecordTrouble) {
    try await record.letGo(keep: keep, now: now, within: limit)
  }

  public func notices() -> [String] { record.takeNotices().compactMap(\.sentence) }
}
