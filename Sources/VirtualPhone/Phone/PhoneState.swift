import Wire

/// Everything about a virtual phone that can change, the app aside.
public struct PhoneState: Sendable {
  public var name: String
  /// Whether a passcode is configured at all; without one the phone never asks for it.
  public var passcodeSet = true
  /// What lockdown calls PasswordProtected: the passcode is being asked for now.
  public var locked = false
  /// False between a reboot and the first unlock.
  public var unlockedSinceBoot = true
  /// How StartSession goes until then.
  public var beforeFirstUnlock = BeforeFirstUnlock.passwordProtected
  public var trust = TrustAnswer.accept
  /// How many more Pair requests meet the trust dialog before somebody taps Trust; nil: nobody does.
  var pendingAnswersLeft: Int?
  /// Hosts that the phone trusts, by HostID.
  var pairings: [String: Pairing] = [:]
  public var developerImageMounted = false
  var personalization = Personalization()
  /// Only asked for from iOS 16 on.
  public var developerMode = true
  public var battery = Battery()
  /// On the bus.
  public var attached = true
  /// The mux's number for it; a new one with every attach.
  public var deviceID: UInt32 = 0
  /// How the mux lists it.
  public var listing = MuxListing()
  /// What somebody has put in place of lockdown's own values.
  var overrides: [LockdownName: LockdownOverride] = [:]
  var lockdownFaults: [LockdownFault] = []
  /// Handshakes that go wrong.
  var tlsFaults: [TLSFault] = []
  var serviceFaults: [ServiceFault] = []
  var debugServerForm = DebugServerForm.both
  /// Connections that break off.
  var cuts: [PortCut] = []
  /// How long the phone lets the mux wait.
  var connectDelay: ConnectDelay?
  /// New with every boot.
  var bootSession = Fresh.uuid()
  /// Phone time of the last boot.
  public var bootedAt: Duration = .zero

  public init(name: String) { self.name = name }

  /// How the phone answers a host that asks to be trusted.
  public enum TrustAnswer: Equatable, Sendable {
    case accept
    /// The dialog is showing and nobody has tapped.
    case pending
    case deny
  }

  /// What phones are reported to say to a trusted host between boot and first unlock.
  public enum BeforeFirstUnlock: String, CaseIterable, Sendable {
    /// StartSession answers PasswordProtected.
    case passwordProtected = "password-protected"
    /// StartSession answers InvalidHostID, as if the host were forgotten.
    case invalidHostID = "invalid-host-id"
    /// The session opens, and no service starts.
    case sessionOnly = "session-only"
  }

  public struct Battery: Equatable, Sendable {
    public var percent = 87
    public var charging = true
    /// Degrees Celsius.
    public var temperature = 29.4
    public var cycles = 112

    public init() {}
  }
}

/// One trusted host: its certificates in DER, as they are compared in the TLS handshake.
struct Pairing: Equatable, Sendable {
  var rootCertificate: [UInt8]
  var hostCertificate: [UInt8]
  /// PEM, made by the host over the phone's own key; the phone presents it.
  var deviceCertificate: [UInt8]
  var escrowBag: [UInt8]
}
