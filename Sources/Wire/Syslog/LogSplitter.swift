/// Takes the stream of syslog_relay apart into lines.
///
/// Records end with LF and NUL. A record of several lines gives one for each, all of the same program.
public struct LogSplitter: Sendable {
  /// Bytes of one line that are kept.
  public static let limit = 64 << 10

  private var line: [UInt8] = []
  private var isCut = false
  private var origin: (process: String, pid: Int)?

  public init() {}

  /// - Returns: the lines that these bytes end.
  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [LogRecord] {
    var records: [LogRecord] = []
    for byte in bytes {
      switch byte {
      case 0x0A, 0x00:
        if let record = end() { records.append(record) }
        // The next line is another record's: whoever wrote this one says nothing about it.
        if byte == 0 { origin = nil }
      default:
        if line.count < Self.limit { line.append(byte) } else { isCut = true }
      }
    }
    return records
  }

  private mutating func end() -> LogRecord? {
    defer {
      line.removeAll(keepingCapacity: line.capacity <= 4096)
      isCut = false
    }
    if line.last == 0x0D { line.removeLast() }
    if line.isEmpty { return nil }
    origin = LogRecord.origin(line[...]) ?? origin
    return LogRecord(
      text: String(decoding: line, as: UTF8.self), process: origin?.process, pid: origin?.pid, isCut: isCut)
  }
}
