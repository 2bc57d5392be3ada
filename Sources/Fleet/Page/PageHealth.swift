import Wire

/// Whether rounds are being completed: what `/healthz` says.
struct PageHealth: Sendable {
  /// The configuration's time between two rounds, and for one answer, where the round tells no others.
  var every: Duration
  var answerWithin: Duration

  /// A round in which bodies are revived takes longer than one in which all answer; this much is still well.
  private func limit(_ round: RoundPresent? = nil) -> Duration {
    // Bodies may be looked at more seldom than the others, and the configuration read anew.
    max((round?.every ?? every) * 3, .seconds(60)) + (round?.answerWithin ?? answerWithin)
  }

  func answer(_ round: RoundPresent?, at now: Duration) -> PageResponse {
    guard let round else {
      return .refusal(
        503,
        """
        No round has been completed since the supervisor started. \
        It has only just begun, or usbmuxd or a disk holds it up. \
        Wait for \(limit().shown), then see: fleetctl doctor
        """)
    }
    // A wall clock that was set back makes a round of the future, which is recent enough.
    let age = max(now - round.at, .zero)
    let limit = limit(round)
    guard age <= limit else {
      return .refusal(
        503,
        """
        No round has been completed for \(PageTime.span(age)), and \(limit.shown) is the most that is well. \
        usbmuxd, a disk or the supervisor itself hangs. \
        See: fleetctl doctor, and journalctl -u fleetctl
        """)
    }
    return .json([
      "ok": true, "last_round": .string(WallClock.rfc3339(round.at)), "rounds": .integer(Int64(round.number)),
    ])
  }
}
