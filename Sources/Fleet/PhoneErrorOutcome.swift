import DeviceBridge

/// What became of a body: identity is the pair, everything else about it is detail.
public struct OutcomeWords: Equatable, Sendable {
  public var kind: OutcomeKind
  public var reason: OutcomeReason?

  public init(_ kind: OutcomeKind, _ reason: OutcomeReason? = nil) {
    self.kind = kind
    self.reason = reason
  }

  /// `kind` or `kind/reason`.
  public var text: String { reason.map { "\(kind.rawValue)/\($0.rawValue)" } ?? kind.rawValue }

  /// Reads what `text` writes; a kind that has reasons may stand without one, and means any of them.
  ///
  /// - Returns: nil for words that are none, and for reasons of another kind.
  public init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard let kind = OutcomeKind(rawValue: parts[0]), parts.count <= 2 else { return nil }
    guard parts.count == 2 else {
      self.init(kind)
      return
    }
    guard let reason = OutcomeReason(rawValue: parts[1]), (kind.reasons + kind.hostReasons).contains(reason) else {
      return nil
    }
    self.init(kind, reason)
  }

  /// The outcome that an error of the bridge stands for.
  ///
  /// - Returns: nil for errors that say nothing about phone or host: ended from this side, or not sendable as asked.
  public init?(_ error: PhoneError) {
    switch error {
    case .noMux, .deadMux, .notASocket: self.init(.unreachable, .noUsbmuxd)
    case .muxSilent: self.init(.unreachable, .muxNotAnswering)
    case .muxForbidden: self.init(.hostFault, .permission)
    // Out of descriptors, threads or memory: they run out together, and the row names the first.
    case .host: self.init(.hostFault, .descriptors)
    case .absent, .networkOnly: self.init(.unreachable, .detached)
    case .untrusted(_, let trust): self.init(trust)
    case .silent, .lost, .badReply, .lockdown: self.init(.unreachable, .lockdownNotAnswering)
    case .tls: self.init(.hostFault, .tls)
    case .refused: self.init(.launchedNoAnswer, .refused)
    case .launchRefused(_, let refusal, _): self.init(refusal)
    case .ended, .badRequest: return nil
    }
  }

  private init(_ trust: Trust) {
    switch trust {
    case .pending: self.init(.untrusted, .pending)
    case .denied: self.init(.untrusted, .denied)
    case .stale: self.init(.untrusted, .stale)
    case .untrusted: self.init(.untrusted, .noRecord)
    case .lockedBeforeFirstUnlock: self.init(.locked, .beforeFirstUnlock)
    case .trusted, .unknown: self.init(.unreachable, .lockdownNotAnswering)
    }
  }

  private init(_ refusal: LaunchRefusal) {
    switch refusal {
    case .locked: self.init(.locked, .passcode)
    case .notInstalled: self.init(.launchRefused, .notInstalled)
    case .noDeveloperImage: self.init(.launchRefused, .noDeveloperImage)
    case .developerModeOff: self.init(.launchRefused, .developerModeOff)
    case .notDebuggable: self.init(.launchRefused, .notDebuggable)
    case .appUntrusted: self.init(.launchRefused, .appUntrusted)
    case .notOnThisIOS: self.init(.launchRefused, .notOnThisIOS)
    case .appExited: self.init(.launchedNoAnswer, .appExited)
    case .failed: self.init(.launchRefused, .failed)
    }
  }
}
