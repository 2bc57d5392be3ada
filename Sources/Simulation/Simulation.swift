import DeviceBridge
import Fleet
import Wire

/// A fleet, its host and the people around them, in simulated time: the world does what the script says, the watch what
/// its rules say, and the witness looks at everything that happens between them.
public struct Simulation {
  /// What a simulation is made of.
  public struct Setting: Sendable {
    public var phones: Int
    public var script: [ScriptLine]
    /// How long it lasts.
    public var length: Duration
    public var rules = WatchRules()
    /// Rules of single phones, by index.
    public var phoneRules: [Int: WatchRules] = [:]
    /// iOS of single phones, by index; the others have 16.7.
    public var ios: [Int: String] = [:]
    /// Whether quiet stretches are leapt over.
    public var leaps = true
    /// The last outcome that the record knows of each body; nil: a first start.
    public var past: OutcomeWords? = OutcomeWords(.up)
    /// Keeps what was told, for those who read it.
    public var keepsTrace = true
    /// Keeps every event, too, and what was commanded upon it.
    public var keepsEvents = false

    public init(phones: Int, script: [ScriptLine], length: Duration) {
      self.phones = phones
      self.script = script
      self.length = length
    }
  }

  let setting: Setting
  var fleet: FleetWatch
  var phones: [Phone] = []
  var index: [UDID: Int] = [:]
  var record = Record()
  public internal(set) var trace: [Trace] = []
  var witness: Witness
  /// Events that the watch has handled, and rounds that were leapt over.
  public internal(set) var handled = 0
  public internal(set) var leapt = 0
  public internal(set) var launches = 0

  // The host.
  /// True time.
  var now = Duration.zero
  /// How much of it the clock that stops in sleep has missed.
  var slept = Duration.zero
  /// Where that clock stands while the host sleeps.
  var awakeAtSleep = Duration.zero
  var bootedAt = Duration.seconds(-5_000)
  var boots = 1
  var wallShift = Duration.seconds(1_800_000_000)
  var mux = MuxState.there
  var disk = DiskState.fine
  var hasDescriptors = true
  /// The supervisor's process, counted; nil while none runs.
  var process: Int?
  var processes = 0
  /// Gets no time until then (CLOCK_MONOTONIC).
  var stalledUntil = Duration.zero
  var killAfter: (commands: Int, down: Duration)?
  var nextDevice = 1
  var fleetWake: Duration?
  var lastHostChange = Duration.zero

  var world = Agenda<WorldItem>()
  /// In time of the clock that stops in sleep.
  var supervisor = Agenda<SupervisorItem>()
  /// The script's lines for the host, and for each phone.
  var hostLines: [ScriptLine] = []
  var phoneLines: [[ScriptLine]] = []
  var nextHostLine = 0

  enum MuxState { case there, gone, silent }
  enum DiskState { case fine, full, slow, dead }

  /// What the world does by itself.
  enum WorldItem {
    case hostLine(Int)
    case phoneLine(Int, Int)
    case appReady(Int, turn: Int)
    case appDies(Int, turn: Int)
    case launchLands(Int, token: Int, process: Int)
    case plugged(Int)
    case reviverLetsGo(Int)
    case diskTakes(LedgerEntry, process: Int, generation: Int)
    case stampTaken(Int, LaunchStamp, WatchMemory)
    case start
  }

  /// What reaches the supervisor.
  enum SupervisorItem {
    /// To what was asked of the phone last, if that is still the same.
    case answer(Int, token: Int, process: Int)
    case wake(Int, process: Int)
    case fleetWake(process: Int)
    case event(FleetEvent, process: Int)
    case lockNotice(Int, process: Int)
  }

  /// What somebody who reads along sees.
  public struct Trace: Equatable, Sendable {
    public enum What: Equatable, Sendable {
      case row(OutcomeReport)
      case launch(fresh: Bool)
      case mount
      case start
      case event(BodyEvent, [FleetCommand])
    }
    /// True time since the beginning.
    public var at: Duration
    /// nil: the host.
    public var phone: Int?
    public var what: What
  }

  public init(_ setting: Setting) {
    self.setting = setting
    witness = Witness(setting)
    fleet = FleetWatch(
      setting.rules, boot: "", at: WatchTime(host: HostMoment(awake: .zero, elapsed: .zero), wall: .zero))
    phoneLines = Array(repeating: [], count: setting.phones)
    for line in setting.script {
      switch line.verb {
      case .host: hostLines.append(line)
      case .phone: if line.phone < setting.phones { phoneLines[line.phone].append(line) }
      }
    }
    hostLines.sort { $0.at < $1.at }
    for index in 0..<setting.phones {
      phoneLines[index].sort { $0.at < $1.at }
      var phone = Phone(index, setting.phoneRules[index] ?? setting.rules, ios: setting.ios[index] ?? "16.7")
      phone.devices = [nextDevice]
      nextDevice += 1
      self.index[phone.udid] = index
      if let past = setting.past { record.last[phone.udid] = past }
      phones.append(phone)
      if let first = phoneLines[index].first { world.put(.phoneLine(index, 0), at: first.at) }
    }
    if let first = hostLines.first { world.put(.hostLine(0), at: first.at) }
    world.put(.start, at: .zero)
  }

  /// What the watch knows of a body now.
  public func memory(of phone: Int) -> WatchMemory? { fleet.body(phones[phone].udid)?.memory }

  // MARK: - Time

  var awake: Duration { max(now - slept, awakeAtSleep) }
  /// Neither asleep nor without time.
  var isRunning: Bool { now - slept >= awakeAtSleep && awake >= stalledUntil }
  var boot: String { Self.boot(boots) }
  static func boot(_ number: Int) -> String { "boot-\(number)" }
  var time: WatchTime {
    WatchTime(host: HostMoment(awake: awake, elapsed: now - bootedAt), wall: now + wallShift)
  }
  var sight: Witness.Sight {
    Witness.Sight(
      now: now, awake: awake, elapsed: now - bootedAt, wall: now + wallShift, boots: boots, hostChanged: lastHostChange,
      isHostWell: mux == .there && (disk == .fine || disk == .full) && hasDescriptors && process != nil,
      stalledUntil: stalledUntil)
  }
  var stamp: LaunchStamp { LaunchStamp(wall: time.wall, boot: boot, elapsed: time.elapsed) }

  /// Runs to the end, or to the first promise that is broken.
  ///
  /// - Returns: the broken promise.
  public mutating func run() -> Violation? {
    while witness.violation == nil {
      let worldNext = world.next ?? .seconds(1 << 40)
      // While it gets no time, nothing reaches the supervisor.
      let supervisorNext = supervisor.next.map { max($0, stalledUntil) + slept } ?? .seconds(1 << 40)
      let next = min(worldNext, supervisorNext)
      guard next <= setting.length else { break }
      now = max(now, next)
      if worldNext <= supervisorNext {
        if let item = world.take() { happen(item) }
      } else if let item = supervisor.take() {
        reach(item)
      }
    }
    return witness.violation
  }

  // MARK: - What reaches the supervisor

  private mutating func reach(_ item: SupervisorItem) {
    switch item {
    case .answer(let phone, let token, let process):
      guard process == self.process, token == phones[phone].token, let command = phones[phone].asked else { return }
      phones[phone].asked = nil
      answer(command, phone)
    case .wake(let phone, let process):
      guard process == self.process, phones[phone].scheduledWake != nil else { return }
      guard let wake = fleet.wake(of: phones[phone].udid), wake <= awake else { return }
      phones[phone].scheduledWake = nil
      deliver(.tick, to: phone)
    case .fleetWake(let process):
      guard process == self.process else { return }
      fleetWake = nil
      if let wake = fleet.wake, wake <= awake { deliver(.tick) } else { scheduleFleetWake() }
    case .event(let event, let process):
      guard process == self.process else { return }
      if case .body(let udid, let event) = event {
        guard let phone = index[udid] else { return }
        phones[phone].underway -= 1
        deliver(event, to: phone)
      } else {
        deliver(event)
      }
    case .lockNotice(let phone, let process):
      guard process == self.process else { return }
      phones[phone].underway -= 1
      guard phones[phone].isThere, mux == .there, phones[phone].session == nil else { return }
      let reading = phones[phone].lockReading
      deliver(.lockChanged(reading), to: phone)
    }
  }

  mutating func deliver(_ event: BodyEvent, to phone: Int) {
    guard phones[phone].isBody else { return }
    witness.told(event, phone, sight)
    let commands = fleet.handle(.body(phones[phone].udid, event), at: time)
    handled += 1
    if setting.keepsEvents { trace.append(Trace(at: now, phone: phone, what: .event(event, commands))) }
    told(by: event, phone)
    carryOut(commands)
    leapIfQuiet(phone)
    scheduleWakes(phone)
  }

  mutating func deliver(_ event: FleetEvent) {
    witness.fleetEvent(event, sight)
    let commands = fleet.handle(event, at: time)
    handled += 1
    told(by: nil, nil)
    carryOut(commands)
    switch event {
    case .muxConnected, .muxLost: for phone in phones.indices { scheduleWakes(phone) }
    case .body, .stored, .notStored, .recordBegunAnew, .tick: scheduleFleetWake()
    }
  }

  /// Rows that the event made.
  private mutating func told(by event: BodyEvent?, _ phone: Int?) {
    let rows = fleet.newRows
    if !rows.isEmpty, setting.keepsTrace {
      for row in rows { trace.append(Trace(at: now, phone: row.udid.flatMap { index[$0] }, what: .row(row))) }
    }
    guard let phone else { return }
    let udid = phones[phone].udid
    witness.after(
      event, phones[phone], outcome: fleet.outcome(of: udid), revivals: fleet.revivals(of: udid), rows, sight)
  }

  mutating func scheduleWakes(_ phone: Int) {
    scheduleFleetWake()
    guard let process, let wake = fleet.wake(of: phones[phone].udid), wake != phones[phone].scheduledWake else {
      return
    }
    phones[phone].scheduledWake = wake
    supervisor.put(.wake(phone, process: process), at: max(wake, awake))
  }

  private mutating func scheduleFleetWake() {
    guard let process, let wake = fleet.wake, fleetWake.map({ wake < $0 }) ?? true else { return }
    fleetWake = wake
    supervisor.put(.fleetWake(process: process), at: max(wake, awake))
  }

  // MARK: - Leaps

  /// Goes over rounds in which nothing can happen: the watch says until when, the script and the plans say the rest.
  private mutating func leapIfQuiet(_ phone: Int) {
    guard setting.leaps, phones[phone].planned == 0, phones[phone].underway == 0, phones[phone].isBody else { return }
    guard let quiet = fleet.quiet(of: phones[phone].udid, at: time), let due = fleet.wake(of: phones[phone].udid)
    else { return }
    let began = quiet.began + slept
    guard began > phones[phone].changed, began > lastHostChange else { return }
    var limit = quiet.until
    let lines = phoneLines[phone]
    if phones[phone].nextLine < lines.count { limit = min(limit, lines[phones[phone].nextLine].at - slept) }
    if nextHostLine < hostLines.count { limit = min(limit, hostLines[nextHostLine].at - slept) }
    limit = min(limit, setting.length - slept)
    let rounds = Int((limit - due).inNanoseconds / quiet.period.inNanoseconds)
    guard rounds > 0 else { return }
    fleet.leap(phones[phone].udid, rounds: rounds, of: quiet.period)
    witness.leapt(phone, quiet.period * rounds)
    leapt += rounds
  }
}
