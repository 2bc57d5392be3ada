/// One message of RemoteXPC: a 24-byte little-endian header, and mostly an object.
///
/// A message is exact in both directions: what was read is written as the same bytes, but for the order of keys.
public struct XPCMessage: Equatable, Sendable {
  public static let headerSize = 24
  /// The magic and the version that stand before the object.
  static let payloadHeaderSize = 8
  static let magic: UInt32 = 0x29B0_0B92
  static let payloadMagic: UInt32 = 0x4213_3742
  static let payloadVersion: UInt32 = 5

  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Stands in every message.
    public static let always = Flags(rawValue: 0x0000_0001)
    public static let ping = Flags(rawValue: 0x0000_0002)
    public static let data = Flags(rawValue: 0x0000_0100)
    public static let wantsReply = Flags(rawValue: 0x0001_0000)
    public static let isReply = Flags(rawValue: 0x0002_0000)
    public static let opensFile = Flags(rawValue: 0x0010_0000)
    public static let answersFile = Flags(rawValue: 0x0020_0000)
    public static let initHandshake = Flags(rawValue: 0x0040_0000)
    /// The second message on the first stream of every connection; its meaning is not known.
    public static let opening = Flags(rawValue: 0x0000_0201)

    public static let request: Flags = [.always, .data, .wantsReply]
    public static let push: Flags = [.always, .data]
    public static let reply: Flags = [.always, .data, .isReply]
  }

  public var flags: Flags
  /// A reply carries its request's number.
  public var id: UInt64
  /// Nil in the messages that only say something by their flags.
  public var body: XPCValue?

  public init(_ flags: Flags, id: UInt64, body: XPCValue? = nil) {
    self.flags = flags
    self.id = id
    self.body = body
  }

  public var bytes: [UInt8] {
    var object: [UInt8] = []
    if let body {
      object.append(little: Self.payloadMagic)
      object.append(little: Self.payloadVersion)
      body.write(into: &object)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerSize + object.count)
    bytes.append(little: Self.magic)
    bytes.append(little: flags.rawValue)
    bytes.append(little: UInt64(object.count))
    bytes.append(little: id)
    return bytes + object
  }
}
