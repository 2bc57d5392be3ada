import Transport
import Wire

extension LockdownConnection {
  func startService(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    guard let name = request["Service"]?.string else { throw .missingService }
    // Through a tunnel the phone's list has the ports.
    guard socket != nil else { throw .serviceProhibited }
    guard let service = server.catalogue.first(where: { $0.names.contains(name) }) else {
      throw session == nil ? .sessionInactive : .invalidService
    }
    try allow(service.needs, escrow: request["EscrowBag"] != nil)
    let form = phone.state.with { $0.debugServerForm }
    guard form.knows(name) else { throw .invalidService }
    let fault = phone.state.with { $0.takeServiceFault(name) }
    if let fault, fault.kind == .refuse { throw fault.error }
    let isClear = session == nil || fault?.kind == .clear || form.isClear(name)
    let start = ServiceStart(
      server: server, service: service, name: name, pairing: isClear ? nil : session?.pairing, fault: fault?.kind)
    guard let port = server.services.open(for: name, { start.serve($0) }) else { throw .serviceLimit }
    if fault?.kind == .noPort { phone.ports.close(port) }
    phone.record("service-started", ["service": .string(name), "port": .integer(Int64(port))])
    var body: [String: Plist] = ["Port": .integer(Int64(port))]
    // Absent means clear text: without a session there is no certificate to agree on.
    if !isClear { body["EnableServiceSSL"] = true }
    return LockdownAnswer(body: body)
  }

  private func allow(_ needs: ServiceNeeds, escrow: Bool) throws(LockdownError) {
    if needs.session, session == nil { throw .sessionInactive }
    let state = phone.state.with { $0 }
    if needs.session, !state.unlockedSinceBoot { throw escrow ? .missingValue : .passwordProtected }
    if let since = needs.since, !phone.preset.isAtLeast(since.major, since.minor) { throw .invalidService }
    if let gone = needs.goneSince, phone.preset.major >= gone { throw .invalidService }
    if needs.developerImage, !state.developerImageMounted { throw .invalidService }
  }
}

/// One start of a service: what serves the connection that follows.
private struct ServiceStart: Sendable {
  let server: LockdownServer
  let service: any DeviceService
  let name: String
  /// nil: in clear text.
  let pairing: Pairing?
  let fault: ServiceFault.Kind?

  func serve(_ socket: Socket) {
    if fault == .tlsHang {
      socket.drain()
      return
    }
    guard let stream = stream(on: socket) else { return }
    let phone = server.phone
    phone.record("service-connected", ["service": .string(name)])
    switch fault {
    case .hang: socket.drain()
    case .close: break
    case .garbage, .half, .drip:
      let spoilt = SpoiltStream(stream, on: socket, fault ?? .drip, clock: phone.clock)
      service.serve(ServiceConnection(phone: phone, service: name, stream: spoilt))
    case .tlsHang, .clear, .refuse, .noPort, nil:
      service.serve(ServiceConnection(phone: phone, service: name, stream: stream))
    }
    if let tls = stream as? TLSStream { tls.endSending() }
  }

  /// The service's bytes: through TLS where a session asked for the service.
  ///
  /// - Returns: nil when the handshake failed or the host is not the one that is trusted.
  private func stream(on socket: Socket) -> (any ByteStream)? {
    guard let pairing else { return socket }
    let isClearAfterwards = service.needs.clearAfterHandshake
    do throws(StreamError) {
      let stream = try server.handshake(
        on: socket, pairing, for: .service(name), sessionTickets: !isClearAfterwards)
      return isClearAfterwards ? socket : stream
    } catch {
      server.phone.record("tls-failed", ["reason": .string(error.sentence)])
      return nil
    }
  }
}
