import Transport
import Wire

/// One phone's lockdownd: listens on device port 62078 and knows the phone's keys.
final class LockdownServer: Sendable {
  static let port: UInt16 = 62078

  let phone: VirtualPhone
  let keys: FleetKeys
  let contexts: TLSContexts
  /// What StartService can start.
  let catalogue: [any DeviceService]
  /// The ports that StartService has given out.
  let services: ServicePorts
  /// Host time that an idle connection has at least: a host cannot think faster because the phones' clocks do.
  let idleFloor: Duration

  init(
    phone: VirtualPhone, keys: FleetKeys, contexts: TLSContexts, catalogue: [any DeviceService] = DeviceServices.all,
    idleFloor: Duration = .seconds(5)
  ) {
    self.idleFloor = idleFloor
    self.catalogue = catalogue
    self.phone = phone
    self.keys = keys
    self.contexts = contexts
    services = ServicePorts(ports: phone.ports)
  }

  /// Opens the port. The port table holds the server, so it lives as long as the phone's ports.
  func start() {
    phone.ports.listen(Self.port) { [self] socket in
      LockdownConnection(server: self, socket: socket).serve()
    }
  }

  /// The phone trusts the fleet's own host, and the mux holds the record that proves it.
  func trustFleetHost() {
    let hostID = Fresh.uuid()
    let escrowBag = Fresh.bytes(32)
    guard let pairing = keys.pairing(escrowBag: escrowBag) else { return }
    phone.state.with { $0.pairings[hostID] = pairing }
    let record = keys.pairRecord(
      hostID: hostID, systemBUID: phone.bus.buid, escrowBag: escrowBag, wifiAddress: phone.identity.wifiAddress)
    // It is a record by construction and there is room for 256 of them.
    do throws(PairRecords.Refusal) {
      try phone.bus.records.save(record, as: phone.udid.description)
    } catch {
      phone.record("pair-record-refused", ["result": .integer(Int64(error.number))])
    }
  }

  /// The TLS handshake of a trusted host, on the phone's side.
  ///
  /// - Throws: also when the host presents no certificate, or one that is not of this pairing. Certificates are compared
  ///   by their bytes: their names are empty, so no chain can be built.
  func handshake(
    on socket: Socket, _ pairing: Pairing, for place: TLSPlace, sessionTickets: Bool = true
  ) throws(StreamError) -> TLSStream {
    if let fault = phone.state.with({ $0.takeTLSFault(at: place) }) {
      phone.record("tls-fault", ["kind": .string(fault.kind.rawValue), "step": .string(fault.step.rawValue)])
      return try handshake(on: socket, pairing, sessionTickets: sessionTickets, with: fault)
    }
    let context = try contexts.server(pairing.deviceCertificate, sessionTickets: sessionTickets)
    return try handshake(on: socket, pairing, context)
  }

  func handshake(
    on socket: Socket, _ pairing: Pairing, _ context: TLSContext
  ) throws(StreamError) -> TLSStream {
    let stream = try TLSStream.accept(on: socket, context, by: .after(.seconds(60)))
    let presented = stream.peerCertificate
    guard let presented, presented == pairing.rootCertificate || presented == pairing.hostCertificate else {
      phone.record("tls-refused", ["certificate": .string(presented == nil ? "none" : "unknown")])
      throw .tls("the host's certificate is not of this pairing")
    }
    return stream
  }
}
