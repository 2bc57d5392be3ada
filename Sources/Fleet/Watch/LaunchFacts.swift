/// What a launch depends on, as it was read; nil where it could not be.
public struct LaunchFacts: Equatable, Sendable {
  public enum App: Equatable, Sendable {
    case missing
    /// The installed build, and whether the phone takes its signer for a trusted one (ProfileValidated).
    case installed(version: String?, build: String?, validated: Bool?)
  }
  public var ios: String?
  public var app: App?
  /// Whether the lookup shows a developer image.
  public var hasImage: Bool?
  /// The image that this host has for the phone: its identity.
  public var offeredImage: String?
  public var developerMode: Bool?
  /// This boot of the phone's.
  public var boot: String?
  /// The newest launch stamp that is stored, whoever stored it.
  public var stamp: LaunchStamp?

  public init() {}

  /// The app as it is installed, to tell whether it has changed; nil where that is not known.
  var build: String? {
    switch app {
    case .missing: "missing"
    case .installed(let version, let build, let validated):
      "\(version ?? "?") (\(build ?? "?")), \(validated.map { $0 ? "validated" : "not validated" } ?? "?")"
    case nil: nil
    }
  }
}

extension WatchMemory {
  /// A launch refused for a fact about the phone, and that fact when the launch was prepared.
  public struct Refusal: Equatable, Sendable {
    public var reason: OutcomeReason
    /// The app's build, or the phone's iOS, where the refusal stands on that.
    public var fact: String?
  }
}

extension WatchMemory.Refusal {
  private enum Fact { case installed, build, developerMode, image, ios }

  private static func fact(of reason: OutcomeReason) -> Fact? {
    switch reason {
    case .notInstalled: .installed
    case .notDebuggable, .appUntrusted: .build
    case .developerModeOff: .developerMode
    case .noDeveloperImage: .image
    case .notOnThisIOS: .ios
    case .crashLooping, .refused, .noAnswer, .badReply, .appExited, .passcode, .beforeFirstUnlock, .failed, .hands,
      .lockUnknown, .run, .person, .pending, .denied, .stale, .noRecord, .detached, .lockdownNotAnswering, .tls,
      .noUsbmuxd, .muxNotAnswering, .hub, .permission, .disk, .descriptors:
      nil
    }
  }

  /// nil where the reason is no fact about the phone, or the facts say otherwise.
  init?(_ reason: OutcomeReason, _ facts: LaunchFacts) {
    switch Self.fact(of: reason) {
    // The launch itself has looked, later than the facts were read.
    case .installed, .developerMode, .image:
      self.init(reason: reason, fact: nil)
      return
    case .build: self.init(reason: reason, fact: facts.build)
    case .ios: self.init(reason: reason, fact: facts.ios)
    case nil: return nil
    }
    guard stands(facts) else { return nil }
  }

  /// Whether the fact is as it was.
  ///
  /// What a launch looks at itself, before it sends anything, is taken for changed where it can't be read.
  func stands(_ facts: LaunchFacts) -> Bool {
    switch Self.fact(of: reason) {
    case .installed: facts.app == .missing
    case .build: facts.build == nil || facts.build == fact
    case .developerMode: facts.developerMode == false
    case .image: facts.hasImage == false
    case .ios: facts.ios != nil && facts.ios == fact
    case nil: false
    }
  }
}
