import DeviceBridge
import Transport
import Wire

/// The loop around the watch: carries its commands to the phones, and brings back what happens, as long as it runs.
///
/// One thread handles all events, one after another; whatever may take its time is done elsewhere and answers as an
/// event. So a phone that hangs delays nobody else.
public final class Supervisor: SupervisorView {
  /// The world that it works in, usually this host's own.
  public struct World: Sendable {
    public var mux: MuxAddress
    public var locks = PhoneLocks()
    /// Where others see when a launch was sent.
    public var stamps: any LaunchStamps
    /// Where stamps go when that disk takes none.
    public var runtimeStamps: (any LaunchStamps)?
    public var books: any SupervisorBooks
    public var clock: any HostClock = SystemClock()
    public var ports = USBPorts()
    /// Between attempts while the daemon is away; the last one repeats.
    public var muxPauses: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2), .seconds(10)]
    public var leftovers: (any LeftoverUndoing)?
    public var notify: NotifySocket?
    /// Nothing is launched, mounted or undone: it is said what would be.
    public var isDry = false
    /// One look, in which nothing is launched or mounted, however short the grace is.
    public var onlyLooks = false
    /// The door's token of a body's settings; nil where there is none.
    public var token: @Sendable (DoorSettings) -> Secret? = { _ in nil }
    /// The folder of developer images; nil where none is mounted unasked.
    public var images: ImageFolder?

    public init(mux: MuxAddress, stamps: any LaunchStamps, books: any SupervisorBooks) {
      self.mux = mux
      self.stamps = stamps
      self.books = books
    }
  }

  /// Who is told what.
  public struct Ears: Sendable {
    /// Each row as soon as it is made; it has no number yet.
    public var row: @Sendable (OutcomeReport) -> Void = { _ in }
    /// Each row once it is stored, with its number; at once and without one where the record does not take it.
    public var kept: @Sendable (OutcomeReport) -> Void = { _ in }
    /// Each completed round.
    public var round: @Sendable (RoundPresent) -> Void = { _ in }
    /// What people should know, in sentences: for standard error.
    public var say: @Sendable (String) -> Void = { _ in }
    public init() {}
  }

  let world: World
  let ears: Ears
  let inbox = Awaited<[News]>([])
  let state: Guarded<State>
  private let ended = Latch()
  private let muxWatch = Guarded<MuxWatch?>(nil)

  /// What the loop's thread is told.
  enum News: Sendable {
    case mux(MuxEvent)
    case body(UDID, desk: Int, BodyEvent)
    case lock(UDID, desk: Int, LockReading, deviceName: String?)
    case stored(OutcomeReport?)
    case notStored(RecordTrouble)
    /// The record is another one; `isAnswer`: said in answer to a store.
    case begunAnew(lastSeq: Int, isAnswer: Bool)
    case version(Int)
    case pauses([UDID: Pause])
    case configuration(FleetConfiguration, token: @Sendable (DoorSettings) -> Secret?, images: ImageFolder?)
    case stop
  }

  /// - Parameters:
  ///   - past: as `SupervisorBooks.past` has it.
  public init(
    _ configuration: FleetConfiguration, past: (FleetWatch.Past, [UDID: BodyPast]), _ world: World, _ ears: Ears
  ) {
    self.world = world
    self.ears = ears
    let now = Self.moment(world.clock)
    state = Guarded(State(configuration, past, world, at: now))
    takeIn(now)
  }

  /// Begins to supervise; READY is said when this returns.
  public func start() {
    let watch = MuxWatch(world.mux, pauses: world.muxPauses)
    muxWatch.with { $0 = watch }
    let inbox = inbox
    Task { for await event in watch.events { inbox.with { $0.append(.mux(event)) } } }
    _ = Worker(name: "supervisor") { [self] in
      run()
      ended.open()
    }
    world.notify?.ready()
  }

  /// Ends within the time: phones are let go of, and what waits for the record is stored as far as that goes.
  ///
  /// - Returns: whether it ended in time.
  @discardableResult
  public func stop(by deadline: Deadline) -> Bool {
    post(.stop)
    return ended.wait(until: deadline)
  }

  /// The configuration was read anew: what it says holds from the next round on.
  public func apply(
    _ configuration: FleetConfiguration, token: @escaping @Sendable (DoorSettings) -> Secret?, images: ImageFolder?
  ) {
    post(.configuration(configuration, token: token, images: images))
  }

  func post(_ news: News) { inbox.with { $0.append(news) } }

  static func moment(_ clock: any HostClock) -> WatchTime { WatchTime(host: clock.now, wall: clock.wall) }
  var now: WatchTime { Self.moment(world.clock) }

  // MARK: - On the loop's thread

  /// What the thread keeps for itself.
  struct Own {
    var attaching = Attaching()
    var complaints = Complaints()
    /// The daemon's connection has just ended: why is known better in a moment.
    var lost: (error: PhoneError, until: Deadline)?
    /// Somebody else's writing is looked for, and the day, once in a while.
    var looked = Duration.zero
    var isLooking = false
    var version: Int?
    var letGo = Duration.zero
    var stopsAt: Deadline?
  }

  /// Between two looks at whether somebody else has written to the record.
  static let lookEvery = Duration.milliseconds(500)
  /// What is left of the two seconds in which the process must end.
  private static let farewell = Duration.milliseconds(900)

  private func run() {
    var own = Own()
    readPauses()
    while true {
      let wait = untilNext(&own)
      let batch = inbox.wait(by: wait) { news in
        defer { news = [] }
        return news.isEmpty ? nil : news
      }
      for news in batch ?? [] { take(news, &own) }
      if let stopsAt = own.stopsAt {
        if stopsAt.hasPassed || state.with({ $0.watch.unstored == 0 }) { break }
        handle(.tick)
        continue
      }
      turn(&own)
    }
    finish()
  }

  /// When something is to be done though nothing happens.
  private func untilNext(_ own: inout Own) -> Deadline {
    if let stopsAt = own.stopsAt { return min(stopsAt, .after(.milliseconds(50))) }
    let now = world.clock.now.awake
    let next = state.with { state in
      [state.schedule.next(), state.watch.wake].compactMap { $0 }.min()
    }
    let due = [next, own.attaching.next].compactMap { $0 }.min().map {
      world.clock.deadline(after: max($0 - now, .zero))
    }
    return [due, own.lost?.until, .after(Self.lookEvery)].compactMap { $0 }.min() ?? .never
  }

  /// What is due now.
  private func turn(_ own: inout Own) {
    if own.lost?.until.hasPassed == true { muxIsLost(&own) }
    let now = world.clock.now.awake
    for phone in own.attaching.due(at: now) { attach(phone) }
    while let udid = state.with({ $0.schedule.pop(at: now) }) { handle(.body(udid, .tick)) }
    if let wake = state.with({ $0.watch.wake }), wake <= now { handle(.tick) }
    completeRound()
    lookAround(&own)
  }

  private func take(_ news: News, _ own: inout Own) {
    if own.stopsAt != nil, !news.isOfRecord { return }
    switch news {
    case .mux(let event): take(event, &own)
    case .body(let udid, let desk, let event):
      guard state.with({ $0.desks[udid]?.number == desk }) else { return }
      note(event, of: udid)
      handle(.body(udid, event))
    case .lock(let udid, let desk, let reading, let name):
      guard state.with({ $0.desks[udid]?.number == desk }) else { return }
      state.with { state in
        state.notes[udid, default: Note()].lock = reading.state
        if let name { state.notes[udid]?.deviceName = name }
      }
      handle(.body(udid, .lockChanged(reading)))
    case .stored(let row): stored(row, &own)
    case .notStored(let trouble): notStored(trouble, &own)
    case .begunAnew(let seq, let isAnswer): begunAnew(seq, isAnswer)
    case .version(let version):
      own.isLooking = false
      if let before = own.version, before != version { readPauses() }
      own.version = version
    case .pauses(let pauses): take(pauses)
    case .configuration(let configuration, let token, let images): change(configuration, token, images)
    case .stop: beginToStop(&own)
    }
  }

  private func beginToStop(_ own: inout Own) {
    own.stopsAt = .after(Self.farewell)
    world.notify?.stopping()
    muxWatch.with { $0 }?.stop()
    for desk in state.with({ Array($0.desks.values) }) { desk.close() }
  }

  private func finish() {
    let watchers = state.with { state in
      defer { state.watchers = [:] }
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.finish() }
    muxWatch.with { $0 = nil }
  }
}

extension Supervisor.News {
  /// What is still heard when it ends: how the last rows fare.
  fileprivate var isOfRecord: Bool {
    switch self {
    case .stored, .notStored, .begunAnew: true
    case .mux, .body, .lock, .version, .pauses, .configuration, .stop: false
    }
  }
}
