import Transport
import Wire

/// com.apple.internal.devicecompute.CoreDeviceProxy: a tunnel over the service's connection, from iOS 17.4 on.
struct CoreDeviceProxy: DeviceService {
  let names = [CoreDeviceService.tunnel]
  let needs = ServiceNeeds(since: (17, 4))

  /// Packets of the phone are never longer, whatever the host asks for.
  static let mtuLimit = 16_000
  private static let patience = Duration.seconds(30)

  func serve(_ connection: ServiceConnection) {
    let phone = connection.phone
    let fault = phone.rules.with { $0.remote.takeTunnelFault() }
    do {
      let (request, rest) = try Self.request(on: connection.stream)
      if let fault, fault.moment == .handshake || fault.moment == .reply {
        return try Self.spoil(fault, connection)
      }
      guard let carrier = connection.carrier else { throw StreamError.closed }
      let tunnel = try PhoneTunnel(
        of: phone, over: carrier, mtu: min(request.mtu, Self.mtuLimit), early: rest, fault: fault)
      try tunnel.serve { () throws(StreamError) in
        // In one write: a host may read no more than once.
        try connection.stream.write(TunnelFrame.bytes(tunnel.offer.body) ?? [], by: .after(Self.patience))
        if let fault, fault.moment == .after { tunnel.spoil(fault.kind) }
      }
    } catch {
      phone.record("tunnel-refused", ["because": .string(Self.sentence(of: error))])
    }
  }

  private static func request(on stream: any ByteStream) throws -> (TunnelRequest, [UInt8]) {
    var reader = TunnelFrameReader()
    let deadline = Deadline.after(patience)
    while true {
      let bytes = try stream.read(max: 4096, by: deadline)
      guard !bytes.isEmpty else { throw StreamError.closed }
      if let (body, rest) = try reader.feed(bytes) { return (try TunnelRequest(body), rest) }
    }
  }

  private static func sentence(of error: any Error) -> String {
    switch error {
    case let error as TunnelError: error.sentence
    case let error as StreamError: error.sentence
    default: "unknown"
    }
  }

  /// Plays a handshake that goes wrong; returning closes the connection.
  private static func spoil(_ fault: TunnelFault, _ connection: ServiceConnection) throws(StreamError) {
    connection.phone.record("tunnel-fault", ["kind": .string(fault.kind.rawValue)])
    let (host, own) = try PhoneTunnel.addresses()
    let reply = TunnelFrame.bytes(TunnelOffer(client: host, server: own, mtu: mtuLimit, rsdPort: 49_152).body) ?? []
    let part = fault.moment == .reply ? Array(reply.prefix(reply.count / 2)) : []
    let bytes =
      switch fault.kind {
      case .drop, .sleep, .drip, .foreign: part
      case .garbage: part + StrayPacket.garbage
      case .oversized: TunnelFrame.magic + [0xFF, 0xFF] + part
      case .shape: TunnelFrame.bytes(["type": "serverHandshakeResponse", "serverAddress": 7]) ?? []
      }
    try connection.stream.write(bytes, by: .after(patience))
    switch fault.kind {
    case .drop, .garbage: return
    case .sleep, .oversized, .shape, .drip, .foreign: connection.stream.drain()
    }
  }
}

extension ServiceConnection {
  /// What can carry packets: the socket, or TLS over it.
  fileprivate var carrier: (any TunnelCarrier & ByteStream)? {
    let stream = (stream as? SpoiltStream)?.stream ?? stream
    return stream as? any TunnelCarrier & ByteStream
  }
}
