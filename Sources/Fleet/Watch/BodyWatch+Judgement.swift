import DeviceBridge
import Wire

/// What came of a round, and the row that it makes.
extension BodyWatch {
  /// A procedure has ended.
  mutating func concluded(_ ending: ReviveEnding, _ now: WatchTime) {
    guard case .launching = stage else {
      look(ended: ending, now)
      return
    }
    let launched = ending.judgement?.launched ?? false
    if !launched { unstamp(wasStored: ending.judgement?.trouble == nil) }
    launchIsStamped = false
    guard let judgement = ending.judgement else {
      endRound(.other, now)
      return
    }
    if launched {
      let result = judgement.words.text
      out.append(.act(WatchAction(kind: .launch, at: now.wall, udid: udid, result: result)))
    }
    self.launched(judgement, now)
  }

  private mutating func launched(_ judgement: ReviveJudgement, _ now: WatchTime) {
    let words = judgement.words
    switch words.kind {
    case .revived: revived(judgement.detail, now)
    case .up: answered(judgement.detail, now)
    case .launchedNoAnswer, .launchRefused:
      launchEnded(words)
      judge(words, judgement.detail, now)
      endRound(.other, now)
    case .locked where words.reason == .passcode:
      if judgement.launched { launchEnded(words) }
      judge(words, judgement.detail, now)
      endRound(.barred, now)
    case .silent, .locked, .held, .paused, .untrusted, .unreachable, .leftAlone, .hostFault: barred(judgement, now)
    }
  }

  mutating func launchEnded(_ words: OutcomeWords) {
    memory.launchEnd = words
    isMemoryNew = true
    if let reason = words.reason { refused(reason) }
  }

  /// A look at hands and lock has ended.
  private mutating func look(ended ending: ReviveEnding, _ now: WatchTime) {
    switch ending {
    // Whether hands are there can't be told: this round nothing is done, and nothing said.
    case .leftForNow: endRound(.handsUnknown, now)
    case .broken: endRound(.other, now)
    case .judged(let judgement):
      guard judgement.words.kind != .silent else {
        mayLaunch(now)
        return
      }
      barred(judgement, now)
    }
  }

  /// Something stands in the way of a launch.
  private mutating func barred(_ judgement: ReviveJudgement, _ now: WatchTime) {
    if let trouble = judgement.trouble {
      hostTrouble(judgement.words, trouble.sentence, now)
    } else if let error = judgement.error, let fault = error.fault {
      found(fault, error, now)
    } else if judgement.error != nil {
      sessionFailed(judgement.words, judgement.detail, now.awake, now)
    } else {
      // Who paused it, and why.
      let pause = judgement.words.kind == .paused ? self.pause?.text : nil
      judge(judgement.words, pause ?? judgement.detail, now)
      endRound(judgement.words.kind == .paused ? .paused : .barred, now)
    }
  }

  // MARK: - The door answers

  mutating func answered(_ detail: String, _ now: WatchTime) {
    guard rules.book.keeps(.theDoorComesFirst) || sessionTrouble == nil else {
      endRound(.noSession, now)
      return
    }
    noteAnswer(now)
    judge(stillGood(now), detail, now)
    endRound(.answered, now)
  }

  /// What a body is that answers: revived as long as it was, crash-looping until an hour has passed without a launch.
  private func stillGood(_ now: WatchTime) -> OutcomeWords {
    guard let outcome, outcome.kind == .revived, rules.book.keeps(.revivedIsUp) else { return OutcomeWords(.up) }
    guard outcome.reason == .crashLooping, rules.book.keeps(.crashLoopingEnds) else { return outcome }
    guard let last = memory.launches.last, now.elapsed - last.elapsed < WatchRules.crashLoop.span else {
      return OutcomeWords(.revived)
    }
    return outcome
  }

  private mutating func noteAnswer(_ now: WatchTime) {
    silence.answered(at: now.awake(rules.book))
    sessionTrouble = nil
    handsWereThere = false
    lastLock = nil
    memory.lastAnswer = now.wall
    lastAnswered = now.elapsed
    distrusted = nil
    if memory.launchEnd != nil || memory.refusal != nil {
      (memory.launchEnd, memory.refusal) = (nil, nil)
      isMemoryNew = true
    }
    if !memory.isProven, let stamp = memory.stamp, now.elapsed - stamp.elapsed >= rules.spacing {
      memory.isProven = true
      isMemoryNew = true
    }
  }

  private mutating func revived(_ detail: String, _ now: WatchTime) {
    noteAnswer(now)
    memory.revivals += 1
    isMemoryNew = true
    let isLooping = memory.isCrashLooping(at: now) && rules.book.keeps(.crashLooping)
    // In a crash loop revivals are counted; before it one in a row is.
    let isOwnRow = !isLooping && beforeLaunch.isProven || !rules.book.keeps(.revivalsInARowAreCounted)
    judge(OutcomeWords(.revived, isLooping ? .crashLooping : nil), detail, now, isOwnRow: isOwnRow)
    endRound(.answered, now)
  }

  // MARK: - Rows

  /// - Parameter isOwnRow: it is a row even where the words have not changed.
  mutating func judge(_ words: OutcomeWords, _ detail: String, _ now: WatchTime, isOwnRow: Bool = false) {
    guard words != outcome || isOwnRow || !rules.book.keeps(.oneRowPerChange) else { return }
    let detail = silence.wasInterruptedSinceRow ? "\(detail); the rounds were interrupted in this silence" : detail
    rows.append(
      OutcomeReport(
        at: now.wall, body: name, udid: udid, words: words, was: outcome, detail: detail,
        silent: silence.sinceRow(at: now.awake(rules.book)), launched: memory.launchedSinceRow))
    outcome = words
    since = now.wall
    silence.rowWritten()
    memory.launchedSinceRow = false
    isMemoryNew = true
  }
}
