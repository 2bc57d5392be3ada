/// The frame of the handshake that precedes a tunnel's packets, in both directions.
///
/// Eight letters, a big-endian length of two bytes, and JSON.
public enum TunnelFrame {
  public static let magic = Array("CDTunnel".utf8)
  public static let headerSize = 10
  /// A reply's body may not be longer: go-ios reads only the length's lower byte.
  public static let longestReply = 255

  /// - Returns: the frame, or nil for a body that its length cannot count.
  public static func bytes(_ body: JSON) -> [UInt8]? {
    let text = Array(body.line.utf8)
    guard let length = UInt16(exactly: text.count) else { return nil }
    return magic + [UInt8(length >> 8), UInt8(length & 0xFF)] + text
  }
}

/// Takes the one handshake frame off a stream; what follows it are packets.
public struct TunnelFrameReader: Sendable {
  private var pending: [UInt8] = []

  public init() {}

  /// - Returns: the handshake's body and the bytes that came behind it; nil until it is whole.
  public mutating func feed(
    _ bytes: some Collection<UInt8>
  ) throws(TunnelError) -> (body: JSON, rest: [UInt8])? {
    pending += bytes
    // Refused at the first wrong letter: who speaks something else may never send ten bytes.
    guard TunnelFrame.magic.starts(with: pending.prefix(TunnelFrame.magic.count)) else { throw .notAHandshake }
    guard pending.count >= TunnelFrame.headerSize else { return nil }
    let end = TunnelFrame.headerSize + Int(pending[8]) << 8 + Int(pending[9])
    guard pending.count >= end else { return nil }
    guard let body = JSON(parsing: Array(pending[TunnelFrame.headerSize..<end])) else { throw .malformed("JSON") }
    return (body, Array(pending[end...]))
  }
}

/// What a host asks for when it opens a tunnel.
public struct TunnelRequest: Equatable, Sendable {
  /// The longest packet that the host takes, in bytes.
  public var mtu: Int

  public init(mtu: Int) { self.mtu = mtu }

  public init(_ body: JSON) throws(TunnelError) {
    guard body["type"]?.string == "clientHandshakeRequest" else { throw .malformed("type") }
    mtu = try Self.mtu(body["mtu"])
  }

  public var body: JSON { ["type": "clientHandshakeRequest", "mtu": .integer(Int64(mtu))] }

  /// IPv6 demands that every link carries packets of 1280 bytes.
  static func mtu(_ value: JSON?) throws(TunnelError) -> Int {
    guard let value = value?.int, (1280...65_535).contains(value) else { throw .malformed("mtu") }
    return value
  }
}

/// What a phone grants: both ends' addresses, and where its list of services is.
public struct TunnelOffer: Equatable, Sendable {
  public var client: IPv6Address
  public var server: IPv6Address
  /// The longest packet, in bytes.
  public var mtu: Int
  public var netmask: String
  public var rsdPort: UInt16

  public init(
    client: IPv6Address, server: IPv6Address, mtu: Int, rsdPort: UInt16, netmask: String = "ffff:ffff:ffff:ffff::"
  ) {
    self.client = client
    self.server = server
    self.mtu = mtu
    self.netmask = netmask
    self.rsdPort = rsdPort
  }

  /// - Throws: `TunnelError.malformed` with the key that is missing or makes no sense.
  public init(_ body: JSON) throws(TunnelError) {
    guard body["type"]?.string == "serverHandshakeResponse" else { throw .malformed("type") }
    let parameters = body["clientParameters"]
    client = try Self.address(parameters?["address"], "clientParameters.address")
    server = try Self.address(body["serverAddress"], "serverAddress")
    guard client != server else { throw .malformed("serverAddress") }
    // A phone that names none means the usual one.
    mtu = try parameters?["mtu"] == nil ? 1500 : TunnelRequest.mtu(parameters?["mtu"])
    netmask = parameters?["netmask"]?.string ?? ""
    guard let port = body["serverRSDPort"]?.int.flatMap(UInt16.init(exactly:)), port > 0 else {
      throw .malformed("serverRSDPort")
    }
    rsdPort = port
  }

  public var body: JSON {
    [
      "type": "serverHandshakeResponse", "serverAddress": .string(server.description),
      "serverRSDPort": .integer(Int64(rsdPort)),
      "clientParameters": [
        "address": .string(client.description), "mtu": .integer(Int64(mtu)), "netmask": .string(netmask),
      ],
    ]
  }

  private static func address(_ value: JSON?, _ key: String) throws(TunnelError) -> IPv6Address {
    guard let address = value?.string.flatMap(IPv6Address.init(_:)) else { throw .malformed(key) }
    return address
  }
}
