import DeviceBridge
import Fleet
import Wire

/// What came of an event: rows, and outcomes.
extension Witness {
  mutating func after(
    _ event: BodyEvent?, _ phone: Phone?, outcome: OutcomeWords?, revivals: Int, _ rows: [OutcomeReport], _ sight: Sight
  ) {
    guard let phone else { return }
    let index = phone.index
    let isRevival = revivals > bodies[index].revivals
    if isRevival { revived(event, phone, rows.contains { $0.udid == phone.udid }, outcome, sight) }
    bodies[index].revivals = revivals
    // A launch whose judgement the cable or the daemon has cut short has not ended as anything.
    if bodies[index].requests > 0, bodies[index].leaseTaken != nil,
      outcome?.kind == .launchedNoAnswer || outcome?.kind == .launchRefused
    {
      bodies[index].launchEnded = true
    }
    for row in rows where row.udid == phone.udid { self.row(row, event, phone, isRevival, sight) }
    if outcome != bodies[index].outcome {
      broken(.everyChangeIsARow, index, sight, "it is \(outcome?.text ?? "nothing") now, without a row")
    }
    if case .step(.door(.answered)) = event, bodies[index].wasHeld == false {
      let isGood = outcome?.kind == .up || outcome?.kind == .revived
      if !isGood { broken(.doorComesFirst, index, sight, "it answered, and is \(outcome?.text ?? "nothing")") }
      crashLoop(phone, outcome, sight)
    }
  }

  private mutating func row(
    _ row: OutcomeReport, _ event: BodyEvent?, _ phone: Phone, _ isRevival: Bool, _ sight: Sight
  ) {
    let index = phone.index
    let books = bodies[index]
    if row.was != books.outcome {
      broken(.rowsInOrder, index, sight, "it says it was \(row.was?.text ?? "nothing")")
    }
    if row.words == books.outcome, !isRevival || row.words.reason == .crashLooping {
      broken(.oneRowPerChange, index, sight, "\(row.words.text) once more")
    }
    if books.outcome?.kind == .revived, row.words.kind == .up {
      broken(.oneRowPerChange, index, sight, "up after revived")
    }
    silence(row, index, sight)
    settled(row, phone, sight)
    let isHosts = row.words.reason.map { row.words.kind.hostReasons.contains($0) } ?? false
    if isHosts { broken(.hostIsOneRow, index, sight, row.words.text) }
    if row.words.kind == .silent, books.launchEnded {
      broken(.everyChangeIsARow, index, sight, "silent, though it was launched in this silence")
    }
    let isUnanswered = row.words.kind == .launchedNoAnswer || row.words == OutcomeWords(.launchRefused, .failed)
    if isUnanswered, books.lock == .locked, books.leaseTaken != nil {
      broken(.lockedHasOneName, index, sight, row.words.text)
    }
    if row.words == OutcomeWords(.launchRefused, .noDeveloperImage), phone.hasImage, books.requests < 3,
      case .step(.launch) = event, sight.now > phone.changed + .seconds(15)
    {
      broken(.launchesAsSaid, index, sight, "its service was asked for \(books.requests) times")
    }
    bodies[index].outcome = row.words
    // An answer after its time is the next round's to judge, and the silence that it has ended is told again.
    if row.words.kind != .launchedNoAnswer { bodies[index].ended = nil }
  }

  private mutating func silence(_ row: OutcomeReport, _ index: Int, _ sight: Sight) {
    let bounds = bodies[index].bounds(at: sight.awake) ?? bodies[index].ended
    guard let bounds else {
      if row.silent != nil { broken(.silenceIsTrue, index, sight, "silent, and never was") }
      return
    }
    guard let silent = row.silent else {
      // A probe that was overtaken by an interruption is asked anew.
      if bounds.upperBound > .seconds(40) { broken(.silenceIsTrue, index, sight, "no silence, and it was \(bounds)") }
      return
    }
    // A silence of one probe may not have been believed: then it is the one before that is told.
    let isYoung = bounds.upperBound < .seconds(45)
    if isYoung, let ended = bodies[index].ended, ended.contains(silent), silent > .zero { return }
    if silent > bounds.upperBound || silent < bounds.lowerBound || silent <= .zero {
      broken(.silenceIsTrue, index, sight, "\(silent), and it was \(bounds)")
    }
  }

  private mutating func settled(_ row: OutcomeReport, _ phone: Phone, _ sight: Sight) {
    let index = phone.index
    let books = bodies[index]
    // A look may find the phone gone before the mux says so.
    let settle = phone.rules.settle - .milliseconds(50)
    switch row.words.kind {
    case .unreachable where row.words.reason == .detached:
      let away = books.there == nil ? books.away.map { sight.awake - $0 } : nil
      // Missed before, and not seen since for long enough to count, it is missed still.
      guard let away, away >= settle || !books.counts || books.mayBeMissed else {
        broken(.settled, index, sight, "away for \(String(describing: books.away.map { sight.awake - $0 }))")
        return
      }
      bodies[index].counts = false
      if let lost = books.hubLostAt { broken(.hostIsOneRow, index, sight, "its hub left \(sight.awake - lost) ago") }
    case .untrusted, .hostFault, .unreachable, .locked:
      guard row.words != OutcomeWords(.locked, .passcode) else { return }
      guard let since = books.sessionFailed, sight.awake - since >= settle else {
        broken(.settled, index, sight, "no session since \(String(describing: books.sessionFailed))")
        return
      }
    case .up, .revived, .silent, .held, .paused, .launchedNoAnswer, .launchRefused, .leftAlone: break
    }
  }

  // MARK: - Revivals

  private mutating func revived(
    _ event: BodyEvent?, _ phone: Phone, _ hasRow: Bool, _ outcome: OutcomeWords?, _ sight: Sight
  ) {
    let index = phone.index
    let books = bodies[index]
    guard case .step(.door(.answered)) = event, let accepted = books.accepted,
      sight.awake - accepted <= phone.rules.answerWithin + .milliseconds(1)
    else {
      broken(.revivedInTime, index, sight, "accepted at \(String(describing: books.accepted))")
      return
    }
    guard books.outcome == OutcomeWords(.revived), outcome == OutcomeWords(.revived) else { return }
    // Over a boot of the host's nobody knows.
    guard let before = books.answeredBefore else { return }
    if hasRow, before < phone.rules.spacing {
      broken(.revivalsCounted, index, sight, "a row, after \(before) of answers")
    }
    if !hasRow, let surely = books.surelyAnsweredBefore, surely >= phone.rules.spacing + .seconds(15) {
      broken(.revivalsCounted, index, sight, "no row, though it had answered for \(surely)")
    }
  }

  private mutating func crashLoop(_ phone: Phone, _ outcome: OutcomeWords?, _ sight: Sight) {
    let books = bodies[phone.index]
    guard outcome?.kind == .revived else { return }
    let hour = Duration.seconds(3_600)
    let stamps = books.stamps.count { sight.now - $0 < hour + .seconds(60) }
    if outcome?.reason == .crashLooping {
      let last = books.stamps.last.map { sight.now - $0 } ?? hour
      if last > hour + .seconds(60) { broken(.revivalsCounted, phone.index, sight, "a loop, \(last) after a launch") }
    } else if let accepted = books.accepted, sight.awake - accepted < .seconds(11), sight.isHostWell {
      let sent = books.sent.count { sight.now - $0 < hour - .seconds(60) }
      if sent >= 3 { broken(.revivalsCounted, phone.index, sight, "\(sent) launches, and no loop") }
    }
    if outcome?.reason == .crashLooping, stamps == 0 { broken(.revivalsCounted, phone.index, sight, "a loop of none") }
  }

  // MARK: - The record

  mutating func stored(
    _ row: OutcomeReport, after last: Int, was: OutcomeWords?, isNew: Bool, _ phone: Int?, _ sight: Sight
  ) {
    if row.seq != last + 1 { broken(.rowsInOrder, phone, sight, "\(row.seq ?? 0) after \(last)") }
    guard !isNew else { return }
    if row.was != was { broken(.rowsInOrder, phone, sight, "\(row.words.text) was \(row.was?.text ?? "nothing")") }
    if row.words == was, row.words.kind != .revived { broken(.oneRowPerChange, phone, sight, row.words.text) }
  }
}
