import DeviceBridge
import Fleet
import Wire

/// A body that has been in one state for long is looked at from outside: what should its outcome be?
extension Witness {
  /// Called before anything changes.
  mutating func look(at phone: Phone, outcome: OutcomeWords?, _ sight: Sight) {
    let rules = phone.rules
    let long = rules.grace + rules.spacing + .seconds(180)
    let books = bodies[phone.index]
    guard phone.isBody, sight.now - phone.changed > long, sight.now - sight.hostChanged > long, sight.isHostWell,
      phone.planned == 0, phone.waiting == nil, sight.now - phone.serviceFrom > long,
      sight.awake - books.graceZero - books.graceGap > long || phone.app == .answering,
      books.stamp.map({ $0.boot != sight.boot || sight.elapsed - $0.elapsed > .seconds(60) }) ?? true
    else { return }
    if phone.pausedUntil.map({ sight.now > $0 - .seconds(30) && sight.now < $0 + .seconds(60) }) ?? false { return }
    guard books.hubLostAt == nil || phone.isThere, let expected = expected(phone, sight) else { return }
    if let outcome, expected.contains(outcome) { return }
    let words = expected.map(\.text).joined(separator: " or ")
    broken(.toldTruly, phone.index, sight, "it is \(words), and said to be \(outcome?.text ?? "nothing")")
  }

  mutating func look(
    atHost outcome: OutcomeWords, isHubOff: Bool, unstored: Int, mux: Simulation.MuxState, _ sight: Sight
  ) {
    guard sight.now - sight.hostChanged > .seconds(90) else { return }
    let expected: OutcomeWords? =
      switch mux {
      case .gone: OutcomeWords(.unreachable, .noUsbmuxd)
      case .silent: OutcomeWords(.unreachable, .muxNotAnswering)
      case .there: sight.isHostWell && unstored == 0 && !isHubOff ? OutcomeWords(.up) : nil
      }
    if let expected, outcome != expected {
      broken(.toldTruly, nil, sight, "it is \(expected.text), and said to be \(outcome.text)")
    }
  }

  /// nil where it may be this or that.
  private func expected(_ phone: Phone, _ sight: Sight) -> [OutcomeWords]? {
    guard phone.hasPower else { return nil }
    switch phone.lease {
    case .run: return [OutcomeWords(.held, .run)]
    case .person: return [OutcomeWords(.held, .person)]
    case .us, .reviver: return nil
    case .nobody: break
    }
    guard phone.isPlugged else { return [OutcomeWords(.unreachable, .detached)] }
    if phone.app == .answering {
      return [OutcomeWords(.up), OutcomeWords(.revived), OutcomeWords(.revived, .crashLooping)]
    }
    if let error = phone.session { return OutcomeWords(error).map { [$0] } }
    if phone.rules.asksHands {
      switch phone.hands {
      case .on: return [OutcomeWords(.leftAlone, .hands)]
      case .odd: return nil
      case .off: break
      }
    }
    switch phone.lockManner {
    case .unreadable: return [OutcomeWords(.leftAlone, .lockUnknown)]
    // A phone that can't be held to its word for two seconds.
    case .slow: return [OutcomeWords(.leftAlone, .lockUnknown), OutcomeWords(.locked, .passcode)]
    case .readable: break
    }
    if phone.isLocked { return [OutcomeWords(.locked, .passcode)] }
    if let until = phone.pausedUntil, sight.now < until { return [OutcomeWords(.paused)] }
    return launched(phone)
  }

  /// What becomes of launches.
  private func launched(_ phone: Phone) -> [OutcomeWords]? {
    let silence: OutcomeReason =
      switch phone.app {
      case .hung: .noAnswer
      case .halfAnswering: .badReply
      case .missing, .dead, .starting, .answering, .behindLock: .refused
      }
    guard phone.rules.launches else {
      return [.refused, .noAnswer, .badReply].map { OutcomeWords(.silent, $0) }
    }
    if phone.isOnOddIOS { return [OutcomeWords(.launchRefused, .notOnThisIOS)] }
    // The fact that was found first is the one that is read anew.
    switch (phone.app == .missing, phone.hasImage) {
    case (true, true): return [OutcomeWords(.launchRefused, .notInstalled)]
    case (false, false):
      return [OutcomeWords(.launchRefused, .noDeveloperImage), OutcomeWords(.launchRefused, .appUntrusted)]
    case (true, false):
      return [OutcomeWords(.launchRefused, .notInstalled), OutcomeWords(.launchRefused, .noDeveloperImage)]
    case (false, true): break
    }
    switch phone.manner {
    case .works, .locks: return nil
    case .neverAnswers, .hangs, .halfAnswers: return [OutcomeWords(.launchedNoAnswer, silence)]
    case .crashes: return [OutcomeWords(.launchedNoAnswer, .appExited)]
    case .fails, .unanswered: return [OutcomeWords(.launchRefused, .failed)]
    case .refusedLocked: return [OutcomeWords(.locked, .passcode)]
    case .refusedUntrusted: return [OutcomeWords(.launchRefused, .appUntrusted)]
    }
  }
}
