import DeviceBridge

/// What each answer means before a launch was sent.
extension ReviveProcedure {
  static let handsDetail = "the hands' driver answers: a person or a test is using the phone"

  mutating func door(_ look: DoorLook, _ now: HostMoment) -> ReviveCommand? {
    switch look {
    case .answered(let detail): return answered(detail, now)
    case .silent(let kind, let detail): note(kind, detail, now)
    case .unreachable(let error):
      switch error.place {
      case .ours: return give(up: error)
      case .host(let words), .gone(let words):
        guard case .waiting = phase else { return end(words, error, now) }
        missed(error)
      case .phone: note(.noAnswer, "the phone does not get through to it (\(error.word))", now)
      }
    }
    return goOn(now)
  }

  private mutating func note(_ kind: DoorSilence, _ detail: String, _ now: HostMoment) {
    // Observed when it was asked: it has been silent from then on.
    if silentSince == nil { silentSince = askedAt.awake }
    if case .waiting(var window) = phase {
      window.trouble = nil
      phase = .waiting(window)
      // The last probe of a window is cut short by its end; not having been answered by then says less than one before.
      if kind == .noAnswer, let began = window.probeBegan, window.end - began < rules.pollEvery { return }
    }
    silence = Silence(kind: kind, detail: detail)
  }

  mutating func lease(_ look: LeaseLook, _ now: HostMoment) -> ReviveCommand? {
    switch look {
    case .taken(let waited):
      hasLease = true
      // Whoever had it may have brought the app back.
      return waited ? ask(.probe(within: rules.answerWithin), now) : advance(now)
    case .held(let holder):
      return end(OutcomeWords(.held, holder.purpose?.reason ?? .run), "held by \(holder.text)", now)
    case .trouble(let trouble): return end(trouble.words, trouble.sentence, now, trouble: trouble)
    }
  }

  mutating func session(_ error: PhoneError?, _ now: HostMoment) -> ReviveCommand? {
    guard let error else {
      hasSession = true
      return advance(now)
    }
    switch error.place {
    case .ours: return give(up: error)
    case .host(let words), .gone(let words), .phone(let words): return end(words, error, now)
    }
  }

  mutating func hands(_ look: HandsLook, _ now: HostMoment) -> ReviveCommand? {
    switch look {
    case .running: return end(OutcomeWords(.leftAlone, .hands), Self.handsDetail, now)
    case .absent:
      handsFreeAt = askedAt.elapsed
      return advance(now)
    case .unknown(let detail):
      guard rules.book.keeps(.unknownHandsAreHands) else {
        handsFreeAt = askedAt.elapsed
        return advance(now)
      }
      return leaveForHands(detail, now)
    case .unreachable(let error):
      switch error.place {
      case .ours: return give(up: error)
      case .host(let words), .gone(let words): return end(words, error, now)
      case .phone: return leaveForHands(error.word, now)
      }
    }
  }

  private mutating func leaveForHands(_ detail: String, _ now: HostMoment) -> ReviveCommand? {
    let detail = "the port of the hands' driver is neither refused nor answered (\(detail)): somebody may be there"
    return leave(OutcomeWords(.leftAlone, .hands), detail, now)
  }

  mutating func lock(_ reading: LockReading, _ now: HostMoment) -> ReviveCommand? {
    if case .judging(let verdict) = phase { return judge(verdict, reading, now) }
    switch reading.state {
    case .locked where rules.book.keeps(.lockedIsLeftAlone):
      return end(OutcomeWords(.locked, .passcode), reading.why, now)
    case .unknown where rules.book.keeps(.unknownIsNotUnlocked):
      return end(OutcomeWords(.leftAlone, .lockUnknown), reading.why, now)
    case .unlocked, .locked, .unknown:
      unlockedAt = askedAt.elapsed
      return advance(now)
    }
  }

  mutating func stamp(_ trouble: HostTrouble?, _ now: HostMoment) -> ReviveCommand? {
    guard let trouble else {
      hasStamp = true
      return advance(now)
    }
    // Without a stamp a restart would not know of the launch.
    return end(OutcomeWords(.hostFault, .disk), trouble.sentence, now, trouble: trouble)
  }
}

extension PhoneError {
  /// Where the fault lies, and which outcome it is when nothing else is known.
  enum Place: Equatable {
    /// The daemon's or this machine's.
    case host(OutcomeWords)
    /// The phone is not there.
    case gone(OutcomeWords)
    case phone(OutcomeWords)
    /// It says nothing about phone or host.
    case ours
  }

  var place: Place {
    guard let words = OutcomeWords(self) else { return .ours }
    switch self {
    case .noMux, .deadMux, .notASocket, .muxForbidden, .muxSilent, .host: return .host(words)
    case .absent, .networkOnly: return .gone(words)
    case .refused: return .phone(OutcomeWords(.unreachable, .lockdownNotAnswering))
    case .untrusted, .silent, .lost, .tls, .badReply, .lockdown, .launchRefused, .ended, .badRequest:
      return .phone(words)
    }
  }
}
