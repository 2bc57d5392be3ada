import DeviceBridge
import Wire

/// How things stand with a body between rows: what page, `status` and `why` say beside its outcome.
public struct Present: Equatable, Sendable {
  /// Observed silence; nil while the door answers.
  public var silent: Duration?
  public var awaited: Awaited
  /// How soon a launch may be sent at the earliest; nil where something else must happen first.
  public var launchIn: Duration?

  /// What has to happen next.
  public enum Awaited: Equatable, Sendable {
    /// The door answers.
    case nothing
    case daemon, hub, phone
    case holder(Holder)
    /// A session: trust, the first unlock after a boot, or lockdown.
    case session
    case grace, spacing, pauseEnd
    case unlock, lockReading, hands
    /// The fact that the last launch was refused for.
    case change(OutcomeReason)
    /// Single App Mode or MDM brings the app back.
    case others
    /// A look that is under way.
    case look
  }
}

extension Present.Awaited {
  /// A clause for people.
  public var text: String {
    switch self {
    case .nothing: "nothing"
    case .daemon: "the usbmux daemon"
    case .hub: "its USB hub"
    case .phone: "the phone on the bus"
    case .holder(let holder): "the end of the hold by \(holder.text)"
    case .session: "a session with the phone"
    case .grace: "the end of the grace"
    case .spacing: "the end of the spacing since the last launch"
    case .pauseEnd: "the end of the pause"
    case .unlock: "somebody to unlock it"
    case .lockReading: "its lock to be readable"
    case .hands: "the hands' driver to end"
    case .change(let reason): "a change of what the launch was refused for (\(reason.rawValue))"
    case .others: "Single App Mode or MDM to bring the app back"
    case .look: "the next look"
    }
  }
}

extension BodyWatch {
  public func present(at now: WatchTime) -> Present {
    var present = Present(silent: silence.from.map { max(now.awake - $0, .milliseconds(1)) }, awaited: awaited(now))
    guard rules.launches, silence.from != nil else { return present }
    let grace = silence.graceFrom.map { max($0 + rules.grace - now.awake, .zero) } ?? rules.grace
    let pause = self.pause?.left(at: now) ?? .zero
    switch present.awaited {
    case .grace, .spacing, .pauseEnd, .look: present.launchIn = max(grace, spacingLeft(now), pause)
    case .nothing, .daemon, .hub, .phone, .holder, .session, .unlock, .lockReading, .hands, .change, .others: break
    }
    return present
  }

  private func awaited(_ now: WatchTime) -> Present.Awaited {
    if isMuxLost { return .daemon }
    if isHubLost { return .hub }
    if let heldBy { return .holder(heldBy) }
    guard presence.canBeAsked else { return .phone }
    switch lastEnd {
    case .answered: return .nothing
    case .held, .absent, .other: return .look
    case .noSession: return .session
    case .inGrace: return .grace
    case .paused: return .pauseEnd
    case .handsUnknown: return .hands
    case .barred: return handsWereThere ? .hands : lastLock == .locked ? .unlock : .lockReading
    case .withheld:
      guard rules.launches else { return .others }
      return memory.refusal.map { .change($0.reason) } ?? .spacing
    }
  }
}
