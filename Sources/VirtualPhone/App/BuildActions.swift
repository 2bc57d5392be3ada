import Transport
import Wire

/// What can be made to happen to the app's build, and the crashes that it leaves reports of.
enum BuildActions {
  static let all: [PhoneAction] = [
    AppActions.action(
      "install-app",
      "a build of the app is installed: version=3.2.0 build=412; a running one is ended; signing=development|store (a "
        + "store's build shows no container and takes no debugger), sharing=yes|no (its documents can be seen), "
        + "carries=KEY (a key of its Info dictionary that it should not have)",
      ["version", "build", "signing", "sharing", "carries"]
    ) {
      phone, values throws(ActionError) in
      let isFromStore = try values.word("signing", of: ["development", "store"], else: "development") == "store"
      let shares = try values.flag("sharing", else: false)
      let (version, build) = (values["version"] ?? "3.2.0", values["build"] ?? "412")
      let key = values["carries"]
      phone.app.install { generation in
        var app = InstalledApp.kiosk(
          bundle: phone.app.settings.bundle, version: version, build: build, generation: generation)
        if isFromStore { app.info["Entitlements"] = ["application-identifier": .string("ABCDE12345.\(app.bundle)")] }
        if shares { app.info["UIFileSharingEnabled"] = true }
        if let key { app.info[key] = .string("for everything") }
        return app
      }
      phone.notifications.post("com.apple.mobile.application_installed")
    },
    AppActions.action("uninstall-app", "the app is removed from the phone", []) { phone, _ throws(ActionError) in
      guard phone.app.uninstall() else {
        throw ActionError("The app was not removed. It is not installed. Try: install-app.")
      }
      phone.notifications.post("com.apple.mobile.application_uninstalled")
    },
    AppActions.action(
      "crash-app",
      "the app crashes and leaves a report: kind=\(CrashReport.Kind.allCases.map(\.rawValue).joined(separator: "|")) "
        + "(memory: the report waits for the crash report mover), symbols=yes|no (names of its functions)",
      ["kind", "symbols"]
    ) { phone, values throws(ActionError) in
      try AppActions.needRunning(phone)
      let kind = try values.choice("kind", CrashReport.Kind.self, else: .segfault)
      let hasSymbols = try values.flag("symbols", else: true)
      guard let process = phone.app.process(phone.app.settings.bundle) else { return }
      phone.app.crash(process, kind, hasSymbols: hasSymbols)
    },
    AppActions.action(
      "old-crash", "a report of an earlier crash lies on the phone: kind=… as for crash-app, age=2h, app=BUNDLE",
      ["kind", "age", "app"]
    ) { phone, values throws(ActionError) in
      let kind = try values.choice("kind", CrashReport.Kind.self, else: .segfault)
      let bundle = values["app"] ?? phone.app.settings.bundle
      let age = try values.duration("age") ?? .seconds(7200)
      guard let app = phone.app.installed(bundle) else {
        throw ActionError("There is no app \(bundle) on the phone. It may be misspelt. Try: old-crash, without app.")
      }
      phone.app.addOldReport(kind, of: app, age: age)
    },
  ]
}
