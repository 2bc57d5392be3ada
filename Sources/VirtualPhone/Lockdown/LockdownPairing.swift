import Transport
import Wire

extension LockdownConnection {
  /// More hosts than any phone meets; a host in a loop must not fill the memory.
  private static let pairingLimit = 256

  func pair(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    let (hostID, record) = try Self.hostRecord(request)
    let offered = try pairing(from: record)
    var state = phone.state.with { $0 }
    // What the phone knows of its hosts is sealed until the first unlock: even a known one would be a new pairing.
    if !state.unlockedSinceBoot { throw .passwordProtected }
    if let known = state.pairings[hostID], known.rootCertificate == offered.rootCertificate,
      known.hostCertificate == offered.hostCertificate
    {
      return LockdownAnswer(body: ["EscrowBag": .data(known.escrowBag)])
    }
    if state.locked { throw .passwordProtected }
    state = phone.state.with {
      $0.answerTrustDialog()
      return $0
    }
    switch state.trust {
    case .deny: throw .userDeniedPairing
    case .pending: throw .pairingDialogResponsePending
    case .accept: break
    }
    let isStored = phone.state.with {
      guard $0.pairings.count < Self.pairingLimit || $0.pairings[hostID] != nil else { return false }
      $0.pairings[hostID] = offered
      return true
    }
    guard isStored else { throw .savePairRecordFailed }
    phone.record("paired")
    return LockdownAnswer(body: ["EscrowBag": .data(offered.escrowBag)])
  }

  func validatePair(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    let (hostID, _) = try Self.hostRecord(request)
    guard phone.state.with({ $0.pairings[hostID] != nil }) else { throw .invalidHostID }
    return LockdownAnswer(body: [:])
  }

  func unpair(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    let (hostID, _) = try Self.hostRecord(request)
    guard phone.state.with({ $0.pairings.removeValue(forKey: hostID) != nil }) else { throw .invalidHostID }
    phone.record("unpaired")
    return LockdownAnswer(body: [:])
  }

  private static func hostRecord(_ request: Plist) throws(LockdownError) -> (hostID: String, record: Plist) {
    guard let record = request["PairRecord"] else { throw .missingPairRecord }
    guard let hostID = record["HostID"]?.string, !hostID.isEmpty, hostID.utf8.count <= 128 else {
      throw .missingHostID
    }
    return (hostID, record)
  }

  /// - Throws: unless all three certificates are there and the device's is over this phone's own key.
  private func pairing(from record: Plist) throws(LockdownError) -> Pairing {
    guard let root = record["RootCertificate"]?.bytes.flatMap(PEM.certificateDER),
      let host = record["HostCertificate"]?.bytes.flatMap(PEM.certificateDER),
      let device = record["DeviceCertificate"]?.bytes
    else { throw .invalidPairRecord }
    do {
      _ = try server.contexts.server(device)
    } catch {
      throw .invalidPairRecord
    }
    return Pairing(
      rootCertificate: root, hostCertificate: host, deviceCertificate: device, escrowBag: Fresh.bytes(32))
  }
}

extension PhoneState {
  /// One Pair request has met the dialog; with a count set, somebody taps Trust after so many.
  fileprivate mutating func answerTrustDialog() {
    guard trust == .pending, let left = pendingAnswersLeft else { return }
    pendingAnswersLeft = left > 0 ? left - 1 : nil
    if left == 0 { trust = .accept }
  }
}
