import Transport

/// The record as commands read it: opened, asked, closed, and only then is anything printed.
public struct RecordReader: Sendable {
  public let path: String
  private let limit: Duration

  /// - Parameter limit: how long one question may take in all.
  public init(_ path: String, within limit: Duration = .seconds(10)) {
    self.path = path
    self.limit = limit
  }

  /// Another value than before says that the record may have changed; cheap enough to be asked again and again.
  ///
  /// - Returns: nil where there is no record.
  public var fileState: [Int]? {
    guard let file = RecordFile.state(path) else { return nil }
    return file + (RecordFile.state(path + "-wal") ?? [])
  }

  func read<R: Sendable>(
    _ question: @escaping @Sendable (Database) throws(RecordTrouble) -> R
  ) async throws(RecordTrouble) -> R {
    let found = OneShot<Result<R, RecordTrouble>>()
    let opening = RecordOpening(path: path, patience: min(limit, .seconds(5)))
    _ = Worker(name: "record reader") {
      do throws(RecordTrouble) {
        let database = try opening.forReading()
        // All of an answer is of one moment.
        try database.run("BEGIN")
        let answer = try question(database)
        try database.run("COMMIT")
        found.give(.success(answer))
      } catch {
        found.give(.failure(error))
      }
    }
    return try await found.value(within: limit, else: .failure(.slow(path: path, limit: limit))).get()
  }
}
