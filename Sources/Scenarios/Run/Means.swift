import DeviceBridge
import Fleet
import Transport
import Wire

/// One way to bring a phone into a state, or out of it.
enum Means: Equatable, Sendable {
  /// fleet.yaml's command.
  case command([String], limit: Duration)
  /// fleet.yaml's request to a hook of a test build.
  case hook(RequestLine, limit: Duration)
  /// The bridge brings an app in front.
  case launch(bundle: String, fresh: Bool)
  /// The bridge stops the app's process, lets it go on, or ends it.
  case stop(bundle: String)
  case goOn(bundle: String)
  case end(bundle: String)
  /// A clip that is asked for and not waited for.
  case clip
  /// Somebody else brings it about, or it ends by itself.
  case patience
  /// The person beside the phones.
  case attendant(String, limit: Duration)

  var text: String {
    switch self {
    case .command(let argv, _): "the command '\(argv.first ?? "")'"
    case .hook(let line, _): "the app's hook \(line)"
    case .launch(let bundle, fresh: false): "launching \(bundle) over the cable"
    case .launch(let bundle, fresh: true): "launching \(bundle) afresh over the cable"
    case .stop(let bundle): "stopping \(bundle) over the cable"
    case .goOn(let bundle): "letting \(bundle) go on over the cable"
    case .end(let bundle): "ending \(bundle) over the cable"
    case .clip: "a clip"
    case .patience: "waiting"
    case .attendant: "the operator"
    }
  }

  var isAttendant: Bool { if case .attendant = self { true } else { false } }
}

extension Scene {
  /// What this phone has for a state: what fleet.yaml names, then the bridge, then the operator.
  func means(for state: BodyState) -> [Means] {
    let named = body.arrange[state]
    return means(of: named?.deed) + bridge(for: state)
      + attendant(named?.deed, else: Self.usualSentence(state))
  }

  /// What this phone has to take an arrangement back.
  func means(toUndo arrangement: Arrangement) -> [Means] {
    let state = arrangement.state
    // What is undone first is what fleet.yaml's `undo` is about.
    let undo = state.waysBack.last == arrangement.back ? body.arrange[state]?.undo : nil
    var means = means(of: undo)
    if state == .suspended, let bundle = body.app.bundle { means.append(.goOn(bundle: bundle)) }
    switch arrangement.back {
    case .state(let back):
      means += self.means(of: body.arrange[back]?.deed) + bridge(for: back)
      means += attendant(undo ?? body.arrange[back]?.deed, else: Self.usualSentence(back))
    case .cameraFree, .cameraWorks:
      if arrangement.back == .cameraFree, means.isEmpty { means.append(.patience) }
      if body.app.launcher == .auto, let bundle = body.app.bundle { means.append(.launch(bundle: bundle, fresh: true)) }
      means += attendant(undo, else: "Make the camera of {name} free again: end the kiosk app and start it anew")
    }
    return means
  }

  private func means(of deed: LabDeed?) -> [Means] {
    if let command = deed?.command { return [.command(command, limit: deed?.deadline ?? .seconds(60))] }
    guard let line = deed?.request.flatMap(RequestLine.init) else { return [] }
    return [.hook(line, limit: deed?.deadline ?? .seconds(10))]
  }

  private func attendant(_ deed: LabDeed?, else usual: String?) -> [Means] {
    guard attendant != nil, let sentence = deed?.operatorText ?? usual else { return [] }
    return [.attendant(sentence, limit: deed?.deadline ?? .seconds(600))]
  }

  private func bridge(for state: BodyState) -> [Means] {
    let bundle = body.app.bundle
    switch state {
    case .inFront:
      switch body.app.launcher {
      case .auto: return bundle.map { [.launch(bundle: $0, fresh: false)] } ?? []
      // Where somebody else brings it back, there is nothing to do but to wait.
      case .others: return body.arrange[.inFront] == nil ? [.patience] : []
      }
    case .inBackground: return body.app.launcher == .auto ? [.launch(bundle: body.app.decoy, fresh: false)] : []
    case .notRunning: return bundle.map { [.end(bundle: $0)] } ?? []
    case .suspended: return bundle.map { [.stop(bundle: $0)] } ?? []
    case .cameraBusy: return [.clip]
    case .unlocked, .locked, .listenerDead, .cameraStuck, .cameraGranted, .cameraDenied, .appInstalled, .rebooted,
      .beforeFirstUnlock, .tokenConfigured:
      return []
    }
  }

  private static func usualSentence(_ state: BodyState) -> String? {
    switch state {
    case .unlocked: "Unlock {name}"
    case .locked: "Lock {name} with its side button"
    case .inFront: "Bring the kiosk app on {name} to the front"
    case .inBackground: "Put the kiosk app on {name} in the background: open another app"
    case .notRunning: "End the kiosk app on {name}: swipe it away in the app switcher"
    case .cameraGranted: "Allow the kiosk app on {name} to use the camera, in Settings"
    case .cameraDenied: "Take the camera away from the kiosk app on {name}, in Settings"
    case .appInstalled: "Install the kiosk app on {name}"
    case .rebooted: "Restart {name}, and unlock it once"
    case .beforeFirstUnlock: "Restart {name}, and leave it at its passcode"
    case .suspended, .listenerDead, .cameraBusy, .cameraStuck, .tokenConfigured: nil
    }
  }
}
