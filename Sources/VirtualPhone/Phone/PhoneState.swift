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
  public var trust = TrustAnswer.accept
  /// Hosts that the phone trusts, by HostID.
  var pairings: [String: Pairing] = [:]
  public var developerImageMounted = false
  /// Only asked for from iOS 16 on.
  public var developerMode = true
  public var battery = Battery()
  /// On the bus.
  public var attached = true
  /// The mux's number for it; a new one with every attach.
  public var deviceID: UInt32 = 0
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
