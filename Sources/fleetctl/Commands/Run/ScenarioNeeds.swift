import Fleet
import Scenarios

extension Scenario {
  /// Whether this scenario is about an app that nothing names: it has to be launched or looked for, and the body's
  /// configuration has neither its bundle nor means of its own.
  func needsApp(on body: Body) -> Bool {
    guard body.app.bundle == nil else { return false }
    let states = needs.map(\.state) + steps.compactMap(\.arranged)
    return steps.contains(where: \.isLaunch)
      || states.contains { state in
        switch state {
        case .inFront, .inBackground: body.arrange[.inFront] == nil
        case .appInstalled: true
        case .unlocked, .locked, .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraGranted,
          .cameraDenied, .rebooted, .beforeFirstUnlock, .tokenConfigured:
          false
        }
      }
  }
}

extension Step {
  fileprivate var arranged: BodyState? { if case .arrange(let state) = action { state } else { nil } }
  fileprivate var isLaunch: Bool { if case .launch = action { true } else { false } }
}
