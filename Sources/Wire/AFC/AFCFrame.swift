/// One message of AFC, the phone's file service: a 40-byte little-endian header, the operation's own data, then payload.
///
/// - Source: protocol of com.apple.afc as libimobiledevice 1.3.0 speaks it.
public struct AFCFrame: Equatable, Sendable {
  public static let headerSize = 40
  private static let magic = Array("CFA6LPAA".utf8)

  public var operation: UInt64
  /// Echoed in the reply.
  public var number: UInt64
  public var data: [UInt8]
  public var payload: [UInt8]

  public init(_ operation: AFCOperation, number: UInt64, data: [UInt8] = [], payload: [UInt8] = []) {
    self.operation = operation.rawValue
    self.number = number
    self.data = data
    self.payload = payload
  }

  /// In one piece, since the phone wants whole messages.
  public var bytes: [UInt8] {
    let this = Self.headerSize + data.count
    var bytes = Self.magic
    bytes.reserveCapacity(this + payload.count)
    for word in [UInt64(this + payload.count), UInt64(this), number, operation] { bytes += Self.bytes(of: word) }
    return bytes + data + payload
  }

  /// What a header says is to follow it.
  public struct Header: Equatable, Sendable {
    public var operation: UInt64
    public var number: UInt64
    public var dataSize: Int
    public var payloadSize: Int
  }

  /// - Throws: `AFCError.malformed` for what is no header, `.tooLarge` for more than `limit` bytes in all.
  public static func header(_ bytes: [UInt8], limit: Int) throws(AFCError) -> Header {
    guard bytes.count == headerSize, bytes.starts(with: magic), let entire = word(bytes, at: 8),
      let this = word(bytes, at: 16), let number = word(bytes, at: 24), let operation = word(bytes, at: 32),
      this >= UInt64(headerSize), entire >= this
    else { throw .malformed }
    guard entire <= UInt64(limit) else { throw .tooLarge }
    return Header(
      operation: operation, number: number, dataSize: Int(this) - headerSize, payloadSize: Int(entire - this))
  }

  /// Eight bytes, the lowest first.
  public static func bytes(of word: UInt64) -> [UInt8] { withUnsafeBytes(of: word.littleEndian) { Array($0) } }

  /// - Returns: nil where there are not eight bytes.
  public static func word(_ bytes: [UInt8], at start: Int) -> UInt64? {
    guard start >= 0, bytes.count - start >= 8 else { return nil }
    return bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A path as the phone reads it.
  ///
  /// - Returns: nil for one with a NUL inside, which would be another path.
  public static func path(_ path: String) -> [UInt8]? {
    let bytes = Array(path.utf8)
    return bytes.contains(0) ? nil : bytes + [0]
  }

  /// The texts of a reply, each ended by a NUL; what is not UTF-8 is replaced.
  public static func texts(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: true).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The texts of a reply in pairs: a key, then its value.
  public static func pairs(_ bytes: [UInt8]) -> [String: String] {
    // An empty value is a text as well, so nothing may be left out here.
    let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    var pairs: [String: String] = [:]
    for index in stride(from: 0, to: texts.count - 1, by: 2) where !texts[index].isEmpty {
      pairs[texts[index]] = texts[index + 1]
    }
    return pairs
  }
}

/// The operations by their numbers: those that are asked for, and those of replies.
public enum AFCOperation: UInt64, Sendable {
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

/// Why bytes are no message of AFC.
public enum AFCError: Error, Equatable, Sendable {
  case malformed
  case tooLarge

  public var sentence: String {
    switch self {
    case .malformed: "what came is no message of the file service"
    case .tooLarge: "a message of the file service claims more bytes than are allowed"
    }
  }
}

/// What the phone's file service says of a request, by its number.
public struct AFCStatus: Equatable, Sendable {
  public static let success = AFCStatus(0)
  public static let notFound = AFCStatus(8)
  public static let denied = AFCStatus(10)
  public static let exists = AFCStatus(16)

  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }

  /// libimobiledevice's names of them, in the phone's manner of writing its words.
  public var token: String {
    let names: [UInt64: String] = [
      0: "Success", 1: "UnknownError", 2: "HeaderInvalid", 3: "NoResources", 4: "ReadError", 5: "WriteError",
      6: "UnknownPacket", 7: "InvalidArgument", 8: "ObjectNotFound", 9: "ObjectIsDirectory", 10: "PermissionDenied",
      11: "ServiceNotConnected", 12: "OperationTimeout", 13: "TooMuchData", 14: "EndOfData", 15: "NotSupported",
      16: "ObjectExists", 17: "ObjectBusy", 18: "NoSpaceLeft", 19: "WouldBlock", 20: "IOError", 21: "Interrupted",
      22: "InProgress", 23: "InternalError",
    ]
    return names[number] ?? "Status\(number)"
  }
}
