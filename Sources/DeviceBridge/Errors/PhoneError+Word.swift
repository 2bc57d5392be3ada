extension PhoneError {
  /// One short word for it, as outcomes and `why` use them.
  public var word: String {
    switch self {
    case .noMux, .deadMux, .notASocket: "no-usbmuxd"
    case .muxForbidden: "permission"
    case .muxSilent: "mux-not-answering"
    case .host: "host-fault"
    case .absent: "detached"
    case .networkOnly: "network-only"
    case .untrusted(_, let trust): trust.rawValue
    case .silent: "not-answering"
    case .lost: "connection-lost"
    case .tls: "tls"
    case .badReply: "bad-reply"
    case .lockdown(_, _, let token, _): token
    case .refused: "refused"
    case .launchRefused(_, let refusal, _): refusal.rawValue
    case .ended: "ended"
    case .badRequest: "bad-request"
    }
  }
}
