import Transport
import Wire

/// Up to 512 virtual phones behind one usbmux socket, in this process.
public final class VirtualFleet: Sendable {
  public struct Options: Sendable {
    /// 1...512.
    public var phones = 4
    /// Versions of `PhonePreset`, given to the phones in turn.
    public var ios = PhonePreset.all.map(\.ios)
    /// Where the mux listens; a TCP port 0 lets the system choose.
    public var address: SocketAddress
    /// Path of the control socket; nil for none.
    public var control: String?
    /// How many times as fast as the host's the phones' own clocks run.
    public var timeScale = 1.0
    /// What `timeScale` may be.
    public static let timeScales = 0.01...10_000.0
    public var bundle = "com.example.kiosk"
    public var doorPort: UInt16 = 8127
    /// The door's bearer token; nil for an open door.
    public var token: String?
    /// False: the phones know no host, and the mux holds no pair record.
    public var trusted = true
    public var manners = MuxManners.plain
    /// Where a signing server for the phones' developer images listens; nil for none.
    public var signing: SocketAddress?

    public init(address: SocketAddress) { self.address = address }
  }

  /// As bound.
  public let address: SocketAddress
  public let phones: [VirtualPhone]
  public let journal: Journal
  /// Signs for `LabImage` and its like.
  public let signing: SigningServer?
  private let bus: MuxBus
  private let timers: PhoneTimers
  private let mux: MuxDaemon
  private let control: SocketServer?

  /// Starts the phones; the mux answers when this returns.
  ///
  /// - Throws: `VirtualFleetError`; nothing is left behind then.
  public init(_ options: Options) throws(VirtualFleetError) {
    let presets = try Self.presets(options)
    DescriptorLimit.raise()
    let keys = try Self.keys()
    let muxListener = try Self.listener(on: options.address, backlog: options.manners.backlog)
    let controlListener = try options.control.map { path throws(VirtualFleetError) in
      do throws(StreamError) { return try Listener(.unix(path: path), mode: 0o600) } catch {
        throw .control(path: path, error)
      }
    }
    signing = try options.signing.map { address throws(VirtualFleetError) in
      do throws(StreamError) { return try SigningServer(address) } catch { throw .signing(address, error) }
    }
    let clock = ScaledClock(scale: options.timeScale)
    let journal = Journal(clock: clock)
    let bus = MuxBus(manners: options.manners)
    let timers = PhoneTimers(clock: clock)
    let settings = KioskApp.Settings(bundle: options.bundle, doorPort: options.doorPort, token: options.token)
    phones = (0..<options.phones).map { index in
      let preset = presets[index % presets.count]
      return VirtualPhone(
        identity: PhoneIdentity(index: index, preset: preset), preset: preset, clock: clock, journal: journal,
        bus: bus, app: settings, timers: timers)
    }
    let contexts = TLSContexts(keys: keys)
    for phone in phones {
      let lockdown = LockdownServer(phone: phone, keys: keys, contexts: contexts)
      phone.connect(lockdown)
      lockdown.start()
      if options.trusted { lockdown.trustFleetHost() }
      bus.attach(phone)
    }
    self.journal = journal
    self.bus = bus
    self.timers = timers
    address = muxListener.address
    mux = MuxDaemon(on: muxListener, bus: bus, journal: journal, timers: timers, clock: clock)
    bus.connect(mux)
    let desk = FleetDesk(phones: phones, journal: journal)
    control = controlListener.map { listener in
      SocketServer("control", on: listener) { ControlConnection(socket: $0, desk: desk).serve() }
    }
  }

  deinit { stop() }

  /// Does one action to one phone, as `fleetctl virtual do` would.
  ///
  /// - Parameter phone: its name, its UDID in any spelling or an unambiguous start of it, or its number from 1.
  public func perform(
    _ action: String, on phone: String, _ values: [String: String] = [:]
  ) throws(ActionError) {
    try FleetDesk(phones: phones, journal: journal).perform(action, on: phone, values)
  }

  /// Ends every thread and connection and removes the sockets; done within a second. May be called twice.
  public func stop() {
    let deadline = Deadline.after(.seconds(1))
    timers.stop()
    journal.end()
    bus.end()
    for phone in phones { phone.end() }
    control?.stop(by: deadline)
    signing?.stop()
    mux.stop(by: deadline)
  }

  // MARK: - Starting

  private static func presets(_ options: Options) throws(VirtualFleetError) -> [PhonePreset] {
    guard (1...512).contains(options.phones) else { throw .phones(options.phones) }
    guard Options.timeScales.contains(options.timeScale) else { throw .timeScale(options.timeScale) }
    var presets: [PhonePreset] = []
    for version in options.ios {
      guard let preset = PhonePreset.named(version) else { throw .version(version) }
      presets.append(preset)
    }
    return presets.isEmpty ? PhonePreset.all : presets
  }

  private static func keys() throws(VirtualFleetError) -> FleetKeys {
    do throws(OpenSSLFailure) { return try FleetKeys.shared.get() } catch { throw .keys(error.text) }
  }

  private static func listener(
    on address: SocketAddress, backlog: Int32 = 256, mode: UInt32? = nil
  ) throws(VirtualFleetError) -> Listener {
    do throws(StreamError) {
      return try Listener(address, backlog: backlog, mode: mode)
    } catch {
      throw .socket(address, error)
    }
  }
}
