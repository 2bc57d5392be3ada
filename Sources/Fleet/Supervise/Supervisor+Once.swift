import Transport
import Wire

/// What one look at the whole fleet came to.
public struct FleetLook: Equatable, Sendable {
  /// In the configuration's order; those out of service are not among them.
  public var bodies: [BodyPresent]
  /// Those whose doors answered in the latest round, and that are well.
  public var well: Set<UDID>
  /// A trouble of the host's; nil where it is well.
  public var trouble: HostPresent?

  /// What `supervise --once` ends with.
  public var exitCode: ExitCode {
    if trouble != nil { return .harness }
    if bodies.isEmpty { return .nothingJudged }
    return bodies.allSatisfy { well.contains($0.udid) } ? .done : .no
  }
}

extension Supervisor {
  /// Waits until every body was looked at, and until what is only said after the settle time has had its time.
  ///
  /// A grace is not waited for: a door that has just fallen silent is silent, and nothing is launched.
  public func lookOnce() async -> FleetLook {
    let start = world.clock.now.awake
    while true {
      if let look = look(since: start) { return look }
      do { try await ContinuousClock().sleep(for: .milliseconds(20)) } catch { break }
    }
    return finalLook()
  }

  private func look(since start: Duration) -> FleetLook? {
    let passed = world.clock.now.awake - start
    let isOver: Bool = state.with { state in
      if state.trouble != nil { return true }
      let settings = state.configuration.supervise
      // The list of phones, one round before the settle time, and one that ends after it.
      let last = settings.settle + settings.every * 2 + settings.answerWithin + StepLimit.session + StepLimit.lease
      if passed >= last { return true }
      guard let heard = state.muxWasHeard else { return false }
      // Without names in the configuration bodies come with the daemon's list, right after its first word.
      if state.configuration.bodies == nil, .now - heard < Self.listTime { return false }
      return state.watch.bodies.allSatisfy { body in
        guard let note = state.notes[body.udid], note.rounds > 0 else { return false }
        return note.isJudged || body.isSettled
      }
    }
    return isOver ? finalLook() : nil
  }

  private static let listTime = Duration.milliseconds(500)

  private func finalLook() -> FleetLook {
    let present = bodies().filter { $0.outOfService == nil }
    return state.with { state in
      let well = state.watch.bodies.filter { $0.lastEnd == .answered && $0.outcome.map(\.isWell) == true }
      return FleetLook(bodies: present, well: Set(well.map(\.udid)), trouble: state.trouble)
    }
  }
}

extension Supervisor.State {
  /// What the host met in this process; what an earlier one left in the record may be over.
  fileprivate var trouble: HostPresent? {
    let host = watch.host
    guard host.isMuxLost || (host.outcome.kind != .up && host.since != nil) else { return nil }
    var present = HostPresent(words: host.outcome)
    (present.since, present.detail, present.unstored) = (host.since, host.detail, watch.unstored)
    return present
  }
}

extension BodyWatch {
  /// Nothing new comes of looking again soon.
  fileprivate var isSettled: Bool {
    switch lastEnd {
    case .answered, .held, .inGrace, .barred, .handsUnknown, .paused, .withheld: true
    case .absent, .noSession, .other: false
    }
  }
}
