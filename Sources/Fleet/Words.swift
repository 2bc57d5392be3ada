/// The verdict on one scenario on one body.
public enum Verdict: String, Sendable, CaseIterable {
  case passed
  /// An expectation was false.
  case failed
  /// A need was not met; never a pass.
  case skipped
  /// The harness or the cable broke: not the app's fault, and never a pass.
  case error
  /// Passed after a failed attempt.
  case flaky
  /// Ran under a known fault, and is reported apart.
  case quarantined

  public var symbol: String {
    switch self {
    case .passed: "✓"
    case .failed: "✗"
    case .skipped: "–"
    case .error: "!"
    case .flaky: "~"
    case .quarantined: "q"
    }
  }
}

/// What became of a body, or of the host; its identity together with a reason.
public enum OutcomeKind: String, Sendable, CaseIterable {
  case up, revived, silent, locked, held, paused, untrusted, unreachable
  case launchedNoAnswer = "launched-no-answer"
  case launchRefused = "launch-refused"
  case leftAlone = "left-alone"
  case hostFault = "host-fault"

  public var symbol: String {
    switch self {
    case .up, .revived: "✓"
    case .silent, .launchedNoAnswer, .launchRefused: "✗"
    case .locked, .leftAlone, .held, .paused: "–"
    case .untrusted, .unreachable, .hostFault: "!"
    }
  }

  /// The reasons that a body's outcome of this kind can have; a kind without one stands alone.
  public var reasons: [OutcomeReason] {
    switch self {
    case .up: []
    case .revived: [.crashLooping]
    case .silent: [.refused, .noAnswer, .badReply]
    case .launchedNoAnswer: [.refused, .noAnswer, .badReply, .appExited]
    case .locked: [.passcode, .beforeFirstUnlock]
    case .launchRefused:
      [.notInstalled, .noDeveloperImage, .developerModeOff, .notDebuggable, .appUntrusted, .notOnThisIOS, .failed]
    case .leftAlone: [.hands, .lockUnknown]
    case .held: [.run, .person]
    case .paused: []
    case .untrusted: [.pending, .denied, .stale, .noRecord]
    case .unreachable: [.detached, .lockdownNotAnswering]
    case .hostFault: [.tls]
    }
  }

  /// The reasons of rows that stand for the host and for no body.
  public var hostReasons: [OutcomeReason] {
    switch self {
    case .unreachable: [.noUsbmuxd, .muxNotAnswering, .hub]
    case .hostFault: [.permission, .disk, .descriptors]
    case .up, .revived, .silent, .locked, .held, .paused, .untrusted, .launchedNoAnswer, .launchRefused, .leftAlone: []
    }
  }
}

/// Why an outcome is what it is.
public enum OutcomeReason: String, Sendable, CaseIterable {
  case crashLooping = "crash-looping"
  case refused
  case noAnswer = "no-answer"
  case badReply = "bad-reply"
  case appExited = "app-exited"
  case passcode
  case beforeFirstUnlock = "before-first-unlock"
  case notInstalled = "not-installed"
  case noDeveloperImage = "no-developer-image"
  case developerModeOff = "developer-mode-off"
  case notDebuggable = "not-debuggable"
  case appUntrusted = "app-untrusted"
  case notOnThisIOS = "not-on-this-ios"
  case failed, hands
  case lockUnknown = "lock-unknown"
  case run, person, pending, denied, stale
  case noRecord = "no-record"
  case detached
  case lockdownNotAnswering = "lockdown-not-answering"
  case tls
  case noUsbmuxd = "no-usbmuxd"
  case muxNotAnswering = "mux-not-answering"
  case hub, permission, disk, descriptors
}
