import Transport
import Wire

/// One tunnel of a phone: packets on the host's connection, and behind them the phone's services on their ports.
///
/// Its threads live as long as it does: one reads packets, one writes them, one takes connections, and each connection
/// has its own.
final class PhoneTunnel: Sendable {
  /// Connections that may be open in it at one time.
  private static let connectionLimit = 64

  let phone: VirtualPhone
  let offer: TunnelOffer
  private let interface: TunnelInterface
  private let desk: RSDDesk
  private let stream: any ByteStream
  private let queue: PacketQueue
  private let outlet: PacketOutlet
  private let fault: TunnelFault?
  private let open = Guarded(0)
  /// Why it has ended; the first reason counts.
  private let end = Guarded(String?.none)

  /// - Throws: `StreamError` when the process has no room for another tunnel.
  init(of phone: VirtualPhone, on stream: any ByteStream, mtu: Int, fault: TunnelFault?) throws(StreamError) {
    // A network of its own for every tunnel: fd and forty random bits, as unique local addresses have.
    let network = [0xFD] + Fresh.bytes(5) + [UInt8](repeating: 0, count: 9)
    guard let host = IPv6Address(network + [2]), let own = IPv6Address(network + [1]) else { throw .closed }
    let queue = PacketQueue()
    let interface = try TunnelInterface(address: own, peer: host, mtu: mtu) { queue.offer($0) }
    offer = TunnelOffer(client: host, server: own, mtu: mtu, rsdPort: try interface.listen())
    for port in phone.rules.with({ Array($0.remote.bulk.keys) }) { try interface.listen(port: port) }
    self.phone = phone
    self.stream = stream
    self.queue = queue
    self.interface = interface
    self.fault = fault
    desk = RSDDesk(phone: phone, interface: interface, port: offer.rsdPort)
    outlet = PacketOutlet(stream: stream, own: own, host: host, fault: fault)
  }

  /// Carries packets until the connection ends, then fails everything inside.
  ///
  /// - Parameter first: what came behind the handshake.
  func serve(_ first: [UInt8]) {
    phone.record(
      "tunnel-opened",
      [
        "client": .string(offer.client.description), "server": .string(offer.server.description),
        "mtu": .integer(Int64(offer.mtu)),
      ])
    phone.tunnels.with { $0.append(self) }
    if let fault, fault.moment == .after { spoil(fault.kind) }
    let writer = Worker(name: "tunnel out") { self.writePackets() }
    _ = Worker(name: "tunnel accept") { self.acceptConnections() }
    let reason = readPackets(first)
    phone.tunnels.with { $0.removeAll { $0 === self } }
    queue.end()
    interface.close()
    stream.shutdown()
    writer.join(by: .after(.seconds(1)))
    phone.record(
      "tunnel-closed",
      [
        "client": .string(offer.client.description), "because": .string(end.with { $0 } ?? reason),
        "dropped": .integer(Int64(interface.dropped)),
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
    outlet.begin(kind)
  }

  /// Puts one packet of another's making into the host's stream.
  func inject(_ packet: [UInt8]) { _ = packet.withUnsafeBytes { queue.offer($0) } }

  // MARK: - Packets

  private func writePackets() {
    while let batch = queue.next() {
      // Before the writing, which is what takes time.
      if batch.hasRefused { interface.resume() }
      guard outlet.write(batch.packets) else {
        queue.end()
        return drop("a fault")
      }
    }
  }

  /// - Returns: why it has ended.
  private func readPackets(_ first: [UInt8]) -> String {
    var splitter = IPv6PacketSplitter(limit: CoreDeviceProxy.mtuLimit)
    var bytes = first
    do {
      while true {
        if !outlet.isAsleep { try feed(bytes, to: &splitter) }
        bytes = try stream.read(max: 1 << 16, by: .never)
        if bytes.isEmpty { return "the host closed the connection" }
      }
    } catch let error as TunnelError {
      return error.sentence
    } catch {
      return "the connection was lost"
    }
  }

  private func feed(_ bytes: [UInt8], to splitter: inout IPv6PacketSplitter) throws(TunnelError) {
    // The host's chatter about its network, which is no TCP to us, is dropped by the interface.
    try interface.receive { take throws(TunnelError) in
      let outcome = bytes.withUnsafeBytes { bytes in
        Result { () throws(TunnelError) in try splitter.feed(bytes, take) }
      }
      try outcome.get()
    }
  }

  // MARK: - Connections

  private func acceptConnections() {
    while let connection = interface.accept(by: .never) {
      guard let server = desk.server(of: connection.localPort), takePlace() else {
        connection.reset()
        continue
      }
      _ = Worker(name: "tunnel service") { [self] in
        server(connection)
        connection.close()
        open.with { $0 -= 1 }
      }
    }
  }

  private func takePlace() -> Bool {
    open.with { open in
      guard open < Self.connectionLimit else { return false }
      open += 1
      return true
    }
  }
}
