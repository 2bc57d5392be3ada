/// AFC's framing: a 40-byte little-endian header, the operation's own data, then payload.
///
/// - Source: com.apple.afc as libimobiledevice 1.3.0 speaks it.
enum AFCPacket {
  static let headerSize = 40
  static let magic = Array("CFA6LPAA".utf8)
  /// Paths and numbers; no operation has more.
  static let dataLimit = 64 << 10

  struct Header: Equatable, Sendable {
    /// Echoed in the reply.
    let number: UInt64
    let operation: UInt64
    /// Bytes of the operation's own data.
    let dataSize: Int
    /// Bytes behind them.
    let payloadSize: Int
  }

  /// - Throws: `headerInvalid` for what is no header, `tooMuchData` for data of impossible length.
  static func header(_ bytes: [UInt8]) throws(AFCStatus) -> Header {
    guard bytes.count == headerSize, bytes.starts(with: magic) else { throw .headerInvalid }
    let (entire, this) = (word(bytes, at: 8), word(bytes, at: 16))
    guard this >= headerSize, entire >= this else { throw .headerInvalid }
    guard this - UInt64(headerSize) <= dataLimit, let payload = Int(exactly: entire - this) else { throw .tooMuchData }
    return Header(
      number: word(bytes, at: 24), operation: word(bytes, at: 32), dataSize: Int(this) - headerSize,
      payloadSize: payload)
  }

  /// - Parameters:
  ///   - data: the operation's own data.
  ///   - payload: what stands behind it.
  static func bytes(
    _ operation: AFCOperation, number: UInt64, data: [UInt8] = [], payload: [UInt8] = []
  ) -> [UInt8] {
    let this = headerSize + data.count
    var bytes = magic
    bytes.reserveCapacity(this + payload.count)
    for value in [UInt64(this + payload.count), UInt64(this), number, operation.rawValue] { bytes += word(value) }
    return bytes + data + payload
  }

  static func word(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

  /// - Parameter at: the first of eight bytes that must be there.
  static func word(_ bytes: [UInt8], at start: Int) -> UInt64 {
    bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The operations by their numbers: those that are asked for, and those of replies.
enum AFCOperation: UInt64, Sendable {
  case status = 0x01
  case data = 0x02
  case readFolder = 0x03
  case readFile = 0x04
  case writeFile = 0x05
  case writePart = 0x06
  case truncate = 0x07
  case removePath = 0x08
  case makeFolder = 0x09
  case fileInfo = 0x0A
  case deviceInfo = 0x0B
  case writeFileAtomically = 0x0C
  case open = 0x0D
  case opened = 0x0E
  case read = 0x0F
  case write = 0x10
  case seek = 0x11
  case tell = 0x12
  case position = 0x13
  case close = 0x14
  case setSize = 0x15
  case connectionInfo = 0x16
  case connectionOptions = 0x17
  case rename = 0x18
  case fileSystemBlockSize = 0x19
  case socketBlockSize = 0x1A
  case lock = 0x1B
  case makeLink = 0x1C
  case fileHash = 0x1D
  case setModified = 0x1E
  case fileHashInRange = 0x1F
  case immutableHint = 0x20
  case contentsSize = 0x21
  case removeWithContents = 0x22
  case openFolder = 0x23
  case readOpenFolder = 0x24
  case closeFolder = 0x25
  case rewindFolder = 0x26
  case readAt = 0x27
  case writeAt = 0x28
}

/// The operation's own data, taken apart from the front.
struct AFCFields {
  private var rest: ArraySlice<UInt8>

  init(_ data: [UInt8]) { rest = data[...] }

  mutating func number() throws(AFCStatus) -> UInt64 {
    guard rest.count >= 8 else { throw .invalidArgument }
    defer { rest = rest.dropFirst(8) }
    return AFCPacket.word(Array(rest.prefix(8)), at: 0)
  }

  /// A text with NUL behind it; the last one may do without.
  mutating func text() throws(AFCStatus) -> String {
    guard !rest.isEmpty else { throw .invalidArgument }
    let bytes = rest.prefix { $0 != 0 }
    rest = rest.dropFirst(bytes.count + 1)
    guard let text = String(validating: bytes, as: UTF8.self), text.utf8.count <= FileTree.pathLimit else {
      throw .invalidArgument
    }
    return text
  }
}
