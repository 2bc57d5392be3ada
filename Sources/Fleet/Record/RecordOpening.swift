import CSQLite
import Glibc

/// What opening a record for writing has done to it, for people to be told.
public enum RecordNotice: Equatable, Sendable {
  case begun(path: String)
  /// The copy is the record as it was.
  case migrated(path: String, from: Int, to: Int, copy: String)
  case setAside(path: String, as: String)
  /// While it was open its file was deleted or replaced; another is used from now on.
  case moved(path: String)

  /// nil for what needs no word.
  public var sentence: String? {
    switch self {
    case .begun: nil
    case .migrated(let path, let from, let to, let copy):
      "The record \(path) was brought from schema \(from) to \(to). It needs this version of fleetctl from now on. "
        + "As it was it is kept as: \(copy)"
    case .setAside(let path, let aside):
      "The record \(path) was damaged, and a new one is begun. The disk may have lost what was written. "
        + "See what can be saved of the old one: sqlite3 \(aside) .recover"
    case .moved(let path):
      "The record \(path) was deleted or replaced while it was in use. What it held is not in the one that is there now. "
        + "Stop the supervisor before the file is moved; see what is there: ls -l \(path)*"
    }
  }
}

/// Opens records: begins new ones, brings old ones up to date, sets damaged ones aside.
struct RecordOpening {
  var path: String
  var schema = RecordSchema.current
  var patience = Duration.seconds(5)
  /// Whether it is looked through when it is opened for writing; who writes one row and leaves need not.
  var isChecked = true

  /// Files up to here are looked through whole when they are opened for writing.
  private static let checkedBytes = 32 << 20
  /// The write-ahead file is cut back to this when it has been written into the database.
  static let walBytes = 2 << 20

  /// - Returns: the database, and what was done to it.
  func forWriting() throws(RecordTrouble) -> (Database, [RecordNotice]) {
    do throws(RecordTrouble) {
      return try openForWriting()
    } catch .corrupt {
      return try RecordFile.alone(path) { () throws(RecordTrouble) in
        // Somebody else may have done this in the meantime.
        do throws(RecordTrouble) { return try openForWriting() } catch .corrupt {}
        let aside = try RecordFile.setAside(path)
        let (database, notices) = try openForWriting()
        return (database, [.setAside(path: path, as: aside)] + notices)
      }
    }
  }

  func forReading() throws(RecordTrouble) -> Database {
    // SQLite would take an empty file for a record without tables.
    guard let size = RecordFile.size(path) else { throw .missing(path: path) }
    guard size > 0 else { throw .missing(path: path) }
    do throws(RecordTrouble) { return try openForReading(.reading) } catch {
      // Whoever wrote last was killed at it: its last step is taken back by the next one who may write.
      guard case .forbidden(_, EROFS) = error else { throw error }
      return try openForReading(.writing)
    }
  }

  private func openForReading(_ access: Database.Access) throws(RecordTrouble) -> Database {
    let database = try Database(path, access, patience: patience)
    try identify(database)
    let found = try version(of: database)
    if found == 0 { throw .missing(path: path) }
    if found > schema.version { throw .newer(path: path, found: found, known: schema.version) }
    if found < schema.version { throw .older(path: path, found: found, known: schema.version) }
    return database
  }

  private func openForWriting() throws(RecordTrouble) -> (Database, [RecordNotice]) {
    try RecordFile.make(path)
    let database = try Database(path, .writing, patience: patience)
    try identify(database)
    let found = try version(of: database)
    if found > schema.version { throw .newer(path: path, found: found, known: schema.version) }
    try check(database)
    // Readers go on while somebody writes; what was committed survives a power cut.
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = FULL")
    try database.run("PRAGMA foreign_keys = ON")
    try database.run("PRAGMA journal_size_limit = \(Self.walBytes)")
    try database.run("PRAGMA wal_autocheckpoint = 256")
    return (database, try migrate(database))
  }

  private func identify(_ database: Database) throws(RecordTrouble) {
    let found = try database.number("PRAGMA application_id") ?? 0
    if found == Database.applicationID { return }
    let tables = try database.number("SELECT count(*) FROM sqlite_schema") ?? 0
    guard found == 0, tables == 0 else { throw .foreign(path: path) }
  }

  private func version(of database: Database) throws(RecordTrouble) -> Int {
    try database.number("PRAGMA user_version") ?? 0
  }

  private func check(_ database: Database) throws(RecordTrouble) {
    guard isChecked, let size = RecordFile.size(path), size <= Self.checkedBytes else { return }
    let findings = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
    if findings != ["ok"] { throw .corrupt(path: path) }
  }

  private func migrate(_ database: Database) throws(RecordTrouble) -> [RecordNotice] {
    guard try version(of: database) < schema.version else { return [] }
    let before = try version(of: database)
    var copy: String?
    if before > 0 {
      copy = try copied(database, version: before)
    }
    let from = try database.transaction { () throws(RecordTrouble) in
      // Another process may have been quicker.
      let from = try version(of: database)
      if from > schema.version { throw .newer(path: path, found: from, known: schema.version) }
      for statements in schema.migrations.dropFirst(from) {
        for statement in statements { try database.run(statement) }
      }
      try database.run("PRAGMA application_id = \(Database.applicationID)")
      try database.run("PRAGMA user_version = \(schema.version)")
      return from
    }
    guard from < schema.version else { return [] }
    guard let copy else { return [.begun(path: path)] }
    return [.migrated(path: path, from: from, to: schema.version, copy: copy)]
  }

  /// - Returns: the name of the copy, which is whole: it has another one until then.
  private func copied(_ database: Database, version: Int) throws(RecordTrouble) -> String {
    let name = RecordFile.copyName(path, version: version)
    let part = "\(path).copying-\(getpid())"
    RecordFile.remove(part)
    do throws(RecordTrouble) { try database.copy(to: part) } catch {
      RecordFile.remove(part)
      throw error
    }
    guard rename(part, name) == 0 else { throw .forbidden(path: name, code: errno) }
    return name
  }
}
