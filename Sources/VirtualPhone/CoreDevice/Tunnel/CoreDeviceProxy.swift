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
      if let fault, fault.moment == .handshake { return Self.spoil(fault, [], connection) }
      let tunnel = try PhoneTunnel(
        of: phone, on: connection.stream, mtu: min(request.mtu, Self.mtuLimit), fault: fault)
      guard let reply = TunnelFrame.bytes(tunnel.offer.body) else { return }
      if let fault, fault.moment == .reply {
        return Self.spoil(fault, Array(reply.prefix(reply.count / 2)), connection)
      }
      // In one write: a host may read no more than once.
      try connection.stream.write(reply, by: .after(Self.patience))
      tunnel.serve(rest)
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
  ///
  /// - Parameter part: what of the reply is out before it does.
  private static func spoil(_ fault: TunnelFault, _ part: [UInt8], _ connection: ServiceConnection) {
    connection.phone.record("tunnel-fault", ["kind": .string(fault.kind.rawValue)])
    let stream = connection.stream
    let bytes =
      switch fault.kind {
      case .drop, .sleep, .drip, .joined, .foreign: part
      case .garbage: part + PacketOutlet.garbage
      case .oversized: TunnelFrame.magic + [0xFF, 0xFF] + part
      case .shape: TunnelFrame.bytes(["type": "serverHandshakeResponse", "serverAddress": 7]) ?? []
      }
    do throws(StreamError) { try stream.write(bytes, by: .after(patience)) } catch { return }
    switch fault.kind {
    case .drop, .garbage: return
    case .sleep, .oversized, .shape, .drip, .joined, .foreign: stream.drain()
    }
  }
}
