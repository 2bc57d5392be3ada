import Transport

/// The record, open for writing: one connection, on a thread of its own that ends with this value.
///
/// What is written is written in order. What the disk does not take now (it is full, another process holds the lock) is
/// tried again until it does, or until the record is closed; what is still in memory then is lost.
public final class Record: Sendable {
  public let path: String
  /// Takes secrets out of what is written.
  let mask: Mask
  private let writer: RecordWriter

  private init(_ writer: RecordWriter, _ mask: Mask) {
    path = writer.opening.path
    self.mask = mask
    self.writer = writer
  }

  deinit { writer.endSoon() }

  /// Opens a record; begins one where there is none, and brings an older one up to date after copying it beside itself.
  ///
  /// - Parameters:
  ///   - mask: takes secrets out of details, reasons and results that are written.
  ///   - isChecked: whether the file is looked through for damage; who writes one row and leaves need not.
  ///   - limit: how long all of that may take.
  /// - Returns: the record, and what people should be told about it.
  public static func open(
    _ path: String, masking mask: Mask = Mask([]), isChecked: Bool = true, within limit: Duration = .seconds(10)
  ) async throws(RecordTrouble) -> (record: Record, notices: [RecordNotice]) {
    // Shorter than the limit, so that a lock in the way is called one.
    let opening = RecordOpening(path: path, patience: min(limit * 0.75, .seconds(5)), isChecked: isChecked)
    return try await open(opening, masking: mask, within: limit)
  }

  static func open(
    _ opening: RecordOpening, masking mask: Mask = Mask([]), within limit: Duration
  ) async throws(RecordTrouble) -> (record: Record, notices: [RecordNotice]) {
    let writer = RecordWriter(opening)
    let opened = OneShot<Result<[RecordNotice], RecordTrouble>>()
    writer.begin { opened.give($0) }
    let record = Record(writer, mask)
    let late = Result<[RecordNotice], RecordTrouble>.failure(.slow(path: opening.path, limit: limit))
    return (record, try await opened.value(within: limit, else: late).get())
  }

  /// What has been done to the file since it was opened: a record that turned out damaged was set aside.
  public func takeNotices() -> [RecordNotice] { writer.takeNotices() }

  /// Writes soon; nobody waits for it.
  func enqueue(_ work: @escaping RecordWriter.Work) {
    writer.add(RecordWriter.Job(isAwaited: false, work: work) { _ in })
  }

  /// Writes, and waits until it is on the disk.
  ///
  /// - Throws: at the limit the trouble that is in the way; what was asked for may still come about.
  func perform<R: Sendable>(
    as kind: RecordWriter.Job.Kind = .write, within limit: Duration,
    _ work: @escaping @Sendable (Database) throws(RecordTrouble) -> R
  ) async throws(RecordTrouble) -> R {
    let found = OneShot<Result<R, RecordTrouble>?>()
    let made = Guarded<R?>(nil)
    writer.add(
      RecordWriter.Job(kind: kind) { database throws(RecordTrouble) in
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

  /// The same for whoever gives it again after a trouble: what nobody waits for any more is not begun.
  ///
  /// - Parameter mindsMoves: it matters that the file is another one than before.
  /// - Throws: `.begunAnew` once to somebody who still waits, after the file was found to be another one.
  func hand<R: Sendable>(
    as kind: RecordWriter.Job.Kind = .write, mindsMoves: Bool = true, within limit: Duration,
    _ work: @escaping @Sendable (Database) throws(RecordTrouble) -> R
  ) async throws(RecordTrouble) -> R {
    let isWithdrawn = Guarded(false)
    let (writer, path) = (writer, path)
    do throws(RecordTrouble) {
      let slow = RecordTrouble.slow(path: path, limit: limit)
      if kind == .look, writer.isCrowded { throw writer.trouble ?? slow }
      let result = try await perform(as: kind, within: limit) { database throws(RecordTrouble) -> R? in
        if isWithdrawn.with({ $0 }) { return nil }
        if mindsMoves, writer.isAnew { throw .begunAnew(path: path, lastSeq: try database.lastSeq()) }
        return try work(database)
      }
      guard let result else { throw slow }
      return result
    } catch {
      isWithdrawn.with { $0 = true }
      if case .begunAnew = error { writer.acceptAnew() }
      throw error
    }
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
