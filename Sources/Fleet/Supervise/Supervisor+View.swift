import DeviceBridge
import Transport
import Wire

extension Supervisor {
  public func bodies() -> [BodyPresent] {
    let now = now
    return state.with { state in
      state.bodies.map { body in
        guard let watch = state.watch.body(body.udid) else { return BodyPresent(outOfService: body) }
        return BodyPresent(watch, state.notes[body.udid] ?? Note(), at: now)
      }
    }
  }

  public func host() -> HostPresent {
    state.with { state in
      var present = HostPresent(words: state.watch.host.outcome)
      present.since = state.watch.host.since
      present.detail = state.watch.host.detail
      present.unstored = state.watch.unstored
      return present
    }
  }

  public func lastRound() -> RoundPresent? {
    state.with { state in
      var round = state.rounds.last
      round?.every = state.watch.bodies.map(\.rules.every).max()
      round?.answerWithin = state.watch.bodies.map(\.rules.answerWithin).max()
      return round
    }
  }

  public func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport] {
    try await world.books.rows(after: seq, limit: limit)
  }

  public func changes() -> AsyncStream<Void> {
    let (changes, sink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.with { state in
      state.watcherCount += 1
      state.watchers[state.watcherCount] = sink
      return state.watcherCount
    }
    sink.onTermination = { [weak self] _ in self?.state.with { $0.watchers[number] = nil } }
    return changes
  }

  public func doorStatus(of udid: UDID, within limit: Duration) async -> DoorAnswer? {
    guard let desk = state.with({ $0.desks[udid] }) else { return nil }
    let settings = desk.settings
    let call = settings.body.door.call(.status)
    var request = DoorRequest(
      port: settings.body.door.port, method: call.line.method, target: call.line.target, token: settings.token?.value,
      deadline: .after(limit))
    request.keptBody = 1 << 16
    return await desk.lane.request(request)
  }

  /// Something that the view tells has changed.
  func hint() {
    for watcher in state.with({ Array($0.watchers.values) }) { watcher.yield() }
  }

  /// `4 bodies: 3 up, 1 locked`, for the service manager.
  func tellStatus() {
    guard let notify = world.notify else { return }
    notify.status(statusLine)
  }

  public var statusLine: String {
    let (words, host) = state.with { state in (state.watch.bodies.map(\.outcome), state.watch.host.outcome) }
    let counts = Dictionary(words.map { ($0?.kind.rawValue ?? "not judged yet", 1) }, uniquingKeysWith: +)
    let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
    let trouble = host.kind == .up ? "" : "; host: \(host.text)"
    let title = words.count == 1 ? "1 body" : "\(words.count) bodies"
    return "\(title)\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: ", "))\(trouble)"
  }
}

extension BodyPresent {
  init(outOfService body: Body) {
    self.init(body: body.name, udid: body.udid, awaited: "the end of its time out of service")
    let until = body.outOfService?.until.map { " until \($0)" } ?? ""
    outOfService = "\(body.outOfService?.reason ?? "")\(until)"
  }

  init(_ watch: BodyWatch, _ note: Supervisor.Note, at now: WatchTime) {
    let present = watch.present(at: now)
    self.init(body: watch.name, udid: watch.udid, awaited: present.awaited.text)
    deviceName = note.deviceName
    words = watch.outcome
    detail = note.detail
    since = watch.since
    lock = note.lock
    lastAnswer = watch.memory.lastAnswer
    silent = present.silent
    nextLaunch = present.launchIn.map { now.wall + $0 }
    launches = watch.memory.launchCount
    revivals = watch.memory.revivals
    flaps = watch.memory.flaps
    heldBy = watch.heldBy
    if let pause = watch.pause {
      let left = pause.left(at: now)
      pausedUntil = left > .zero ? now.wall + left : nil
    }
    usbPort = watch.presence.port
  }
}
