import FoundationEssentials
import Testing
import Transport
import Wire

@testable import VirtualPhone

/// The host's end of a tunnel.
final class TunnelHost: Sendable {
  let stream: any ByteStream
  let offer: TunnelOffer
  let pump: TunnelPump
  private let eye: PacketEye

  var interface: TunnelInterface { pump.interface }

  init(on stream: any TunnelCarrier & ByteStream, mtu: Int = 16_000, chatter: [UInt8] = []) throws {
    self.stream = stream
    try stream.write(try #require(TunnelFrame.bytes(TunnelRequest(mtu: mtu).body)) + chatter, by: .after(soon))
    var reader = TunnelFrameReader()
    var reply: (body: JSON, rest: [UInt8])?
    while reply == nil {
      let bytes = try stream.read(max: 4096, by: .after(soon))
      guard !bytes.isEmpty else { throw StreamError.closed }
      reply = try reader.feed(bytes)
    }
    let (body, rest) = try #require(reply)
    offer = try TunnelOffer(body)
    eye = PacketEye(stream, offer)
    eye.see(rest)
    pump = try TunnelPump(over: eye, address: offer.client, peer: offer.server, mtu: offer.mtu, early: rest)
  }

  deinit { close() }

  func close() { pump.close() }

  /// Whether the phone has ended it, or it is out of step.
  func ends(within limit: Duration = soon) -> Bool { pump.waitForEnd(by: .after(limit)) != nil }

  /// Packets that are not between the tunnel's two addresses.
  var strangers: [IPv6Header] { eye.strangers.with { $0 } }

  /// A tunnel to a phone without lockdown.
  static func to(_ phone: TestPhone, mtu: Int = 16_000) throws -> TunnelHost {
    try TunnelHost(on: try phone.service(CoreDeviceService.tunnel).socket, mtu: mtu)
  }

  // MARK: RSD

  /// A connection to RSD and what the phone pushed on it.
  func discover(as host: UUID? = UUID()) throws -> (connection: RemoteXPCConnection, phone: RSDHandshake) {
    let connection = try open(port: offer.rsdPort)
    if let host { try connection.send(RSDHandshake.host(host).body, by: .after(soon)) }
    let message = try #require(try connection.receive(by: .after(soon)))
    return (connection, try RSDHandshake(try #require(message.body)))
  }

  /// The names that the phone lists now.
  func services() throws -> [String: RSDService] { try discover().phone.services }

  func open(port: UInt16) throws -> RemoteXPCConnection {
    try RemoteXPCConnection.open(on: try interface.connect(port: port, by: .after(soon)), by: .after(soon))
  }

  // MARK: Services

  func connect(_ service: String) throws -> TunnelStream {
    let port = try #require(try services()[service]?.port)
    return try interface.connect(port: port, by: .after(soon))
  }

  func service(_ service: CoreDeviceService) throws -> RemoteXPCConnection {
    try RemoteXPCConnection.open(on: try connect(service.rawValue), by: .after(soon))
  }

  /// A property-list service behind its greeting.
  func shim(_ name: String) throws -> ShimClient {
    let client = try greeted("\(name).shim.remote")
    try client.checkIn()
    return client
  }

  /// A property-list service that waits for its greeting.
  func greeted(_ service: String) throws -> ShimClient { ShimClient(stream: try connect(service), tunnel: self) }

  /// One call on a connection of its own.
  func call(_ feature: CoreDeviceFeature, _ input: XPCValue = [:]) throws -> CoreDeviceReply {
    try service(feature.service).call(feature, input)
  }
}

extension RemoteXPCConnection {
  func call(
    _ feature: CoreDeviceFeature, _ input: XPCValue = [:], by deadline: Deadline = .after(soon)
  ) throws -> CoreDeviceReply {
    let reply = try request(CoreDeviceRequest(feature, input: input).body, by: deadline)
    return try CoreDeviceReply(try #require(reply.body))
  }
}

extension CoreDeviceReply {
  var output: XPCValue? { if case .output(let value) = self { value } else { nil } }
  var error: ErrorChain? { if case .error(let chain) = self { chain } else { nil } }
}

/// The host's end of a property-list service in a tunnel.
struct ShimClient {
  let stream: TunnelStream
  /// It ends with its last reference.
  let tunnel: TunnelHost

  /// - Returns: the phone's two answers.
  @discardableResult
  func checkIn() throws -> [Plist] {
    try send(RSDCheckin.request(label: "test"))
    return [try receive(), try receive()]
  }

  func send(_ plist: Plist) throws { try stream.write(ServiceFrame.bytes(plist.xml), by: .after(soon)) }

  func receive() throws -> Plist {
    let header = try stream.read(exactly: ServiceFrame.headerSize, by: .after(soon))
    return try Plist(
      parsing: try stream.read(exactly: try ServiceFrame.payloadSize(header, limit: 1 << 20), by: .after(soon)))
  }

  func ask(_ plist: Plist) throws -> Plist {
    try send(plist)
    return try receive()
  }
}

/// Looks at the packets that come, and lets them pass.
final class PacketEye: TunnelCarrier {
  let strangers = Guarded([IPv6Header]())
  private let carrier: any TunnelCarrier
  private let offer: TunnelOffer
  private let splitter = Guarded(IPv6PacketSplitter())

  init(_ carrier: any TunnelCarrier, _ offer: TunnelOffer) {
    self.carrier = carrier
    self.offer = offer
  }

  var fd: Int32 { carrier.fd }

  func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
    let count = try carrier.readNow(into: buffer)
    if let count, count > 0 { see(Array(buffer[..<count])) }
    return count
  }

  func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int { try carrier.writeNow(bytes) }

  func close() { carrier.close() }

  func see(_ bytes: [UInt8]) {
    // What is out of step is the pump's to say.
    let packets = splitter.with { (try? $0.feed(bytes)) ?? [] }
    let headers = packets.compactMap { packet in packet.withUnsafeBytes { IPv6Header($0) } }
    strangers.with { $0 += headers.filter { $0.source != offer.server || $0.destination != offer.client } }
  }
}
