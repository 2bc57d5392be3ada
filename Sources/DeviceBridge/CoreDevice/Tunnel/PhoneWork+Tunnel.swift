import Glibc
import Transport
import Wire

extension PhoneWork {
  /// The packet size that other hosts ask for too. Our own packets stay small.
  private static let mtu = 16_000

  /// Opens a tunnel to the phone, and reads what it offers there.
  ///
  /// - Returns: nil when the phone does not know the service that carries tunnels.
  func openTunnel() throws(PhoneError) -> PhoneTunnel? {
    guard let service = try start(CoreDeviceService.tunnel), let record = context.record else { return nil }
    let step = "opening a tunnel"
    let socket = try context.connection(port: service.port)
    let leash = context.leash
    leash.hold(socket)
    defer { leash.letGo() }
    let pump: TunnelPump
    let offer: TunnelOffer
    do throws(PhoneError) {
      let line: any ByteStream & TunnelCarrier = service.secure ? try secured(socket, record, step) : socket
      let early: [UInt8]
      (offer, early) = try negotiate(line, step)
      pump = try onLine(step) { () throws(StreamError) in
        try TunnelPump(
          over: line, address: offer.client, peer: offer.server, mtu: offer.mtu, early: early,
          name: "tunnel \(udid.tail)")
      }
    } catch {
      socket.close()
      throw error
    }
    let tunnel = PhoneTunnel(pump, rsdPort: offer.rsdPort, identity: HostIdentity.uuid(of: record.buid))
    try readServices(tunnel, by: context.deadline)
    return tunnel
  }

  /// Reads what the phone offers in its tunnel, anew.
  func readServices(_ tunnel: PhoneTunnel, by deadline: Deadline) throws(PhoneError) {
    try inTunnel(tunnel, "reading what it offers in its tunnel") { () throws(TunnelFailure) in
      try tunnel.readServices(by: deadline)
    }
  }

  private func secured(_ socket: Socket, _ record: PairRecord, _ step: String) throws(PhoneError) -> TLSStream {
    guard let (certificate, key) = record.identity else {
      throw .tls(udid, detail: "the pair record holds no certificate of this host")
    }
    return try onLine(step) { () throws(StreamError) in
      let tls = try TLSContext.client(certificatePEM: certificate, keyPEM: key, oldest: .tls12)
      return try TLSStream.connect(on: socket, tls, by: context.deadline)
    }
  }

  /// The handshake that precedes the packets.
  private func negotiate(
    _ line: any ByteStream, _ step: String
  ) throws(PhoneError) -> (TunnelOffer, early: [UInt8]) {
    let request = TunnelFrame.bytes(TunnelRequest(mtu: Self.mtu).body) ?? []
    try onLine(step) { () throws(StreamError) in try line.write(request, by: context.deadline) }
    var reader = TunnelFrameReader()
    while true {
      let bytes = try onLine(step) { () throws(StreamError) in
        try line.read(max: 1 << 16, by: context.deadline)
      }
      if bytes.isEmpty { throw context.ended(at: step) ?? .lost(udid, step: step) }
      do throws(TunnelError) {
        if let (body, early) = try reader.feed(bytes) { return (try TunnelOffer(body), early) }
      } catch {
        throw .badReply(udid, step: step, detail: PhoneText.clean(error.sentence))
      }
    }
  }

  // MARK: - Errors

  private func onLine<T>(_ step: String, _ body: () throws(StreamError) -> T) throws(PhoneError) -> T {
    do throws(StreamError) { return try body() } catch {
      throw context.ended(at: step) ?? meaning(of: error, step)
    }
  }

  /// Runs the body, whose waits in the tunnel fail at once when the call is cut.
  func inTunnel<T>(
    _ tunnel: PhoneTunnel, _ step: String, _ body: () throws(TunnelFailure) -> T
  ) throws(PhoneError) -> T {
    // A wait that has no other end yet ends with the tunnel; whoever is cut there has waited for a tunnel that is deaf.
    try context.holding({ tunnel.stop() }) { () throws(PhoneError) in
      do throws(TunnelFailure) { return try body() } catch {
        throw context.ended(at: step) ?? meaning(of: error, tunnel, step)
      }
    }
  }

  func meaning(of failure: TunnelFailure, _ tunnel: PhoneTunnel, _ step: String) -> PhoneError {
    if let fault = tunnel.fault { return .badReply(udid, step: step, detail: fault.sentence) }
    switch failure {
    case .connect(.system(ECONNREFUSED)):
      return .badReply(udid, step: step, detail: "nothing listens on the port that it names")
    case .connect(let error), .connection(.stream(let error)): return meaning(of: error, step)
    case .connection(.timedOut): return .silent(udid, step: step, limit: context.limit)
    case .connection(.goneAway), .connection(.reset): return .lost(udid, step: step)
    case .connection(.http2), .connection(.message), .connection(.flooded), .shape:
      return .badReply(udid, step: step, detail: PhoneText.clean(failure.sentence))
    }
  }

  private func meaning(of error: StreamError, _ step: String) -> PhoneError {
    switch error {
    case .timedOut: .silent(udid, step: step, limit: context.limit)
    case .closed: .lost(udid, step: step)
    case .system(let code): .host(code: code, step: step)
    case .tls(let detail): .tls(udid, detail: detail)
    }
  }
}
