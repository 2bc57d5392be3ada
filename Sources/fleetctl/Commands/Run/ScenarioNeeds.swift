import Fleet
import Scenarios

extension Scenario {
  /// Whether this scenario is about an app that nothing names: it has to be launched or looked for, and the body's
  /// configuration has neither its bundle nor means of its own.
  func needsApp(on body: Body) -> Bool {
    guard body.app.bundle == nil else { return false }
    let steps = steps + recovers
    let states = needs.map(\.state) + steps.compactMap(\.arranged)
    return steps.contains(where: \.isAboutTheApp)
      || states.contains { state in
        switch state {
        case .inFront, .inBackground: body.arrange[.inFront] == nil
        case .appInstalled, .notRunning, .suspended, .listenerDead: true
        case .unlocked, .locked, .cameraBusy, .cameraStuck, .cameraGranted, .cameraDenied, .rebooted,
          .beforeFirstUnlock, .tokenConfigured:
          false
        }
      }
  }
}

extension Step {
  fileprivate var arranged: BodyState? { if case .arrange(let state) = action { state } else { nil } }

  /// Whether it names the app to the phone.
  fileprivate var isAboutTheApp: Bool {
    switch action {
    case .launch, .revive, .app, .files: true
    case .arrange, .request, .start, .finish, .until, .lock, .door, .ready, .screen, .log, .wait, .person, .command:
      false
    }
  }
}
