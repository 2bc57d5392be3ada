import Wire

/// What has been complained of, so that each kind of trouble is told once and not for every client that meets it.
struct Grievances {
  private struct Kind: Hashable {
    let word: String
    let port: UInt16?

    init(_ error: PhoneError) {
      word = error.word
      if case .refused(_, let port) = error { self.port = port } else { port = nil }
    }
  }

  private struct Grief {
    var toldAt: ContinuousClock.Instant
    var isOver = false
  }

  private let spacing: Duration
  private var told: [Kind: Grief] = [:]

  /// - Parameter spacing: how long the same trouble is not told again, however often it goes away and returns.
  init(spacing: Duration) { self.spacing = spacing }

  /// Whether to tell of it: it is new, or has been over for a while.
  mutating func isNews(_ error: PhoneError, now: ContinuousClock.Instant = .now) -> Bool {
    let kind = Kind(error)
    if let known = told[kind], !known.isOver || now - known.toldAt < spacing { return false }
    told[kind] = Grief(toldAt: now)
    return true
  }

  /// A port has answered: whatever kept others from it is over.
  mutating func isWell(port: UInt16) {
    for kind in told.keys where kind.port == port { told[kind]?.isOver = true }
  }

  /// The phone is there, the daemon answers.
  ///
  /// - Returns: whether to tell of it: its absence was told.
  mutating func isBack() -> Bool {
    var wasTold = false
    for (kind, grief) in told where kind.port == nil && !grief.isOver {
      told[kind]?.isOver = true
      wasTold = true
    }
    return wasTold
  }
}
