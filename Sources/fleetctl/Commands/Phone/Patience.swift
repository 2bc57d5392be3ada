import DeviceBridge
import Transport

/// What --wait waits through.
struct Patience: Sendable {
  /// A phone that was heard that lately may be replugged or rebooting: what it said last still stands.
  private static let settle = Duration.seconds(15)

  let limit: Deadline

  init(_ wait: Duration) { limit = .after(wait) }

  /// Longest for one call: its usual limit, but not far beyond the end of the wait.
  func deadline(usual: Duration) -> Deadline { .after(min(usual, max(limit.remaining, .seconds(5)))) }

  /// Rests until the next try.
  ///
  /// - Returns: false when the wait is over.
  func goesOn() async -> Bool {
    guard !limit.hasPassed else { return false }
    return await Bench.rest()
  }

  /// What was heard within the settle time before an absence.
  static func isFresh(_ heard: ContinuousClock.Instant) -> Bool { ContinuousClock.now - heard < settle }
}

extension PhoneError {
  /// A cable, a daemon or a person can mend it while a command waits.
  var mayPass: Bool {
    switch self {
    case .absent, .lost, .silent, .noMux, .deadMux, .muxSilent, .tls, .badReply: true
    case .untrusted(_, .lockedBeforeFirstUnlock), .untrusted(_, .pending), .untrusted(_, .untrusted): true
    case .launchRefused(_, .locked, _): true
    case .untrusted, .launchRefused, .notASocket, .muxForbidden, .host, .networkOnly, .lockdown, .refused, .ended,
      .badRequest:
      false
    }
  }
}
