/// Takes the bytes of one HTTP/2 stream apart into messages, however the frames cut them.
public struct XPCMessageReader: Sendable {
  /// A screenshot of the largest screen stays under this.
  public static let defaultLimit = 64 << 20

  private let limit: Int
  private var pending: [UInt8] = []
  /// How many bytes the message at hand has in all; nil until its header is whole.
  private var wanted: Int?

  /// - Parameter limit: bytes that one message may have behind its header.
  public init(limit: Int = Self.defaultLimit) { self.limit = limit }

  /// Whether bytes of a message that is not whole have come.
  public var isInsideMessage: Bool { !pending.isEmpty }

  /// - Returns: the messages that these bytes end.
  /// - Throws: `XPCError` for what is no message; nothing sensible can follow it, so the stream is of no more use.
  public mutating func feed(_ bytes: some Collection<UInt8>) throws(XPCError) -> [XPCMessage] {
    var messages: [XPCMessage] = []
    var rest = ArraySlice(bytes)
    while true {
      let missing = (wanted ?? XPCMessage.headerSize) - pending.count
      pending += rest.prefix(missing)
      guard rest.count >= missing else { return messages }
      rest = rest.dropFirst(missing)
      let size = if let wanted { wanted } else { try Self.size(of: pending, limit: limit) }
      guard pending.count == size else {
        wanted = size
        continue
      }
      messages.append(try Self.message(pending))
      wanted = nil
      pending = []
    }
  }

  /// The whole size of the message that begins with this header.
  private static func size(of header: [UInt8], limit: Int) throws(XPCError) -> Int {
    var reader = ByteReader(header[...])
    guard let magic = reader.little(UInt32.self), reader.little(UInt32.self) != nil,
      let size = reader.little(UInt64.self)
    else { throw .cutShort }
    guard magic == XPCMessage.magic else { throw .wrongMagic(magic) }
    guard size <= UInt64(limit) else { throw .tooLarge(bytes: size, limit: limit) }
    return XPCMessage.headerSize + Int(size)
  }

  private static func message(_ bytes: [UInt8]) throws(XPCError) -> XPCMessage {
    var reader = ByteReader(bytes[...])
    guard reader.take(4) != nil, let flags = reader.little(UInt32.self), reader.take(8) != nil,
      let id = reader.little(UInt64.self)
    else { throw .cutShort }
    var message = XPCMessage(XPCMessage.Flags(rawValue: flags), id: id)
    guard reader.remaining > 0 else { return message }
    guard let magic = reader.little(UInt32.self), let version = reader.little(UInt32.self) else { throw .cutShort }
    guard magic == XPCMessage.payloadMagic else { throw .wrongMagic(magic) }
    guard version == XPCMessage.payloadVersion else { throw .unknownVersion(version) }
    message.body = try XPCValue(decoding: bytes[reader.index...])
    return message
  }
}
