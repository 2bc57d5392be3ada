/// The errors of a phone whose meaning is known.
///
/// - Source: many public logs of refused launches, iOS 17 to 26; FrontBoard's domains.
public enum KnownError: String, CaseIterable, Sendable {
  /// The phone is locked, and no process was made.
  case locked
  /// The app is not trusted: its profile has expired, or its signature is bad.
  case untrusted
  case appNotFound
  case busy
  case requestDenied
  case invalidRequest
  case launchFailed
  case serviceUnavailable
  case unsupportedFeature
  case notImplemented
  case notPermitted

  public init?(domain: String, code: Int64) {
    switch (domain, code) {
    case ("FBSOpenApplicationErrorDomain", 3): self = .untrusted
    case ("FBSOpenApplicationErrorDomain", 4): self = .appNotFound
    case ("FBSOpenApplicationErrorDomain", 6): self = .busy
    case ("FBSOpenApplicationErrorDomain", 7): self = .locked
    case ("FBSOpenApplicationServiceErrorDomain", 1): self = .requestDenied
    case ("FBSOpenApplicationServiceErrorDomain", 4): self = .invalidRequest
    case ("com.apple.dt.CoreDeviceError", 1001): self = .unsupportedFeature
    case ("com.apple.dt.CoreDeviceError", 4000): self = .serviceUnavailable
    case ("com.apple.dt.CoreDeviceError", 10002): self = .launchFailed
    case ("CoreDevice.ActionError", 2): self = .notImplemented
    case ("CoreDevice.ActionError", 5): self = .notPermitted
    default: return nil
    }
  }
}

extension ErrorChain {
  /// What the deepest error says whose meaning is known: the outer ones only say that something lies under them.
  public var deepestKnown: KnownError? { known(depth: 0)?.error }

  private func known(depth: Int) -> (error: KnownError, depth: Int)? {
    // The first of several at one depth stands.
    let below = underlying.compactMap { $0.known(depth: depth + 1) }.reduce(nil as (error: KnownError, depth: Int)?) {
      best, next in if let best, best.depth >= next.depth { best } else { next }
    }
    if let below { return below }
    // A name without its number is as clear; phones leave the number out when they put the text into another error.
    return (KnownError(domain: domain, code: code) ?? (codeName == "Locked" ? .locked : nil)).map { ($0, depth) }
  }
}
