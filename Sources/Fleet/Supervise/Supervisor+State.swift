import DeviceBridge
import Transport
import Wire

extension Supervisor {
  /// What is known beside the watch.
  struct Note: Sendable {
    var lock = LockState.unknown
    var deviceName: String?
    /// Of its latest row.
    var detail: String?
    /// A round of it is under way.
    var isBusy = false
    /// Rounds that have ended.
    var rounds = 0
    /// A row was made since the start.
    var isJudged = false
    /// It would have been launched: said at that moment (CLOCK_BOOTTIME).
    var saidWouldLaunch: Duration?
  }

  /// Everything that changes; behind one lock, held for moments.
  struct State: Sendable {
    var configuration: FleetConfiguration
    var watch: FleetWatch
    var past: [UDID: BodyPast]
    var desks: [UDID: BodyDesk] = [:]
    var notes: [UDID: Note] = [:]
    /// In the configuration's order, those out of service too.
    var bodies: [Body] = []
    /// As the daemon lists them.
    var listed: [UDID: ListedPhone] = [:]
    var schedule = Schedule()
    var rounds: Rounds
    var teller = RowTeller()
    var deskCount = 0
    /// A store is on its way; what the record said of itself meanwhile waits for its end.
    var isStoring = false
    var anew: Int?
    var token: @Sendable (DoorSettings) -> Secret?
    var images: ImageFolder?
    /// When the daemon was first heard, or first known to be lost.
    var muxWasHeard: ContinuousClock.Instant?
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var watcherCount = 0

    init(
      _ configuration: FleetConfiguration, _ past: (FleetWatch.Past, [UDID: BodyPast]), _ world: World,
      at now: WatchTime
    ) {
      self.configuration = configuration
      self.past = past.1
      token = world.token
      images = world.images
      watch = FleetWatch(Self.rules(configuration), past: past.0, boot: world.clock.boot, at: now)
      rounds = Rounds(at: now.awake)
    }

    static func rules(_ configuration: FleetConfiguration) -> WatchRules {
      WatchRules(
        Body(BodyEntry(udid: UDID(""), under: configuration), phone: nil), mounting: configuration.images.mount)
    }

    func rules(_ body: Body) -> WatchRules { WatchRules(body, mounting: configuration.images.mount) }

    func settings(_ body: Body) -> BodyDesk.Settings {
      BodyDesk.Settings(body: body, token: token(body.door), images: images)
    }
  }

  private var deskMeans: BodyDesk.Means {
    let inbox = inbox
    return BodyDesk.Means(
      mux: world.mux, locks: world.locks, stamps: world.stamps, runtimeStamps: world.runtimeStamps,
      books: world.books, clock: world.clock, ports: world.ports, leftovers: world.isDry ? nil : world.leftovers,
      holder: .current(.supervise), say: ears.say
    ) { last in inbox.with { $0.append(.begunAnew(lastSeq: last, isAnswer: false)) } }
  }

  // MARK: - Taking bodies in, and letting them go

  /// Takes in the bodies that the configuration names; without names those that the record knew as present.
  func takeIn(_ now: WatchTime) {
    let today = CalendarDay.today()
    let (wanted, gone): ([Body], [BodyDesk]) = state.with { state in
      let entries =
        state.configuration.bodies
        ?? Set(state.desks.keys).union(state.past.filter { $0.value.outcome.map { $0 != .detached } ?? false }.keys)
        .union(state.listed.values.filter { $0.transport == .usb }.map(\.udid))
        .sorted { $0.bare < $1.bare }.map { BodyEntry(udid: $0, under: state.configuration) }
      state.bodies = entries.map { Body($0, phone: state.listed[$0.udid]) }
      let inService = state.bodies.filter { !($0.outOfService?.holds(on: today) ?? false) }
      let names = Set(inService.map(\.udid))
      let gone = state.desks.values.filter { !names.contains($0.udid) }
      for desk in gone { state.forget(desk.udid) }
      return (inService, gone)
    }
    for desk in gone { desk.close() }
    // Spread over the interval, so that five hundred phones are not asked all in the same moment.
    let every = state.with { $0.configuration.supervise.every }
    let step = min(every / max(1, wanted.count), .milliseconds(50))
    for (place, body) in wanted.enumerated() { add(body, now, firstLook: now.awake + step * place) }
    state.with { $0.rounds.begin($0.watch.bodies.map(\.udid), at: now.awake) }
  }

  /// Takes one body in, or changes what holds for it.
  func add(_ body: Body, _ now: WatchTime, firstLook: Duration) {
    if let desk = state.with({ $0.desks[body.udid] }) {
      state.with { state in
        state.watch.change(body.udid, name: body.name, state.rules(body))
        desk.change(state.settings(body))
      }
      return
    }
    let stamp = BodyDesk.lastStamp(of: body.udid, deskMeans)
    let desk: BodyDesk = state.with { state in
      var past = state.past[body.udid] ?? BodyPast()
      if let stamp, past.stamp.map({ $0.wall < stamp.wall }) ?? true { past.stamp = stamp }
      state.deskCount += 1
      let desk = BodyDesk(state.settings(body), number: state.deskCount, deskMeans)
      state.desks[body.udid] = desk
      state.notes[body.udid] = Note()
      state.watch.add(body.udid, name: body.name, state.rules(body), past: past, at: now)
      state.schedule.set(body.udid, firstLook)
      return desk
    }
    if let phone = state.with({ $0.listed[body.udid] }) { attach(phone, at: desk) }
  }

  // MARK: - The configuration

  func change(
    _ configuration: FleetConfiguration, _ token: @escaping @Sendable (DoorSettings) -> Secret?, _ images: ImageFolder?
  ) {
    state.with { state in
      state.configuration = configuration
      state.token = token
      state.images = images
    }
    takeIn(now)
    hint()
  }

  /// A body whose time out of service has ended, or begun.
  func changeService() {
    let today = CalendarDay.today()
    let isDue = state.with { state in
      state.bodies.contains { body in
        let isOut = body.outOfService?.holds(on: today) ?? false
        return isOut == (state.desks[body.udid] != nil)
      }
    }
    if isDue { takeIn(now) }
  }
}

extension Supervisor.State {
  /// No body any more; what is known of it is kept for its return.
  mutating func forget(_ udid: UDID) {
    if let body = watch.body(udid) {
      past[udid] = BodyPast(
        outcome: body.outcome, since: body.since, memory: body.memory, pause: body.pause)
    }
    watch.drop(udid)
    schedule.set(udid, nil)
    rounds.excuse(udid)
    desks[udid] = nil
    notes[udid] = nil
  }
}
