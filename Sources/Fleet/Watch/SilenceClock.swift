/// The two counters of a silence: how long it was observed, and the grace.
///
/// Both are kept as the moment that they are counted from; what was not observed moves it on.
struct SilenceClock: Equatable, Sendable {
  /// Since the last answer, or the first failed probe since the start; nil while the door answers.
  private(set) var from: Duration?
  /// The same, but anew for each cause that watch.md names; nil until a probe has failed since then.
  private(set) var graceFrom: Duration?
  private var lastAnswer: Duration?
  /// How long the last silence was that has ended since the last row.
  private var ended: Duration?
  /// The rounds were interrupted in this silence.
  private var wasInterrupted = false
  /// The same of the one that has ended.
  private var endedInterrupted = false

  mutating func answered(at now: Duration) {
    if let from { (ended, endedInterrupted) = (now - from, wasInterrupted) }
    from = nil
    lastAnswer = now
    graceFrom = now
    wasInterrupted = false
  }

  /// - Parameter asked: when the probe began: it has been silent from then on.
  mutating func failed(asked: Duration) {
    if from == nil { from = lastAnswer ?? asked }
    if graceFrom == nil { graceFrom = asked }
  }

  /// Time in which nobody looked adds nothing.
  mutating func skip(_ gap: Duration, at now: Duration) {
    from = from.map { min($0 + gap, now) }
    graceFrom = graceFrom.map { min($0 + gap, now) }
    lastAnswer = lastAnswer.map { min($0 + gap, now) }
  }

  mutating func interrupted() { wasInterrupted = true }

  /// Whether the rounds were interrupted in the silence that `sinceRow` is the length of.
  var wasInterruptedSinceRow: Bool { from == nil ? ended != nil && endedInterrupted : wasInterrupted }

  mutating func beginGraceAnew(_ book: RuleBook) {
    graceFrom = nil
    if !book.keeps(.silenceIsKept) { (from, lastAnswer) = (nil, nil) }
  }

  /// nil when it was never silent since the last row.
  func sinceRow(at now: Duration) -> Duration? { from.map { now - $0 } ?? ended }

  mutating func rowWritten() { ended = nil }

  /// Rounds that went by as the last one did.
  mutating func leap(_ span: Duration) {
    guard from == nil else { return }
    lastAnswer = lastAnswer.map { $0 + span }
    graceFrom = graceFrom.map { $0 + span }
  }
}
