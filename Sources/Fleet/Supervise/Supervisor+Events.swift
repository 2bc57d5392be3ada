import DeviceBridge
import Transport
import Wire

extension Supervisor {
  /// Gives the watch an event, and does what it says.
  func handle(_ event: FleetEvent) {
    let now = now
    let (commands, rows) = state.with { state -> ([FleetCommand], [OutcomeReport]) in
      let commands = state.watch.handle(event, at: now)
      let rows = state.watch.newRows
      state.teller.made(rows)
      for row in rows {
        guard let udid = row.udid else { continue }
        state.notes[udid, default: Note()].detail = row.detail
        state.notes[udid]?.isJudged = true
      }
      state.reschedule(after: event)
      return (commands, rows)
    }
    for row in rows { ears.row(row) }
    for command in commands {
      switch command {
      case .store(let entry): store(entry)
      case .body(let udid, let command): carryOut(command, udid)
      }
    }
    if !rows.isEmpty {
      tellStatus()
      hint()
    }
  }

  private func carryOut(_ command: BodyCommand, _ udid: UDID) {
    guard let desk = state.with({ $0.desks[udid] }) else { return }
    if world.isDry || world.onlyLooks, let event = refused(command, udid) {
      post(.body(udid, desk: desk.number, event))
      return
    }
    let (inbox, number) = (inbox, desk.number)
    desk.carryOut(command) { event in inbox.with { $0.append(.body(udid, desk: number, event)) } }
  }

  /// In a dry run and in a single look: what comes of it in place of the deed, and in the former a word of what it would
  /// have been.
  private func refused(_ command: BodyCommand, _ udid: UDID) -> BodyEvent? {
    guard case .step(.takeLease, _) = command else { return nil }
    let others = BodyEvent.step(.lease(.held(by: .current(.supervise))))
    guard world.isDry else { return others }
    let now = now
    let sentence: String? = state.with { state in
      guard let body = state.watch.body(udid) else { return nil }
      if let said = state.notes[udid]?.saidWouldLaunch, now.elapsed - said < body.rules.spacing { return nil }
      state.notes[udid]?.saidWouldLaunch = now.elapsed
      let silent = body.present(at: now).silent.map { " (silent for \($0.shown))" } ?? ""
      return "\(body.name ?? udid.description): the app would be launched now\(silent)"
    }
    if let sentence { ears.say(sentence) }
    return others
  }

  /// What an answer says beside what the watch makes of it.
  func note(_ event: BodyEvent, of udid: UDID) {
    guard case .step(.lock(let reading)) = event else { return }
    state.with { $0.notes[udid, default: Note()].lock = reading.state }
  }

  // MARK: - Rounds

  func completeRound() {
    let now = now
    let round: RoundPresent? = state.with { state in
      for udid in state.rounds.missing {
        guard let body = state.watch.body(udid) else {
          state.rounds.excuse(udid)
          continue
        }
        if body.isUnseen { state.rounds.excuse(udid) }
      }
      return state.rounds.complete(
        state.watch.bodies.map(\.udid), every: state.configuration.supervise.every, now: now)
    }
    guard let round else { return }
    world.notify?.feed()
    tellStatus()
    ears.round(round)
  }

  // MARK: - The record

  private func store(_ entry: LedgerEntry) {
    state.with { $0.isStoring = true }
    let (books, inbox) = (world.books, inbox)
    Task {
      let news: News
      do throws(RecordTrouble) {
        try await books.store(entry, within: StepLimit.stamp)
        news = .stored(entry.row)
      } catch {
        switch error {
        // What numbers there are there holds; a number too high would never be taken.
        case .begunAnew(_, let last), .outOfOrder(_, _, let last): news = .begunAnew(lastSeq: last, isAnswer: true)
        case .full, .locked, .slow, .corrupt, .newer, .older, .foreign, .missing, .forbidden, .failed:
          news = .notStored(error)
        }
      }
      inbox.with { $0.append(news) }
    }
  }

  func stored(_ row: OutcomeReport?, _ own: inout Own) {
    let told: OutcomeReport? = state.with { state in
      state.isStoring = false
      return row.flatMap { state.teller.stored($0) }
    }
    if let told { ears.kept(told) }
    if let word = own.complaints.over(.record) { ears.say(word) }
    for notice in world.books.notices() { ears.say(notice) }
    handle(.stored)
    goOnAnew()
    if row != nil { hint() }
  }

  func notStored(_ trouble: RecordTrouble, _ own: inout Own) {
    let rows = state.with { state in
      state.isStoring = false
      return state.teller.notStored()
    }
    for row in rows { ears.kept(row) }
    if let word = own.complaints.begun(.record, trouble.sentence, at: now.awake) { ears.say(word) }
    handle(.notStored(.record(trouble)))
    goOnAnew()
  }

  /// The record is another one now. While something is on its way to it, the answer to that comes first.
  func begunAnew(_ seq: Int, _ isAnswer: Bool) {
    state.with { state in
      state.anew = seq
      if isAnswer { state.isStoring = false }
    }
    goOnAnew()
  }

  private func goOnAnew() {
    let seq: Int? = state.with { state in
      guard !state.isStoring else { return nil }
      defer { state.anew = nil }
      return state.anew
    }
    guard let seq else { return }
    handle(.recordBegunAnew(lastSeq: seq))
    for notice in world.books.notices() { ears.say(notice) }
  }

  /// Whether somebody else has written to the record, and what only time does.
  func lookAround(_ own: inout Own) {
    let now = world.clock.now.awake
    guard now - own.looked >= Self.lookEvery else { return }
    own.looked = now
    changeService()
    let (books, inbox) = (world.books, inbox)
    if !own.isLooking {
      own.isLooking = true
      let version = own.version ?? 0
      Task {
        var found = version
        do throws(RecordTrouble) { found = try await books.dataVersion(within: .seconds(5)) } catch {
          // Any other trouble is met, and told, by whoever writes.
          if case .begunAnew(_, let last) = error {
            inbox.with { $0.append(.begunAnew(lastSeq: last, isAnswer: false)) }
          }
        }
        let news = News.version(found)
        inbox.with { $0.append(news) }
      }
    }
    if now - own.letGo >= .seconds(3_600) {
      own.letGo = now
      let wall = world.clock.wall
      Task { try? await books.letGo(now: wall, within: .seconds(60)) }
    }
  }

  func readPauses() {
    let (books, inbox) = (world.books, inbox)
    Task {
      guard let pauses = try? await books.pauses() else { return }
      inbox.with { $0.append(.pauses(pauses)) }
    }
  }

  func take(_ pauses: [UDID: Pause]) {
    let present = LaunchStamp(world.clock)
    // Whoever pauses measures by the host's own clock, which in a test is not this one.
    let pauses = pauses.mapValues { $0.began.boot == present.boot ? $0 : $0.rebased(to: present) }
    let changes = state.with { state in
      state.watch.bodies.compactMap { body -> (UDID, Pause?)? in
        let now = pauses[body.udid]
        return body.pause?.began == now?.began && body.pause?.length == now?.length ? nil : (body.udid, now)
      }
    }
    for (udid, pause) in changes { handle(.body(udid, .paused(pause))) }
    if !changes.isEmpty { hint() }
  }
}

extension BodyWatch {
  /// Nobody can look at it now, and nothing is on its way.
  var isUnseen: Bool { pending == nil && (isMuxLost || isHubLost) }
}

extension Supervisor.State {
  /// After an event: when each body that it may have touched is ticked next, and whose round has ended.
  mutating func reschedule(after event: FleetEvent) {
    switch event {
    case .body(let udid, .attached), .body(let udid, .detached):
      // A hub that comes back wakes all of its phones.
      _ = udid
      for body in watch.bodies { reschedule(body) }
    case .body(let udid, _): if let body = watch.body(udid) { reschedule(body) }
    case .muxConnected, .muxLost: for body in watch.bodies { reschedule(body) }
    case .stored, .notStored, .recordBegunAnew, .tick: break
    }
  }

  private mutating func reschedule(_ body: BodyWatch) {
    let udid = body.udid
    let wake = body.wake
    schedule.set(udid, wake)
    let isBusy = body.pending != nil
    if notes[udid]?.isBusy == true, !isBusy {
      rounds.ended(udid)
      notes[udid]?.rounds += 1
    }
    notes[udid]?.isBusy = isBusy
  }
}
