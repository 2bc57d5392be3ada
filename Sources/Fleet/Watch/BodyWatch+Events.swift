import DeviceBridge
import Wire

/// What happens, and to which part of the watch it goes.
extension BodyWatch {
  public mutating func handle(_ event: BodyEvent, at now: WatchTime) -> [BodyCommand] {
    noticeGap(now)
    passTime(now)
    take(event, now)
    passTime(now)
    beginRoundIfDue(now)
    lastSeen = now
    return flush()
  }

  private mutating func take(_ event: BodyEvent, _ now: WatchTime) {
    switch event {
    case .tick: break
    case .attached(let device, let transport, let port):
      let wasThere = presence.isThere
      let isFlap = presence.attached(device, transport, port: port, at: now.awake)
      if isFlap { flapped(now) }
      // A look at once, unless it must first have been there for a while.
      if !wasThere, presence.canBeAsked, stage == .idle { due = now.awake }
    case .detached(let device):
      presence.detached(device, at: now.awake)
      if !presence.isThere { stopSeeing(now, forAbsence: true) }
    case .lockChanged(let reading): lockChanged(reading, now)
    case .paused(let pause):
      self.pause = pause
      // A launch that is being prepared is none any more.
      if isPaused(now) { discardRun() }
      if pause == nil, !rules.book.keeps(.pauseKeepsGrace) { beginGraceAnew() }
    case .host(let change): hostChanged(change, now)
    case .hold, .step, .facts, .mounted, .port: answer(event, now)
    }
  }

  /// The answer to what is open; anything else is nobody's.
  private mutating func answer(_ event: BodyEvent, _ now: WatchTime) {
    guard let open = pending, event.answers(open.command) else { return }
    pending = nil
    switch event {
    case .hold(let look): held(look, now)
    case .step(let event): step(event, open, now)
    case .facts(let facts): factsCame(facts, now)
    case .mounted(let look): mounted(look, now)
    case .port(let showsPhone):
      portShowsPhone = showsPhone
      judgeAbsent(now)
    case .tick, .attached, .detached, .lockChanged, .paused, .host: break
    }
  }

  private mutating func step(_ event: ReviveEvent, _ open: Pending, _ now: WatchTime) {
    if isDiscarding, !isAnswer(event) {
      discarded(event, now)
      return
    }
    isDiscarding = false
    switch (stage, event) {
    case (.probing, .door(let look)): probed(look, open.asked.awake, now)
    case (.session, .session(let error)): sessionCame(error, open.asked.awake, now)
    case (.leasing, .lease(let look)): leased(look, now)
    case (.looking(let procedure), _): go(on: procedure, event, open, now)
    case (.launching(let procedure), _): go(on: procedure, event, open, now)
    case (.idle, _), (.asking, _), (.probing, _), (.session, _), (.leasing, _), (.facts, _), (.mounting, _),
      (.lookingAtPort, _):
      endRound(.other, now)
    }
  }

  private func isAnswer(_ event: ReviveEvent) -> Bool {
    if case .door(.answered) = event { true } else { false }
  }

  private mutating func lockChanged(_ reading: LockReading, _ now: WatchTime) {
    let wentUnlocked = noteLock(reading)
    if reading.state == .locked { discardRun() }
    if wentUnlocked, stage == .idle { due = now.awake }
  }

  private mutating func hostChanged(_ change: HostChange, _ now: WatchTime) {
    switch change {
    case .muxLost:
      isMuxLost = true
      stopSeeing(now, forAbsence: false)
    case .muxBack:
      isMuxLost = false
      presence.relist(at: now.awake)
      if rules.book.keeps(.graceAfterMux) { beginGraceAnew() }
      if stage == .idle { due = now.awake }
    case .hubLost:
      isHubLost = true
      stopSeeing(now, forAbsence: false)
    case .hubBack:
      isHubLost = false
      presence.hubReturned(at: now.awake, counts: outcome != .detached)
      if rules.book.keeps(.graceAfterReturn) { beginGraceAnew() }
      if stage == .idle { due = now.awake }
    }
  }

  // MARK: - Commands

  mutating func ask(_ command: BodyCommand, within limit: Duration, _ now: WatchTime) {
    pending = Pending(command: command, asked: now.host, limit: now.awake + limit)
    out.append(command)
  }

  mutating func ask(_ step: ReviveCommand, _ now: WatchTime) {
    let limit = limit(of: step, now)
    ask(.step(step, within: limit), within: limit, now)
  }

  private mutating func flush() -> [BodyCommand] {
    guard isMemoryNew || !rows.isEmpty else {
      let commands = out
      out.removeAll(keepingCapacity: true)
      return commands
    }
    memory.revision += 1
    var commands: [BodyCommand] = rows.map { .row($0, memory) }
    if commands.isEmpty { commands = [.remember(memory)] }
    commands += out
    rows.removeAll()
    out.removeAll(keepingCapacity: true)
    isMemoryNew = false
    return commands
  }
}
