import Fleet

/// What has to hold again once something that was arranged is undone.
public enum Rest: Equatable, Sendable {
  case state(BodyState)
  /// No capture runs.
  case cameraFree
  /// The camera calls back again; no phone tells that.
  case cameraWorks

  private static let cameraIsFree = "camera-free"
  private static let cameraIsWorking = "camera-works"

  /// As notes keep it and sentences say it.
  public var text: String {
    switch self {
    case .state(let state): state.rawValue
    case .cameraFree: Self.cameraIsFree
    case .cameraWorks: Self.cameraIsWorking
    }
  }

  public init?(text: String) {
    switch text {
    case Self.cameraIsFree: self = .cameraFree
    case Self.cameraIsWorking: self = .cameraWorks
    default:
      guard let state = BodyState(rawValue: text) else { return nil }
      self = .state(state)
    }
  }
}

extension BodyState {
  /// What undoes a state that takes the kiosk app out of service, the last first; nothing for states that a kiosk rests in.
  var waysBack: [Rest] {
    switch self {
    case .locked: [.state(.unlocked)]
    case .inBackground, .notRunning, .suspended, .listenerDead: [.state(.inFront)]
    case .cameraBusy: [.cameraFree]
    case .cameraStuck: [.cameraWorks]
    // iOS ends an app whose grant is changed; a phone that has started anew runs none.
    case .cameraDenied: [.state(.inFront), .state(.cameraGranted)]
    case .rebooted, .beforeFirstUnlock: [.state(.inFront), .state(.unlocked)]
    case .unlocked, .inFront, .cameraGranted, .appInstalled, .tokenConfigured: []
    }
  }

  /// How long a phone may take to show what a means claims, on the scenario's clock.
  var readBackLimit: Duration {
    switch self {
    // It is off the bus meanwhile.
    case .rebooted, .beforeFirstUnlock: .seconds(180)
    case .unlocked, .locked, .inFront, .inBackground, .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck,
      .cameraGranted, .cameraDenied, .appInstalled, .tokenConfigured:
      .seconds(20)
    }
  }
}
