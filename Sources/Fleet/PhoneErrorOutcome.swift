import DeviceBridge

/// What became of a body: identity is the pair, everything else about it is detail.
public struct OutcomeWords: Equatable, Sendable {
  public var kind: OutcomeKind
  public var reason: OutcomeReason?

  public init(_ kind: OutcomeKind, _ reason: OutcomeReason? = nil) {
    self.kind = kind
    self.reason = reason
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
