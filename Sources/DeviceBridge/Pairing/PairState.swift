import Wire

/// Where a phone stands when it was asked to trust this host.
public enum PairState: String, Sendable, CaseIterable {
  /// It trusts this host, and a session has shown it.
  case trusted
  /// The question is on its screen and nobody has answered.
  case pending
  /// Somebody tapped Don't Trust.
  case denied
  /// It asks for its passcode, and puts no question until it is unlocked.
  case locked
  /// It trusts this host and has not been unlocked since it was switched on, so that it opens no session.
  case lockedBeforeFirstUnlock = "locked-before-first-unlock"

  /// Whether asking again later may end otherwise without anybody replugging the phone.
  public var mayChange: Bool {
    switch self {
    case .pending, .locked, .lockedBeforeFirstUnlock: true
    case .trusted, .denied: false
    }
  }

  /// For the operator: what is, why, and what to do.
  public func sentence(_ udid: UDID) -> String {
    switch self {
    case .trusted: "Phone \(udid) trusts this host. A session with it was opened. See it: fleetctl devices"
    case .pending:
      """
      Phone \(udid) asks on its screen whether to trust this host. \
      Nobody has answered yet: unlock the phone and tap Trust. \
      To wait for it: fleetctl pair \(udid) --wait 2m
      """
    case .denied:
      """
      Phone \(udid) was told not to trust this host. \
      Somebody tapped Don't Trust; replugging makes it ask again. \
      Replug it, then: fleetctl pair \(udid)
      """
    case .locked:
      """
      Phone \(udid) is locked, and asks nobody to trust anything until it is unlocked. \
      A person must enter its passcode: unlock, then trust. \
      To wait for it: fleetctl pair \(udid) --wait 2m
      """
    case .lockedBeforeFirstUnlock:
      """
      Phone \(udid) has a pair record here and has not been unlocked since it was switched on. \
      Until then it opens no session: unlock once after the reboot; nothing is to be paired anew. \
      Then: fleetctl devices
      """
    }
  }
}

/// What became of a trust that was to be revoked.
public enum Unpairing: Equatable, Sendable {
  /// Phone and host have both forgotten it.
  case bothEnds
  /// Only this host has forgotten: the phone was not there to be told, or knew nothing of it.
  case hereAlone(PhoneError)
  /// This host had no record, so there was nothing to revoke.
  case nothing
}
