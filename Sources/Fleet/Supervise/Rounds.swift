import Wire

/// The fleet's rounds: one is completed when every body has ended a round of its own since it began, or can have none.
struct Rounds: Sendable {
  private(set) var last: RoundPresent?
  private var open: Set<UDID> = []
  private var began: Duration

  init(at now: Duration) { began = now }

  mutating func begin(_ bodies: [UDID], at now: Duration) {
    open = Set(bodies)
    began = now
  }

  mutating func ended(_ udid: UDID) { open.remove(udid) }
  /// It is a body no more, or can't be looked at now.
  mutating func excuse(_ udid: UDID) { open.remove(udid) }

  /// Still to be looked at.
  var missing: Set<UDID> { open }

  /// - Parameters:
  ///   - all: the bodies of the next round, which begins now.
  ///   - every: a round is no shorter, so that one in which nobody can be looked at is none a moment.
  /// - Returns: the round, when it has just been completed.
  mutating func complete(_ all: [UDID], every: Duration, now: WatchTime) -> RoundPresent? {
    guard open.isEmpty, now.awake - began >= every / 2 else { return nil }
    let round = RoundPresent(number: (last?.number ?? 0) + 1, at: now.wall, took: now.awake - began)
    last = round
    begin(all, at: now.awake)
    return round
  }
}
