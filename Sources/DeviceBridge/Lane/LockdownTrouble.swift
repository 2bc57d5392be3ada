import CIMobileDevice
import Transport
import Wire

extension LockdownCode {
  /// How long the library itself waits for one reply.
  private static let replyTime = Duration.seconds(30)

  /// What the number means when a session was to be opened.
  func meaningAtOpening(_ context: LaneContext) -> PhoneError {
    let step = "opening a session"
    if context.ended == nil, context.token == "PasswordProtected" {
      // The phone's store of pairings is closed until its first unlock.
      return .untrusted(context.udid, .lockedBeforeFirstUnlock)
    }
    if context.ended == nil, context.token == nil, raw == LOCKDOWN_E_SSL_ERROR {
      return .tls(context.udid, detail: "the handshake broke")
    }
    return meaning(step, context)
  }

  /// What the number means, with the phone's own word and the connection's fate beside it.
  func meaning(_ step: String, _ context: LaneContext) -> PhoneError {
    if let ended = context.ended(at: step) { return ended }
    let udid = context.udid
    switch context.token {
    case "InvalidHostID": return .untrusted(udid, .stale)
    case "PairingDialogResponsePending": return .untrusted(udid, .pending)
    case "UserDeniedPairing": return .untrusted(udid, .denied)
    case let token?: return .lockdown(udid, step: step, token: PhoneText.clean(token), code: raw.rawValue)
    case nil: break
    }
    if let failure = context.connectFailure { return failure }
    return switch raw {
    case LOCKDOWN_E_RECEIVE_TIMEOUT: .silent(udid, step: step, limit: min(context.limit, Self.replyTime))
    case LOCKDOWN_E_PLIST_ERROR: .badReply(udid, step: step, detail: "not a property list")
    case LOCKDOWN_E_DICT_ERROR: .badReply(udid, step: step, detail: "a property list of another kind")
    default: .lost(udid, step: step)
    }
  }
}

extension PhoneError {
  /// Whether a new connection could fare better: nothing was said against what was asked.
  var isOfConnection: Bool {
    switch self {
    case .lost, .tls, .badReply, .silent, .refused, .absent: true
    case .noMux, .deadMux, .notASocket, .muxForbidden, .muxSilent, .host, .networkOnly, .untrusted, .lockdown,
      .launchRefused, .ended, .badRequest:
      false
    }
  }
}
