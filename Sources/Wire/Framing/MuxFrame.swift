/// One usbmux message: a 16-byte little-endian header and a payload.
///
/// - Source: protocol of usbmuxd 1.1.1, header fields length, version, message, tag.
public struct MuxFrame: Equatable, Sendable {
  public static let headerSize = 16
  /// Message type of every plist request and reply.
  public static let plistMessage: UInt32 = 8
  public static let plistVersion: UInt32 = 1

  public var version: UInt32
  public var message: UInt32
  public var tag: UInt32
  public var payload: [UInt8]

  public init(
    version: UInt32 = Self.plistVersion, message: UInt32 = Self.plistMessage, tag: UInt32, payload: [UInt8]
  ) {
    self.version = version
    self.message = message
    self.tag = tag
    self.payload = payload
  }

  /// A plist message; the payload is XML, since libusbmuxd reads nothing else.
  public init(_ plist: Plist, tag: UInt32) { self.init(tag: tag, payload: plist.xml) }

  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerSize + payload.count)
    for field in [UInt32(Self.headerSize + payload.count), version, message, tag] {
      withUnsafeBytes(of: field.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes + payload
  }

  /// The header's fields, and how many payload bytes follow it.
  ///
  /// - Throws: `FrameError` when the length is below the header's own or above `limit` bytes.
  public static func header(
    _ bytes: [UInt8], limit: Int
  ) throws(FrameError) -> (frame: MuxFrame, payloadSize: Int) {
    guard bytes.count == headerSize else { throw .short }
    func field(_ index: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[index * 4 + $1]) << UInt32($1 * 8) }
    }
    let length = Int(field(0))
    guard length >= headerSize else { throw .short }
    guard length <= limit else { throw .tooLarge(bytes: length, limit: limit) }
    return (MuxFrame(version: field(1), message: field(2), tag: field(3), payload: []), length - headerSize)
  }
}

/// Why a message's frame is refused.
public enum FrameError: Error, Equatable, Sendable {
  case short
  case tooLarge(bytes: Int, limit: Int)

  public var sentence: String {
    switch self {
    case .short: "a message is shorter than its header"
    case .tooLarge(let bytes, let limit): "a message claims \(bytes) bytes; \(limit) are allowed"
    }
  }
}
