import Transport

/// The phone's TLS identities, one for each DeviceCertificate that a host has made over the phone's key.
final class TLSContexts: Sendable {
  private struct Key: Hashable {
    let certificate: [UInt8]
    let tickets: Bool
    let newest: TLSContext.Version
  }

  /// More hosts than any lab has; beyond it they are simply made anew.
  private static let limit = 64
  private let devicePrivateKey: [UInt8]
  private let made = Guarded([Key: TLSContext]())

  init(keys: FleetKeys) { devicePrivateKey = keys.devicePrivateKey }

  /// - Throws: when the certificate is unreadable or is not over the phone's own key.
  func server(
    _ deviceCertificate: [UInt8], sessionTickets: Bool = true, newest: TLSContext.Version = .tls13
  ) throws(StreamError) -> TLSContext {
    let key = Key(certificate: deviceCertificate, tickets: sessionTickets, newest: newest)
    if let context = made.with({ $0[key] }) { return context }
    let context = try TLSContext.server(
      certificatePEM: deviceCertificate, keyPEM: devicePrivateKey, newest: newest, sessionTickets: sessionTickets)
    made.with {
      if $0.count >= Self.limit { $0.removeAll() }
      $0[key] = context
    }
    return context
  }
}
