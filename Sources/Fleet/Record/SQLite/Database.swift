import CSQLite
import Glibc
import Transport

/// One open SQLite database, on one thread.
///
/// Not to be handed to another thread: whoever opens it uses it and closes it.
final class Database {
  enum Access { case reading, writing }

  /// A database of fleetctl's says so in its head: `FLCT`.
  static let applicationID = 0x464C_4354

  let path: String
  private let handle: OpaquePointer
  /// How long another process's lock is waited for.
  private(set) var patience: Duration
  private var isClosed = false

  /// - Throws: what opening says, which for SQLite may also come with the first use.
  init(_ path: String, _ access: Access, patience: Duration) throws(RecordTrouble) {
    self.path = path
    self.patience = patience
    let flags =
      switch access {
      case .reading: SQLITE_OPEN_READONLY
      case .writing: SQLITE_OPEN_READWRITE
      }
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let handle, code == SQLITE_OK else {
      // What the system said is more than "unable to open database file".
      let system = handle.map { sqlite3_system_errno($0) } ?? 0
      let text = String(cString: sqlite3_errstr(code))
      sqlite3_close_v2(handle)
      switch system {
      case ENOENT: throw .missing(path: path)
      case EACCES, EPERM, EROFS: throw .forbidden(path: path, code: system)
      default: throw RecordTrouble(code, text, path: path, limit: patience)
      }
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, Self.milliseconds(patience))
    // A file that somebody else may have written must not call functions of ours by its schema.
    _ = try? run("PRAGMA trusted_schema = OFF")
  }

  deinit { close() }

  /// Lets go of the file; nothing may be asked of it afterwards.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    sqlite3_close_v2(handle)
  }

  /// Its file was deleted, or another one has taken its place.
  var hasMoved: Bool {
    var moved: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
  }

  func wait(for patience: Duration) {
    self.patience = patience
    sqlite3_busy_timeout(handle, Self.milliseconds(patience))
  }

  private static func milliseconds(_ span: Duration) -> Int32 {
    Int32(clamping: Int64(span.components.seconds) * 1_000 + span.components.attoseconds / 1_000_000_000_000_000)
  }
}

extension Database {
  /// Runs one statement to its end.
  ///
  /// - Parameter values: bound to its question marks in order.
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(RecordTrouble) {
    let statement = try prepare(sql, values)
    defer { sqlite3_finalize(statement) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_ROW { continue }
      guard code == SQLITE_DONE else { throw trouble(code) }
      return
    }
  }

  /// The rows of a query, each made into a value.
  func rows<R>(
    _ sql: String, _ values: [SQLiteValue] = [], _ make: (SQLiteRow) -> R
  ) throws(RecordTrouble) -> [R] {
    let statement = try prepare(sql, values)
    defer { sqlite3_finalize(statement) }
    var made: [R] = []
    while true {
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        guard code == SQLITE_DONE else { throw trouble(code) }
        return made
      }
      made.append(make(SQLiteRow(statement: statement)))
    }
  }

  /// The first row's first column.
  func number(_ sql: String, _ values: [SQLiteValue] = []) throws(RecordTrouble) -> Int? {
    try rows(sql, values) { $0.int(0) }.first ?? nil
  }

  /// The row number that the last insertion gave.
  var lastRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Everything that the body writes, or nothing of it; other writers wait meanwhile.
  func transaction<R>(_ body: () throws(RecordTrouble) -> R) throws(RecordTrouble) -> R {
    try run("BEGIN IMMEDIATE")
    do throws(RecordTrouble) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Some troubles have rolled it back already; then this says so, and no more.
      _ = try? run("ROLLBACK")
      throw error
    }
  }

  /// Copies the whole database, as it is at this moment, into a new file.
  func copy(to target: String) throws(RecordTrouble) {
    var copy: OpaquePointer?
    let code = sqlite3_open_v2(target, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, nil)
    defer { sqlite3_close_v2(copy) }
    guard code == SQLITE_OK, let backup = sqlite3_backup_init(copy, "main", handle, "main") else {
      throw RecordTrouble(code, String(cString: sqlite3_errstr(code)), path: target, limit: patience)
    }
    let step = sqlite3_backup_step(backup, -1)
    let end = sqlite3_backup_finish(backup)
    guard step == SQLITE_DONE, end == SQLITE_OK else {
      let code = step == SQLITE_DONE ? end : step
      throw RecordTrouble(code, String(cString: sqlite3_errstr(code)), path: target, limit: patience)
    }
  }

  private func prepare(_ sql: String, _ values: [SQLiteValue]) throws(RecordTrouble) -> OpaquePointer {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw trouble(code) }
    for (index, value) in values.enumerated() {
      let bound = value.bind(to: statement, at: Int32(index + 1))
      guard bound == SQLITE_OK else {
        let trouble = trouble(bound)
        sqlite3_finalize(statement)
        throw trouble
      }
    }
    return statement
  }

  private func trouble(_ code: Int32) -> RecordTrouble {
    let system = sqlite3_system_errno(handle)
    if code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN {
      switch system {
      case ENOSPC, EDQUOT: return .full(path: path)
      case EACCES, EPERM, EROFS: return .forbidden(path: path, code: system)
      default: break
      }
    }
    return RecordTrouble(code, String(cString: sqlite3_errmsg(handle)), path: path, limit: patience)
  }
}
