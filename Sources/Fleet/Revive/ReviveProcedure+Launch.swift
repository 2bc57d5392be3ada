import DeviceBridge
import Wire

/// A launch is a claim; the door's answer in time is the fact.
extension ReviveProcedure {
  mutating func launch(_ error: PhoneError?, _ now: HostMoment) -> ReviveCommand? {
    guard let error else {
      launched = true
      return openWindow(nil, now)
    }
    switch error {
    case .launchRefused(_, let refusal, let detail): return refused(refusal, detail, error, now)
    case .silent, .lost, .badReply, .lockdown, .refused:
      // It may have been taken all the same.
      launched = true
      return openWindow(error, now)
    case .untrusted, .tls, .noMux, .deadMux, .notASocket, .muxForbidden, .muxSilent, .host, .absent, .networkOnly,
      .ended, .badRequest:
      break
    }
    switch error.place {
    case .ours: return give(up: error)
    case .host(let words), .gone(let words):
      // Gone in the middle of it: sent or not, it counts.
      launched = true
      return end(words, error, now)
    case .phone(let words): return end(words, error, now)
    }
  }

  private mutating func refused(
    _ refusal: LaunchRefusal, _ detail: String, _ error: PhoneError, _ now: HostMoment
  ) -> ReviveCommand? {
    let words = OutcomeWords(error) ?? OutcomeWords(.launchRefused, .failed)
    switch refusal {
    case .notInstalled, .noDeveloperImage, .developerModeOff, .notOnThisIOS:
      // Found out by looking, before anything was sent.
      if refusal == .noDeveloperImage, let pause = pauseForService(now) { return ask(.rest(pause), now) }
      return end(words, error, now)
    case .notDebuggable, .appUntrusted:
      launched = true
      return end(words, error, now)
    case .locked:
      launched = true
      phase = .judging(Verdict(words: words, detail: "the phone refused the launch as Locked", error: error))
      return ask(.readLock, now)
    case .failed:
      launched = true
      let limit = rules.book.keeps(.atMostTwoRequests) ? 2 : 6
      if requests < limit, now.awake - askedAt.awake < ReviveRules.collision { return advance(now) }
    case .appExited: launched = true
    }
    phase = .judging(Verdict(words: words, detail: error.sentence, error: error))
    return ask(.readLock, now)
  }

  /// Right after a mount or a boot a service can be missing for some seconds.
  ///
  /// - Returns: nil when it is to be called missing.
  private mutating func pauseForService(_ now: HostMoment) -> Duration? {
    guard rules.hasImage, rules.book.keeps(.serviceIsAskedThrice) else { return nil }
    if missingTimes == 0 { missingSince = askedAt.awake }
    missingTimes += 1
    let (times, span, pause) = ReviveRules.service
    guard missingTimes < times, now.awake + pause - missingSince < span else { return nil }
    // Nothing was sent, so it is no request.
    requests -= 1
    return pause
  }

  // MARK: - The answer window

  /// - Parameter doubt: why it is not known whether the phone took the launch.
  mutating func openWindow(_ doubt: PhoneError?, _ now: HostMoment) -> ReviveCommand? {
    let span = rules.book.keeps(.answersInTime) ? rules.answerWithin : rules.answerWithin * 3
    let window = AnswerWindow(opened: now.awake, end: now.awake + span, doubt: doubt)
    phase = .waiting(window)
    return poll(window, now)
  }

  /// The next probe, or the pause until it is due; after the window the verdict.
  mutating func poll(_ window: AnswerWindow, _ now: HostMoment) -> ReviveCommand? {
    // One last look shortly before the end, so that an answer in the last second is not missed.
    let last = window.end - rules.pollEvery / 4
    if now.awake >= window.end { return close(window, now) }
    if let began = window.probeBegan {
      if began >= last { return close(window, now) }
      let due = min(began + rules.pollEvery, last)
      if due > now.awake { return ask(.rest(due - now.awake), now) }
    }
    var probed = window
    probed.probeBegan = now.awake
    phase = .waiting(probed)
    return ask(.probe(within: window.end - now.awake), now)
  }

  mutating func answered(_ detail: String, _ now: HostMoment) -> ReviveCommand? {
    guard case .waiting(let window) = phase, launched else { return end(OutcomeWords(.up), detail, now) }
    guard now.awake <= window.end else {
      silence = Silence(kind: .noAnswer, detail: "it answered after its time")
      return close(window, now)
    }
    let span = (now.awake - window.opened).shown
    return end(OutcomeWords(.revived), "the door answered \(span) after the launch", now)
  }

  /// The last probe found no phone or no daemon: that is no silence of the door's.
  mutating func missed(_ error: PhoneError) {
    guard case .waiting(var window) = phase else { return }
    window.trouble = error
    phase = .waiting(window)
  }

  private mutating func close(_ window: AnswerWindow, _ now: HostMoment) -> ReviveCommand? {
    if let trouble = window.trouble, let words = OutcomeWords(trouble) { return end(words, trouble, now) }
    phase = .judging(verdict(window))
    return ask(.readLock, now)
  }

  private func verdict(_ window: AnswerWindow) -> Verdict {
    if let doubt = window.doubt {
      return Verdict(words: OutcomeWords(.launchRefused, .failed), detail: doubt.sentence, error: doubt)
    }
    let kind: OutcomeKind = launched ? .launchedNoAnswer : .silent
    let detail = "no answer within \(rules.answerWithin.shown): \(silence.detail)"
    return Verdict(words: OutcomeWords(kind, silence.kind.reason), detail: detail)
  }

  /// The lock has one name, whatever it has stood in the way of; the detail tells where its value says something else.
  mutating func judge(_ verdict: Verdict, _ reading: LockReading, _ now: HostMoment) -> ReviveCommand? {
    let isRefusedAsLocked = verdict.words.kind == .locked
    switch reading.state {
    case .locked where rules.book.keeps(.lockedHasOneName):
      let before =
        isRefusedAsLocked ? "\(verdict.detail): " : launched ? "a launch was sent, and the lock has overtaken it: " : ""
      return end(OutcomeWords(.locked, .passcode), before + reading.why, now)
    case .unlocked, .locked:
      let detail = isRefusedAsLocked ? "\(verdict.detail), though its lock reads as unlocked" : verdict.detail
      return end(verdict.words, detail, now, error: verdict.error)
    case .unknown:
      return end(
        verdict.words, "\(verdict.detail) (whether it is locked can't be told: \(reading.why))", now,
        error: verdict.error)
    }
  }
}
