import Wire

/// Gaps in the rounds, time in which nobody could look, and stretches in which nothing can change.
extension BodyWatch {
  /// When `.tick` is to come, on the clock that stops in sleep; nil while an answer is awaited, or nothing can be done.
  public var wake: Duration? {
    guard pending == nil || !rules.book.keeps(.oneAtATime), !isMuxLost, !isHubLost else { return nil }
    return due
  }

  // MARK: - Gaps

  /// The host slept, or the round comes more than an interval late: nobody has watched in between.
  mutating func noticeGap(_ now: WatchTime) {
    let awake = now.awake - lastSeen.awake
    let hasSlept = now.elapsed - lastSeen.elapsed - awake > WatchRules.sleepTolerance
    let expected = pending?.limit ?? wake
    let isLate = expected.map { now.awake - $0 > rules.every } ?? false
    guard hasSlept || isLate else { return }
    if isLate, unseenFrom == nil, rules.book.keeps(.gapsAreNotSilence) {
      silence.skip(awake, at: now.awake(rules.book))
    }
    if isLate, rules.book.keeps(.gapsAreNotSilence) { presence.interrupted(at: now.awake) }
    silence.interrupted()
    if rules.book.keeps(.freshProbeAfterGap) { discardRun() }
  }

  /// Nobody can look from now on.
  mutating func stopSeeing(_ now: WatchTime, forAbsence isAbsence: Bool) {
    if unseenFrom == nil {
      unseenFrom = now.awake(rules.book)
      isUnseenForAbsence = isAbsence
    } else if !isAbsence {
      isUnseenForAbsence = false
    }
  }

  /// Somebody looks again; a flap is part of the silence around it.
  mutating func startSeeing(at moment: Duration, _ now: WatchTime) {
    guard let from = unseenFrom, from <= moment else { return }
    unseenFrom = nil
    guard !isUnseenForAbsence, rules.book.keeps(.gapsAreNotSilence) else { return }
    sessionTrouble?.since = now.awake
    silence.skip(moment - from, at: now.awake(rules.book))
  }

  /// - Parameter now: the door has just been found silent, and the grace runs from now on; nil: from the next probe on
  ///   that fails.
  mutating func beginGraceAnew(whileSilent now: WatchTime? = nil) {
    silence.beginGraceAnew(rules.book)
    if let now { silence.failed(asked: now.awake(rules.book)) }
    discardRun()
  }

  // MARK: - Quiet

  /// A stretch in which nothing can change if every look goes on to end as the last ones did.
  public struct Quiet: Equatable, Sendable {
    /// Till then (on the clock that stops in sleep) there is no row, no launch, and nothing to remember, and each round
    /// is like the last one.
    public var until: Duration
    /// From one round to the next.
    public var period: Duration
    /// When the last round began.
    public var began: Duration
  }

  /// nil when something is under way. Whoever knows that the world stands still may leap over whole rounds with `leap`.
  public func quiet(at now: WatchTime) -> Quiet? {
    guard stage == .idle, pending == nil, !isMuxLost, !isHubLost, due - roundBegan >= rules.every,
      let ends = quietEnds(now)
    else { return nil }
    let turn = nextTurn(now, isAnswering: lastEnd == .answered)
    let until = (ends + [turn]).compactMap { $0 }.min() ?? Self.never
    return until > now.awake ? Quiet(until: until, period: due - roundBegan, began: roundBegan) : nil
  }

  private static let never = Duration.seconds(1 << 40)

  /// nil: not quiet. The clocks are taken to run alike from now on.
  private func quietEnds(_ now: WatchTime) -> [Duration?]? {
    func awake(_ elapsed: Duration?) -> Duration? {
      elapsed.flatMap { $0 > now.elapsed ? now.awake + ($0 - now.elapsed) : nil }
    }
    let spacing = memory.stamp.map { $0.elapsed + rules.spacing }
    switch lastEnd {
    case .answered:
      guard outcome?.kind == .up || outcome?.kind == .revived else { return nil }
      let loop =
        outcome?.reason == .crashLooping ? memory.launches.last.map { $0.elapsed + WatchRules.crashLoop.span } : nil
      return [awake(memory.isProven ? nil : spacing), awake(loop)]
    case .held, .absent, .barred, .handsUnknown: return []
    case .noSession: return sessionTrouble.map { [$0.since + rules.settle].filter { $0 > now.awake } } ?? nil
    case .inGrace: return graceEnd.map { [$0] } ?? nil
    case .paused: return isPaused(now) ? [pause.map { now.awake + $0.left(at: now) }] : nil
    case .withheld:
      guard rules.launches else { return [] }
      let facts = memory.refusal == nil ? nil : factsRead.map { $0 + rules.spacing }
      return isLaunchDue(now) ? nil : [[awake(spacing), awake(facts)].compactMap { $0 }.max()]
    case .other: return nil
    }
  }

  /// Goes over so many rounds that are like the last one.
  ///
  /// The caller answers for the world having stood still since that round began, and for not going beyond `quiet`.
  public mutating func leap(rounds: Int, of period: Duration) {
    let span = period * rounds
    roundBegan += span
    due += span
    lastSeen.host.awake += span
    lastSeen.host.elapsed += span
    lastSeen.wall += span
    if lastEnd == .answered {
      silence.leap(span)
      memory.lastAnswer = memory.lastAnswer.map { $0 + span }
      lastAnswered = lastAnswered.map { $0 + span }
    }
  }
}
