import Transport

/// The record, open for writing: one connection, on a thread of its own that ends with this value.
///
/// What is written is written in order. What the disk does not take now (it is full, another process holds the lock) is
/// tried again until it does, or until the record is closed; what is still in memory then is lost.
public final class Record: Sendable {
  public let path: String
  private let writer: RecordWriter

  private init(_ writer: RecordWriter) {
    path = writer.opening.path
    self.writer = writer
  }

  deinit { writer.endSoon() }

  /// Opens a record; begins one where there is none, and brings an older one up to date after copying it beside itself.
  ///
  /// - Parameter limit: how long all of that may take.
  /// - Returns: the record, and what people should be told about it.
  public static func open(
    _ path: String, within limit: Duration = .seconds(10)
  ) async throws(RecordTrouble) -> (record: Record, notices: [RecordNotice]) {
    try await open(RecordOpening(path: path, patience: min(limit, .seconds(5))), within: limit)
  }

  static func open(
    _ opening: RecordOpening, within limit: Duration
  ) async throws(RecordTrouble) -> (record: Record, notices: [RecordNotice]) {
    let writer = RecordWriter(opening)
    let opened = OneShot<Result<[RecordNotice], RecordTrouble>>()
    writer.begin { opened.give($0) }
    let record = Record(writer)
    let late = Result<[RecordNotice], RecordTrouble>.failure(.slow(path: opening.path, limit: limit))
    return (record, try await opened.value(within: limit, else: late).get())
  }

  /// What has been done to the file since it was opened: a record that turned out damaged was set aside.
  public func takeNotices() -> [RecordNotice] { writer.takeNotices() }

  /// Writes soon; nobody waits for it.
  func enqueue(_ work: @escaping RecordWriter.Work) { writer.add(RecordWriter.Job(work: work) { _ in }) }

  /// Writes, and waits until it is on the disk.
  ///
  /// - Throws: at the limit the trouble that is in the way; what was asked for may still come about.
  func perform<R: Sendable>(
    within limit: Duration, _ work: @escaping @Sendable (Database) throws(RecordTrouble) -> R
  ) async throws(RecordTrouble) -> R {
    let found = OneShot<Result<R, RecordTrouble>?>()
    let made = Guarded<R?>(nil)
    writer.add(
      RecordWriter.Job { database throws(RecordTrouble) in
        let value = try work(database)
        made.with { $0 = value }
      } ended: { trouble in
        found.give(trouble.map { .failure($0) } ?? made.with { $0 }.map { .success($0) })
      })
    guard let answer = await found.value(within: limit, else: nil) else {
      throw writer.trouble ?? .slow(path: path, limit: limit)
    }
    return try answer.get()
  }

  /// Waits until everything that was asked for so far is on the disk.
  public func settle(within limit: Duration) async throws(RecordTrouble) {
    try await perform(within: limit) { _ in }
    if let lost = writer.lost { throw lost }
  }

  /// Waits until everything is on the disk and the file is closed; nothing can be written after it.
  public func close(within limit: Duration) async throws(RecordTrouble) {
    let outcome: Result<Void, RecordTrouble>
    do throws(RecordTrouble) {
      try await settle(within: limit)
      outcome = .success(())
    } catch { outcome = .failure(error) }
    writer.endSoon()
    if case .success = outcome { _ = await writer.ended.value(within: limit, else: false) }
    try outcome.get()
  }
}
