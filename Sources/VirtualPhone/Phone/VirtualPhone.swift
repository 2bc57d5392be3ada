import Transport
import Wire

/// One virtual phone: who it is, how it is, what runs on it and what listens on its ports.
public final class VirtualPhone: Sendable {
  public let identity: PhoneIdentity
  public let preset: PhonePreset
  public let journal: Journal
  public let state: Guarded<PhoneState>
  public let ports = DevicePorts()
  public let notifications = NotificationBoard()
  let files = PhoneFiles()
  let log = SystemLog()
  let rules = Guarded(ServiceRules())
  /// Those that are open now.
  let tunnels = Guarded([PhoneTunnel]())
  /// Serves the connections in them.
  let crew = Crew(name: "tunnel service")
  public let app: KioskApp
  public let hands: HandsDriver
  let clock: any PhoneClock
  /// The mux that the phone's cable leads to.
  let bus: MuxBus
  private let server = Guarded(LockdownServer?.none)
  /// What is due at a moment of phone time; a fleet's phones share one.
  let timers: PhoneTimers
  /// What is due to happen to the phone by itself.
  let plans = Guarded([Plan: PhoneTimers.Ticket]())

  enum Plan: CaseIterable, Sendable {
    /// The cable is pulled or plugged in.
    case cable
    /// Somebody taps Trust.
    case tap
    /// Somebody enters the passcode.
    case unlock
  }

  public var udid: UDID { identity.udid }

  init(
    identity: PhoneIdentity, preset: PhonePreset, clock: any PhoneClock, journal: Journal, bus: MuxBus = MuxBus(),
    app settings: KioskApp.Settings = KioskApp.Settings(), timers: PhoneTimers? = nil
  ) {
    self.identity = identity
    self.preset = preset
    self.clock = clock
    self.journal = journal
    self.bus = bus
    let timers = timers ?? PhoneTimers(clock: clock)
    self.timers = timers
    var start = PhoneState(name: identity.name)
    // Phones whose launches need the developer image start with it, so that a launch works at once.
    start.developerImageMounted = preset.major < 17 || preset.isAtLeast(17, 4)
    let state = Guarded(start)
    self.state = state
    let surroundings = AppSurroundings(
      clock: clock, isLocked: { state.with { $0.locked } }, listen: { [ports] in ports.listen($0, $1) },
      close: { [ports] in ports.close($0) }, timers: timers, model: preset.marketingName,
      system: CrashReport.System(model: preset.productType, ios: preset.ios, build: preset.build), files: files,
      log: log,
      note: { [udid = identity.udid] in journal.record(udid, $0, $1) })
    app = KioskApp(settings, in: surroundings)
    hands = HandsDriver(in: surroundings)
  }

  /// Writes one line about this phone into the journal; never keys, records or tokens.
  func record(_ event: String, _ details: [String: JSON] = [:]) {
    journal.record(udid, event, details)
  }

  /// The phone's lockdownd, once the fleet has given it one.
  var lockdown: LockdownServer? { server.with { $0 } }

  func connect(_ lockdown: LockdownServer) { server.with { $0 = lockdown } }

  /// Ends all that runs or waits on the phone, for good.
  func end() {
    for kind in Plan.allCases { plan(kind, nil) }
    app.shutDown()
    hands.stop()
    ports.closeAll()
    crew.dismiss()
    server.with { $0 = nil }
  }
}
