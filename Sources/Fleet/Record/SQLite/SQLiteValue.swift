import CSQLite

/// A value as SQLite keeps it.
enum SQLiteValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  static func integer(_ value: Int) -> SQLiteValue { .integer(Int64(value)) }
  static func integer(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }
  /// The text, or null where there is none.
  static func optional(_ text: String?) -> SQLiteValue { text.map(SQLiteValue.text) ?? .null }
  static func optional(_ number: Double?) -> SQLiteValue { number.map(SQLiteValue.real) ?? .null }

  /// SQLite copies the text; it is gone when this returns.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .real(let value): return sqlite3_bind_double(statement, index, value)
    case .text(let text):
      var text = text
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          sqlite3_bind_text64(
            statement, index, characters.baseAddress, UInt64(characters.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    }
  }
}

/// The current row of a query; good until the next one is asked for.
struct SQLiteRow {
  fileprivate let statement: OpaquePointer

  init(statement: OpaquePointer) { self.statement = statement }

  func int(_ column: Int32) -> Int? {
    isNull(column) ? nil : Int(sqlite3_column_int64(statement, column))
  }

  func real(_ column: Int32) -> Double? {
    isNull(column) ? nil : sqlite3_column_double(statement, column)
  }

  /// What is not UTF-8 is replaced: somebody else may have written to the file.
  func text(_ column: Int32) -> String? {
    guard !isNull(column), let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}
