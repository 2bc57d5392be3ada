import DeviceBridge

/// Who brings the app to the front.
public enum Launcher: String, Sendable, CaseIterable {
  /// fleetctl, by whichever way the phone's iOS offers.
  case auto
  /// Single App Mode or MDM: fleetctl only waits for the door.
  case others = "none"
}

/// fleet.yaml's `app`.
public struct AppSettings: Equatable, Sendable {
  /// The kiosk app's bundle identifier; it has no default.
  public var bundle: String?
  public var launcher = Launcher.auto
  /// The app that is brought in front to put the kiosk app in the background.
  public var decoy = "com.apple.Preferences"
  public init() {}
}

/// fleet.yaml's `supervise`.
public struct SuperviseSettings: Equatable, Sendable {
  public var every = Duration.seconds(10)
  public var grace = Duration.seconds(300)
  public var spacing = Duration.seconds(300)
  public var settle = Duration.seconds(15)
  public var answerWithin = Duration.seconds(10)
  /// `HOST:PORT` of the status page; nil where it is not served.
  public var listen: String? = "127.0.0.1:8087"
  public var tokenFile: String?
  public var hosts: [String] = []
  public var pingURL: String?
  public var pingEvery = Duration.seconds(60)
  /// Run at each changed outcome; nil for nothing.
  public var onChange: [String]?
  public init() {}
}

/// fleet.yaml's `hands`: the driver that shows a person or a test to be using the phone.
public struct HandsSettings: Equatable, Sendable {
  /// WebDriverAgent's port on the phone; nil for `none`.
  public var port: UInt16? = 8100
  public init() {}
}

/// Who signs a personalised developer image.
public enum ImageSigning: Equatable, Sendable {
  case apple
  /// Stays off the network.
  case offline
  case address(String)

  /// Whom to ask; nil for nobody.
  public var service: SigningService? {
    switch self {
    case .apple: .apple
    case .offline: nil
    case .address(let text): SigningService(text)
    }
  }
}

/// Whether a missing developer image is mounted without being asked.
public enum ImageMounting: String, Sendable, CaseIterable { case never, auto }

/// fleet.yaml's `images`.
public struct ImageSettings: Equatable, Sendable {
  /// nil: `images` in the state folder.
  public var folder: String?
  public var signing = ImageSigning.apple
  public var mount = ImageMounting.never
  public init() {}
}

/// fleet.yaml's `record`.
public struct RecordSettings: Equatable, Sendable {
  /// nil: `fleet.sqlite` in the state folder.
  public var sqlite: String?
  public var keep = Duration.seconds(400 * 86_400)
  public init() {}
}

/// Something that a lab does to a phone: a command or a hook, a person, or both.
public struct LabDeed: Equatable, Sendable {
  /// The program and its arguments; `{udid}`, `{name}`, `{ios}` and `{scenario}` are filled in.
  public var command: [String]?
  /// A hook that a test build of the app offers: `METHOD PATH` at the door.
  public var request: String?
  /// What the operator is asked to do, in an attended run.
  public var operatorText: String?
  /// How long the command, the request or the operator may take.
  public var deadline: Duration?

  public init(
    command: [String]? = nil, request: String? = nil, operatorText: String? = nil, deadline: Duration? = nil
  ) {
    self.command = command
    self.request = request
    self.operatorText = operatorText
    self.deadline = deadline
  }
}

/// How this lab brings a phone into one state: what fleet.yaml's `arrange` names for it.
public struct ArrangeMeans: Equatable, Sendable {
  public var deed: LabDeed
  /// How it takes the state back, where that is not simply what `arrange` names for the state it goes back to.
  public var undo: LabDeed?

  public var command: [String]? { deed.command }
  public var request: String? { deed.request }
  public var operatorText: String? { deed.operatorText }
  public var deadline: Duration? { deed.deadline }

  public init(
    command: [String]? = nil, request: String? = nil, operatorText: String? = nil, deadline: Duration? = nil,
    undo: LabDeed? = nil
  ) {
    deed = LabDeed(command: command, request: request, operatorText: operatorText, deadline: deadline)
    self.undo = undo
  }
}
