import DeviceBridge
import Wire

/// What is to be done for the whole fleet.
public enum FleetCommand: Equatable, Sendable {
  /// Never `.row`, `.remember`, `.tellHost` or `.act`: they come as `.store`.
  case body(UDID, BodyCommand)
  /// Answered by `.stored` or `.notStored`; one at a time.
  indirect case store(LedgerEntry)
}

/// What happens to the fleet.
public enum FleetEvent: Equatable, Sendable {
  case body(UDID, BodyEvent)
  /// The daemon listens; the phones that are there follow as `attached`.
  case muxConnected
  case muxLost(PhoneError)
  case stored
  case notStored(HostTrouble)
  /// The record was deleted or replaced, and is begun anew at its place; this is the number of its last row. What was
  /// to be stored was not.
  case recordBegunAnew(lastSeq: Int)
  /// The time has come that `FleetWatch.wake` named.
  case tick
}

/// The watches of all bodies and of their host, and what is to be stored.
public struct FleetWatch: Sendable {
  public private(set) var host: HostWatch
  /// In the order in which they were taken in.
  public private(set) var bodies: [BodyWatch] = []
  /// The rows that the latest event made, before they are stored and have numbers.
  public private(set) var newRows: [OutcomeReport] = []
  private var places: [UDID: Int] = [:]
  private var ledger: Ledger
  private let boot: String
  private let rules: WatchRules

  /// What the record knows of the host.
  public struct Past: Equatable, Sendable {
    /// The latest host row's words; nil where there is none.
    public var outcome: OutcomeWords?
    /// The latest row's number, 0 where there is none.
    public var lastSeq = 0
    public init() {}
  }

  /// - Parameters:
  ///   - rules: for the host; those of bodies come with them.
  ///   - boot: the kernel's name for this boot.
  public init(_ rules: WatchRules, past: Past = Past(), boot: String, at now: WatchTime) {
    self.rules = rules
    self.boot = boot
    host = HostWatch(rules, past: past.outcome, at: now)
    ledger = Ledger(lastSeq: past.lastSeq, rules.book)
  }

  /// Takes a body in: at the start, or when the configuration was read anew.
  public mutating func add(
    _ udid: UDID, name: String?, _ rules: WatchRules, past: BodyPast = BodyPast(), at now: WatchTime
  ) {
    guard places[udid] == nil else { return }
    var past = past
    let newest = ledger.newest(of: udid)
    if let row = newest.row { (past.outcome, past.since) = (row.words, row.at) }
    if let memory = newest.memory, memory.revision > past.memory.revision { past.memory = memory }
    places[udid] = bodies.count
    bodies.append(BodyWatch(udid, name: name, rules, past: past, boot: boot, at: now))
    if host.isMuxLost { bodies[bodies.count - 1].isMuxLost = true }
  }

  /// The configuration says otherwise now.
  public mutating func change(_ udid: UDID, name: String?, _ rules: WatchRules) {
    guard let place = places[udid] else { return }
    bodies[place].name = name
    bodies[place].rules = rules
  }

  /// The configuration no longer names it. What the record knows of it is kept, and no row is written.
  public mutating func drop(_ udid: UDID) {
    bodies.removeAll { $0.udid == udid }
    places = Dictionary(uniqueKeysWithValues: bodies.enumerated().map { ($0.element.udid, $0.offset) })
    host.forget(udid)
  }

  /// nil for one that is no body (any more).
  public func body(_ udid: UDID) -> BodyWatch? { places[udid].map { bodies[$0] } }

  /// When `.tick` is to come for the fleet, on the clock that stops in sleep; bodies have a `wake` of their own.
  public var wake: Duration? { [host.wake, ledger.wake].compactMap { $0 }.min() }

  /// What waits to be stored.
  public var unstored: Int { ledger.waiting }

  public mutating func handle(_ event: FleetEvent, at now: WatchTime) -> [FleetCommand] {
    var commands: [FleetCommand] = []
    if !newRows.isEmpty { newRows = [] }
    switch event {
    case .body(let udid, let event): handle(event, of: udid, now, &commands)
    case .muxConnected:
      guard host.isMuxLost else { break }
      host.muxConnected(at: now)
      tellAll(.muxBack, now, &commands)
    case .muxLost(let error):
      for udid in among(host.muxLost(error, at: now)) { tell(.hubBack, udid, now, &commands) }
      tellAll(.muxLost, now, &commands)
    case .stored:
      ledger.stored()
      host.recordWorks()
    case .notStored(let trouble):
      ledger.notStored(at: now)
      host.recordFailed(trouble, at: now)
    case .recordBegunAnew(let seq): beginAnew(seq, now)
    case .tick: missHub(now, &commands)
    }
    if let row = host.pass(to: now) {
      newRows.append(row)
      ledger.append(LedgerEntry(row: row))
    }
    if let entry = ledger.next(at: now) { commands.append(.store(entry)) }
    return commands
  }

  /// What the record says of it, or is about to.
  public func outcome(of udid: UDID) -> OutcomeWords? {
    guard let place = places[udid] else { return nil }
    return bodies[place].outcome
  }

  public func revivals(of udid: UDID) -> Int {
    guard let place = places[udid] else { return 0 }
    return bodies[place].memory.revivals
  }

  // MARK: - Leaps

  /// See `BodyWatch.wake`.
  public func wake(of udid: UDID) -> Duration? {
    guard let place = places[udid] else { return nil }
    // Each on its own: asked for its `wake`, the whole of it is copied, and this is asked for after each event.
    let isWaiting = bodies[place].pending != nil && bodies[place].rules.book.keeps(.oneAtATime)
    return isWaiting || bodies[place].isMuxLost || bodies[place].isHubLost ? nil : bodies[place].due
  }

  /// See `BodyWatch.quiet`.
  public func quiet(of udid: UDID, at now: WatchTime) -> BodyWatch.Quiet? {
    guard let place = places[udid] else { return nil }
    return bodies[place].pending == nil ? bodies[place].quiet(at: now) : nil
  }

  /// See `BodyWatch.leap`.
  public mutating func leap(_ udid: UDID, rounds: Int, of period: Duration) {
    guard let place = places[udid] else { return }
    bodies[place].leap(rounds: rounds, of: period)
  }

  // MARK: - Bodies

  private func among(_ some: Set<UDID>) -> [UDID] {
    some.isEmpty ? [] : bodies.map(\.udid).filter(some.contains)
  }

  private mutating func handle(
    _ event: BodyEvent, of udid: UDID, _ now: WatchTime, _ commands: inout [FleetCommand]
  ) {
    guard let place = places[udid] else { return }
    switch event {
    case .attached(_, .usb, let port):
      for other in among(host.attached(udid, port: port)) { tell(.hubBack, other, now, &commands) }
    case .tick:
      missHub(now, &commands)
      if !rules.book.keeps(.ownRounds), bodies.contains(where: { $0.udid != udid && $0.pending != nil }) {
        bodies[place].due = now.awake + .seconds(1)
      }
    case .attached, .detached, .lockChanged, .hold, .step, .facts, .mounted, .port, .paused, .host: break
    }
    pass(event, to: place, now, &commands)
    guard case .detached = event, !bodies[place].presence.isThere else { return }
    host.detached(udid, at: now)
    missHub(now, &commands)
  }

  private mutating func missHub(_ now: WatchTime, _ commands: inout [FleetCommand]) {
    for other in among(host.missHub(at: now)) { tell(.hubLost, other, now, &commands) }
  }

  private mutating func tellAll(_ change: HostChange, _ now: WatchTime, _ commands: inout [FleetCommand]) {
    for place in bodies.indices { pass(.host(change), to: place, now, &commands) }
  }

  private mutating func tell(
    _ change: HostChange, _ udid: UDID, _ now: WatchTime, _ commands: inout [FleetCommand]
  ) {
    if let place = places[udid] { pass(.host(change), to: place, now, &commands) }
  }

  private mutating func pass(
    _ event: BodyEvent, to place: Int, _ now: WatchTime, _ commands: inout [FleetCommand]
  ) {
    let udid = bodies[place].udid
    for command in bodies[place].handle(event, at: now) {
      switch command {
      case .row(let row, let memory):
        newRows.append(row)
        ledger.append(LedgerEntry(row: row, udid: udid, memory: memory))
        if row.words == .detached { host.forget(udid) }
      case .remember(let memory): ledger.append(LedgerEntry(udid: udid, memory: memory))
      case .act(let action): ledger.append(LedgerEntry(udid: udid, action: action))
      case .tellHost(let sign): host.told(sign, at: now)
      case .askHold, .step, .storeStamp, .readFacts, .mountImage, .lookAtPort, .letGo:
        commands.append(.body(udid, command))
      }
    }
  }

  /// One row says that the record is a new one; what must not be forgotten goes into it.
  private mutating func beginAnew(_ seq: Int, _ now: WatchTime) {
    ledger.beginAnew(after: seq)
    ledger.append(
      LedgerEntry(
        row: OutcomeReport(
          at: now.wall, body: nil, udid: nil, words: host.outcome,
          detail: "the record was deleted or replaced, and is begun anew here")))
    for body in bodies {
      let standing = body.outcome.map { LedgerEntry.Standing(words: $0, since: body.since) }
      ledger.append(LedgerEntry(udid: body.udid, memory: body.memory, standing: standing))
    }
  }
}
