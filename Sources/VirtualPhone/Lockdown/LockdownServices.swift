import Transport
import Wire

extension LockdownConnection {
  func startService(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    guard let name = request["Service"]?.string else { throw .missingService }
    guard let service = server.catalogue.first(where: { $0.names.contains(name) }) else {
      throw session == nil ? .sessionInactive : .invalidService
    }
    try allow(service.needs, escrow: request["EscrowBag"] != nil)
    let isEncrypted = session != nil
    let pairing = session?.pairing
    let (server, phone) = (server, phone)
    let port = server.services.open(for: name) { socket in
      guard
        let stream = server.stream(
          on: socket, of: name, for: pairing, clearAfterHandshake: service.needs.clearAfterHandshake)
      else { return }
      phone.record("service-connected", ["service": .string(name)])
      service.serve(ServiceConnection(phone: phone, service: name, stream: stream))
      if let tls = stream as? TLSStream { tls.endSending() }
    }
    guard let port else { throw .serviceLimit }
    phone.record("service-started", ["service": .string(name), "port": .integer(Int64(port))])
    var body: [String: Plist] = ["Port": .integer(Int64(port))]
    // Absent means clear text: without a session there is no certificate to agree on.
    if isEncrypted { body["EnableServiceSSL"] = true }
    return LockdownAnswer(body: body)
  }

  private func allow(_ needs: ServiceNeeds, escrow: Bool) throws(LockdownError) {
    if needs.session, session == nil { throw .sessionInactive }
    let state = phone.state.with { $0 }
    if needs.session, !state.unlockedSinceBoot { throw escrow ? .missingValue : .passwordProtected }
    if let gone = needs.goneSince, phone.preset.major >= gone { throw .invalidService }
    if needs.developerImage, !state.developerImageMounted { throw .invalidService }
  }
}

extension LockdownServer {
  /// The service's bytes: through TLS where a session asked for the service.
  ///
  /// - Returns: nil when the handshake failed or the host is not the one that is trusted.
  fileprivate func stream(
    on socket: Socket, of name: String, for pairing: Pairing?, clearAfterHandshake: Bool
  ) -> (any ByteStream)? {
    guard let pairing else { return socket }
    do throws(StreamError) {
      let stream = try handshake(on: socket, pairing, for: .service(name), sessionTickets: !clearAfterHandshake)
      return clearAfterHandshake ? socket : stream
    } catch {
      phone.record("tls-failed", ["reason": .string(error.sentence)])
      return nil
    }
  }
}
