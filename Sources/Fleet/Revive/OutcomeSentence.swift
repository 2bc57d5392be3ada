import DeviceBridge
import Wire

extension OutcomeReport {
  /// For the person who asked: what happened, the likely cause, what to type next; nil where the door answers.
  public var sentence: String? {
    if let trouble { return trouble.sentence }
    if words.kind == .launchRefused || isOfPhone, let error { return error.sentence }
    return ownSentence
  }

  /// Whether the bridge's own words say it best.
  private var isOfPhone: Bool {
    switch words.kind {
    case .unreachable, .untrusted, .hostFault: true
    case .locked: words.reason == .beforeFirstUnlock
    case .up, .revived, .silent, .launchedNoAnswer, .launchRefused, .leftAlone, .held, .paused: false
    }
  }

  private var ownSentence: String? {
    let title = body ?? udid?.description ?? "the phone"
    let why = detail ?? words.text
    switch words.kind {
    case .up, .revived: return nil
    case .silent:
      return """
        \(title)'s door does not answer: \(why). \
        The app is brought back by something other than fleetctl, or was launched only a moment ago. \
        Ask the door again: fleetctl hello \(title)
        """
    case .locked:
      return """
        \(title) is locked: \(why). \
        No launch gets past the passcode, and fleetctl never unlocks a phone. \
        Unlock it, then: fleetctl revive \(title)
        """
    case .launchedNoAnswer:
      return """
        The app was launched on \(title), and its door did not answer: \(why). \
        It may crash at its start, hang, or listen on another port. \
        Ask the door again: fleetctl hello \(title)
        """
    case .launchRefused:
      return """
        \(title) did not launch the app: \(why). \
        The phone gave no reason that is known here. \
        See how it is: fleetctl devices
        """
    case .leftAlone:
      return words.reason == .lockUnknown
        ? """
        \(title) was left alone: whether it is locked can't be told (\(why)). \
        Unknown is not unlocked, so no launch was sent. \
        See what it says: fleetctl lock-state \(title)
        """
        : """
        \(title) was left alone: \(why). \
        A launch would take the phone out of their hands. \
        When they are done: fleetctl revive \(title)
        """
    case .held:
      return """
        \(title) was left alone: \(why). \
        Whoever holds a phone works with it undisturbed. \
        When it is free again: fleetctl revive \(title)
        """
    case .paused:
      return """
        \(title) was left alone: \(why). \
        Somebody paused them for a reason. \
        To end that: fleetctl resume \(title)
        """
    case .untrusted, .unreachable, .hostFault:
      return """
        \(title) can't be reached: \(why). \
        Its cable, the usbmux daemon or this machine may be at fault. \
        See what is there: fleetctl devices
        """
    }
  }
}
