import Wire

/// How a phone is reached.
public enum PhoneTransport: String, Sendable { case usb, network }

/// Whether the phone takes this host for a trusted one.
public enum Trust: String, Sendable, CaseIterable {
  case trusted, pending, denied, stale, unknown
  /// No pair record here: nobody has trusted yet.
  case untrusted
  case lockedBeforeFirstUnlock = "locked-before-first-unlock"
}

/// The passcode lock. Unknown is never unlocked.
public enum LockState: String, Sendable, CaseIterable { case locked, unlocked, unknown }

/// A lock state and how it is known; `why` is a clause for people.
public struct LockReading: Equatable, Sendable {
  public var state: LockState
  public var why: String
  public init(state: LockState, why: String) {
    self.state = state
    self.why = why
  }
}

/// One phone as the mux lists it: all its entries folded into one.
public struct ListedPhone: Equatable, Sendable {
  /// In the mux's own spelling (hyphen added where it is missing).
  public var udid: UDID
  /// The serial exactly as the mux wrote it.
  public var serial: String
  /// The USB entry's number where there is one; the newest if there are several.
  public var deviceID: Int
  public var transport: PhoneTransport
  /// Also shown over the network.
  public var alsoNetwork: Bool
  public init(udid: UDID, serial: String, deviceID: Int, transport: PhoneTransport, alsoNetwork: Bool) {
    self.udid = udid
    self.serial = serial
    self.deviceID = deviceID
    self.transport = transport
    self.alsoNetwork = alsoNetwork
  }
}

/// What one visit to a phone found. Absent is nil; nothing is ever carried over from an earlier visit.
public struct PhoneFacts: Equatable, Sendable {
  public var deviceName: String?
  /// Hardware name such as `iPhone14,2`.
  public var model: String?
  /// Product version such as `16.7.2`.
  public var ios: String?
  public var trust: Trust = .unknown
  public var lock = LockReading(state: .unknown, why: "not asked")
  public var batteryPercent: Int?
  /// What kept the visit from being whole.
  public var error: PhoneError?
  public init() {}
}

/// An installed app as the installation proxy describes it.
public struct InstalledApp: Equatable, Sendable {
  public var bundle: String
  /// CFBundleShortVersionString.
  public var version: String?
  /// CFBundleVersion.
  public var build: String?
  /// Path and CFBundleExecutable, joined: what debugserver starts.
  public var executablePath: String?
  public var executable: String?
  public var container: String?
  public var displayName: String?
  /// The whole dictionary, for scenarios that look at keys.
  public var info: [String: Plist]
  public init(bundle: String, info: [String: Plist]) {
    self.bundle = bundle
    self.info = info
    version = info["CFBundleShortVersionString"]?.string
    build = info["CFBundleVersion"]?.string
    executable = info["CFBundleExecutable"]?.string
    container = info["Container"]?.string
    displayName = info["CFBundleDisplayName"]?.string
    if let path = info["Path"]?.string, let executable { executablePath = "\(path)/\(executable)" }
  }
}

/// What to launch and with what.
public struct LaunchRequest: Equatable, Sendable {
  public var bundle: String
  public var arguments: [String]
  /// In the order given; a name may stand once only.
  public var environment: [(name: String, value: String)]
  /// Ends a running one first.
  public var fresh: Bool
  /// The lock is read right before the start, and nothing is started unless it says unlocked.
  public var unlockedOnly = false
  /// What the app's door answers once the app is up: its answer shows that the app lives, before its first second is
  /// over. The deadline in it does not count.
  public var door: DoorRequest?
  public init(
    bundle: String, arguments: [String] = [], environment: [(name: String, value: String)] = [],
    fresh: Bool = false
  ) {
    self.bundle = bundle
    self.arguments = arguments
    self.environment = environment
    self.fresh = fresh
  }
  public static func == (left: LaunchRequest, right: LaunchRequest) -> Bool {
    left.bundle == right.bundle && left.arguments == right.arguments && left.fresh == right.fresh
      && left.unlockedOnly == right.unlockedOnly
      && left.environment.elementsEqual(right.environment, by: ==)
  }
}
