import Transport
import Wire

/// One tunnel of a phone: packets on the host's connection, and behind them the phone's services on their ports.
///
/// Its threads live as long as it does: one carries packets, one takes connections, and each connection has its own.
final class PhoneTunnel: Sendable {
  /// Connections that may be open in it at one time.
  private static let connectionLimit = 64

  let phone: VirtualPhone
  let offer: TunnelOffer
  private let pump: TunnelPump
  private let carrier: SpoiltCarrier
  private let desk: RSDDesk
  private let stream: any ByteStream
  private let open = Guarded(0)
  /// Why somebody here ended it; the first reason counts.
  private let end = Guarded(String?.none)

  /// Takes over the connection; hosts send nothing before they have the offer.
  ///
  /// - Parameter early: what came behind the host's handshake.
  /// - Throws: `StreamError` when the process has no room for another tunnel.
  init(
    of phone: VirtualPhone, over carrier: any TunnelCarrier & ByteStream, mtu: Int, early: [UInt8],
    fault: TunnelFault?
  ) throws(StreamError) {
    let (host, own) = try Self.addresses()
    self.phone = phone
    stream = carrier
    self.carrier = SpoiltCarrier(carrier, carrier, own: own, host: host, fault: fault)
    pump = try TunnelPump(over: self.carrier, address: own, peer: host, mtu: mtu, early: early, name: "phone tunnel")
    offer = TunnelOffer(client: host, server: own, mtu: mtu, rsdPort: try pump.interface.listen())
    for port in phone.rules.with({ Array($0.remote.bulk.keys) }) { try pump.interface.listen(port: port) }
    desk = RSDDesk(phone: phone, interface: pump.interface, port: offer.rsdPort)
  }

  /// A network of its own for every tunnel: fd and forty random bits, as unique local addresses have.
  static func addresses() throws(StreamError) -> (host: IPv6Address, own: IPv6Address) {
    let network = [0xFD] + Fresh.bytes(5) + [UInt8](repeating: 0, count: 9)
    guard let host = IPv6Address(network + [2]), let own = IPv6Address(network + [1]) else { throw .closed }
    return (host, own)
  }

  /// Makes the offer, then serves what connects, until the connection underneath ends and everything inside with it.
  ///
  /// - Parameter makeOffer: tells the host where the tunnel's ends are. Whatever then ends tunnels ends this one too.
  func serve(_ makeOffer: () throws(StreamError) -> Void) throws(StreamError) {
    phone.tunnels.with { $0.append(self) }
    defer { phone.tunnels.with { $0.removeAll { $0 === self } } }
    try makeOffer()
    phone.record(
      "tunnel-opened",
      [
        "client": .string(offer.client.description), "server": .string(offer.server.description),
        "mtu": .integer(Int64(offer.mtu)),
      ])
    while let connection = pump.interface.accept(by: .never) { take(connection) }
    let reason = pump.waitForEnd(by: .after(.seconds(5)))?.sentence ?? ""
    phone.record(
      "tunnel-closed",
      [
        "client": .string(offer.client.description), "because": .string(end.with { $0 } ?? reason),
        "dropped": .integer(Int64(pump.interface.dropped)), "uneven_writes": .integer(Int64(carrier.unevenWrites)),
      ])
  }

  /// Ends the tunnel, as a pulled cable would.
  func drop(_ reason: String) {
    end.with { $0 = $0 ?? reason }
    stream.shutdown()
  }

  /// Does something to the packets from now on.
  ///
  /// - Parameter kind: nil: all is well again.
  func spoil(_ kind: TunnelFault.Kind?) {
    if kind == .drop { return drop("a fault") }
    carrier.begin(kind)
  }

  /// Puts one packet of another's making into the host's stream.
  func inject(_ packet: [UInt8]) { pump.inject(packet) }

  private func take(_ connection: TunnelStream) {
    let hasPlace = open.with { open in
      guard open < Self.connectionLimit else { return false }
      open += 1
      return true
    }
    guard hasPlace else { return connection.reset() }
    phone.crew.run { [self] in
      if let server = desk.server(of: connection.localPort) { server(connection) } else { connection.reset() }
      connection.close()
      open.with { $0 -= 1 }
    }
  }
}
