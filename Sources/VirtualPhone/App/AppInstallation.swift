import Transport
import Wire

/// Builds that come and go.
extension KioskApp {
  /// Installs the kiosk app's build, over one that is there; a running one is ended.
  public func install(version: String = "3.2.0", build: String = "412") {
    install { [settings] in .kiosk(bundle: settings.bundle, version: version, build: build, generation: $0) }
  }

  /// Installs an app over an old build of it; a running one is ended, and the data of the old one stays.
  ///
  /// - Parameter make: the app as it is to be; it is given how often something has been installed.
  func install(_ make: (_ generation: Int) -> InstalledApp) {
    model.with { model in
      model.installations += 1
      let app = make(model.installations)
      if let process = model.processes[app.bundle] { end(process, .signal(9), in: &model) }
      model.installed[app.bundle] = app
      if model.containers[app.bundle] == nil { model.containers[app.bundle] = Guarded(.container(of: app.bundle)) }
      surroundings.log.write("installd", 62, "Installed \(app.bundle) \(app.version) (\(app.build))")
    }
  }

  /// What the next installation is given.
  var nextGeneration: Int { model.with { $0.installations + 1 } }

  /// - Returns: false when the kiosk app is not installed.
  @discardableResult
  public func uninstall() -> Bool { uninstall(settings.bundle) }

  /// Removes an app and its data.
  ///
  /// - Returns: false when it is not installed.
  func uninstall(_ bundle: String) -> Bool {
    model.with { model in
      if let process = model.processes[bundle] { end(process, .signal(9), in: &model) }
      model.containers[bundle] = nil
      surroundings.log.write("installd", 62, "Uninstalled \(bundle)")
      return model.installed.removeValue(forKey: bundle) != nil
    }
  }
}

extension FileTree {
  /// The data folder of an app that has just been installed.
  static func container(of bundle: String) -> FileTree {
    var tree = FileTree(bytes: 32 << 20, entries: 5_000)
    for folder in ["Documents", "Library/Caches", "Library/Preferences", "SystemData", "tmp"] {
      try? tree.makeFolder(folder)
    }
    let owner: Plist = ["MCMMetadataIdentifier": .string(bundle)]
    try? tree.put("/.com.apple.mobile_container_manager.metadata.plist", owner.binary)
    return tree
  }
}
