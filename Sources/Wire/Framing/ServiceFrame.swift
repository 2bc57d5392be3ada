/// The framing of lockdownd and of plist services: a 4-byte big-endian length, then a property list.
public enum ServiceFrame {
  public static let headerSize = 4

  /// Length and body in one piece: libimobiledevice takes what one read returns for the length field.
  public static func bytes(_ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerSize + payload.count)
    withUnsafeBytes(of: UInt32(payload.count).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes + payload
  }

  /// - Returns: how many bytes of property list follow the header.
  public static func payloadSize(_ header: [UInt8], limit: Int) throws(FrameError) -> Int {
    guard header.count == headerSize else { throw .short }
    let size = header.reduce(0) { $0 << 8 | Int($1) }
    guard size <= limit else { throw .tooLarge(bytes: size, limit: limit) }
    return size
  }
}
