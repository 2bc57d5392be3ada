import Transport
import Wire

/// What can be made to happen to the kiosk app, its camera and its door.
enum AppActions {
  static let all =
    lifecycle + BuildActions.all + RuleActions.all + listener + CameraActions.all + DoorActions.all + hands

  private static let lifecycle: [PhoneAction] = [
    action(
      "launch-app", "the app is started or brought in front, as by a tap; fresh=yes ends a running one first", ["fresh"]
    ) {
      phone, values throws(ActionError) in
      let fresh = try values.flag("fresh", else: false)
      if case .refused(let reason) = phone.app.launch(phone.app.settings.bundle, fresh: fresh) {
        throw ActionError("The app was not started: the phone says \(reason). \(hint(reason))")
      }
    },
    action("foreground", "the app comes to the front; a suspended one goes on, one that does not run is started", []) {
      phone, _ throws(ActionError) in
      if phone.state.with({ $0.locked }) {
        throw ActionError("The app did not come to the front. The phone is locked. Try: unlock.")
      }
      if case .refused(let reason) = phone.app.launch() {
        throw ActionError("The app did not come to the front: the phone says \(reason). \(hint(reason))")
      }
    },
    action(
      "background", "another app comes in front: app=BUNDLE or app=home; iOS suspends the kiosk app after for=3m",
      ["app", "for"]
    ) { phone, values throws(ActionError) in
      let bundle = values["app"] ?? "com.apple.Preferences"
      let time = try values.duration("for") ?? KioskApp.backgroundTime
      if bundle != "home", phone.app.installed(bundle) == nil {
        throw ActionError(
          "There is no app \(bundle) on the phone. It may be misspelt. Try: background app=com.apple.Preferences.")
      }
      phone.app.sendToBackground(behind: bundle == "home" ? nil : bundle, for: time)
    },
    action("kill-app", "the app's process ends as by SIGKILL; nothing starts it again", []) {
      phone, _ throws(ActionError) in
      try needRunning(phone)
      phone.app.kill()
    },
    action("suspend", "the app's process stops: its door accepts and never answers", []) {
      phone, _ throws(ActionError) in
      try needRunning(phone)
      phone.app.suspend()
    },
    action("resume", "the stopped process goes on", []) { phone, _ throws(ActionError) in
      try needRunning(phone)
      phone.app.resume()
    },
    action(
      "locked-launch", "what a locked phone does with a launch: mode=refuse answers Locked, mode=accept lets it wait",
      ["mode"]
    ) { phone, values throws(ActionError) in
      let mode = try values.choice("mode", LockedLaunch.self, else: .refuse)
      phone.app.model.with { $0.lockedLaunch = mode }
    },
    action(
      "launch-fault",
      "launches through the debugger go wrong: kind=\(LaunchFault.kinds.joined(separator: "|")), or text=WORDS of the "
        + "phone's own; form=plain|hex, how refusals are written; app=BUNDLE for another app; kind=none ends it",
      ["kind", "text", "form", "app"]
    ) { phone, values throws(ActionError) in
      let bundle = values["app"] ?? phone.app.settings.bundle
      let kind = try values.word("kind", of: LaunchFault.kinds, else: values["text"] == nil ? "internal" : "text")
      let isHex = try values.word("form", of: ["plain", "hex"], else: "plain") == "hex"
      let fault = LaunchFault(kind: kind, text: values["text"] ?? "", bundle: bundle)
      phone.app.model.with {
        $0.launchFaults[bundle] = fault
        $0.hexRefusals = isHex
      }
    },
  ]

  private static let listener: [PhoneAction] = [
    action(
      "kill-listener",
      "iOS takes the door's listener away: how=silently leaves it to the app's own check (40 to 60 s), how=noticed tells "
        + "the app",
      ["how"]
    ) { phone, values throws(ActionError) in
      let how = try values.word("how", of: ["silently", "noticed"], else: "silently")
      guard phone.app.loseListener(noticed: how == "noticed") else {
        throw ActionError("The listener was not taken away. It is not open. Try: open-listener.")
      }
    },
    action("open-listener", "the door's listener is open again at once", []) { phone, _ throws(ActionError) in
      try needRunning(phone)
      phone.app.model.with { phone.app.openListener(&$0, because: "the tester") }
    },
  ]

  private static let hands: [PhoneAction] = [
    action(
      "hands-on", "the hands' driver runs on device port 8100; mode=mute accepts and never answers", ["mode"]
    ) { phone, values throws(ActionError) in
      phone.hands.start(try values.choice("mode", HandsDriver.Mode.self, else: .answers))
    },
    action("hands-off", "the hands' driver ends", []) { phone, _ throws(ActionError) in phone.hands.stop() },
  ]

  static func action(
    _ name: String, _ summary: String, _ keys: [String],
    _ run: @escaping @Sendable (VirtualPhone, ActionValues) throws(ActionError) -> Void
  ) -> PhoneAction {
    PhoneAction(name: name, summary: summary, keys: keys) { phone, values throws(ActionError) in
      try run(phone, ActionValues(values))
    }
  }

  static func needRunning(_ phone: VirtualPhone) throws(ActionError) {
    guard phone.app.process(phone.app.settings.bundle) != nil else {
      throw ActionError("Nothing was done. The app does not run. Try: launch-app.")
    }
  }

  private static func hint(_ reason: String) -> String {
    switch reason {
    case "Locked": "It asks for its passcode. Try: unlock."
    case "NotFound": "The app is not installed. Try: install-app."
    default: "A fault may be set. Try: launch-fault kind=none."
    }
  }
}

extension ActionValues {
  /// One of an enumeration's words; `fallback` when the key is not given.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ type: Choice.Type, else fallback: Choice
  ) throws(ActionError) -> Choice {
    Choice(rawValue: try word(key, of: type.allCases.map(\.rawValue), else: fallback.rawValue)) ?? fallback
  }
}
