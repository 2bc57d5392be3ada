import Wire

/// One app as installation_proxy tells of it.
struct InstalledApp: Equatable, Sendable {
  enum Kind: String, Sendable {
    case user = "User"
    case system = "System"
  }

  let bundle: String
  let name: String
  let executable: String
  var version: String
  var build: String
  let kind: Kind
  /// The folder of the app on the phone, `….app`.
  let path: String
  /// The data folder; system apps show none.
  let container: String?
  /// Further keys of its Info.plist.
  var info: [String: Plist] = [:]

  /// The path that a launch names.
  var executablePath: String { "\(path)/\(executable)" }

  /// Whether a debugger may take it: builds from the store do not allow it.
  var isDebuggable: Bool {
    kind == .system || info["Entitlements"]?["get-task-allow"] == true
  }

  /// Whether a host may see its documents.
  var sharesDocuments: Bool { info["UIFileSharingEnabled"] == true }

  /// Everything that a lookup without ReturnAttributes gives.
  var attributes: [String: Plist] {
    var all = info
    all["ApplicationType"] = .string(kind.rawValue)
    all["CFBundleDisplayName"] = .string(name)
    all["CFBundleExecutable"] = .string(executable)
    all["CFBundleIdentifier"] = .string(bundle)
    all["CFBundleInfoDictionaryVersion"] = "6.0"
    all["CFBundleName"] = .string(name)
    all["CFBundlePackageType"] = "APPL"
    all["CFBundleShortVersionString"] = .string(version)
    all["CFBundleVersion"] = .string(build)
    all["IsAppClip"] = false
    all["IsUpgradeable"] = .boolean(kind == .user)
    all["Path"] = .string(path)
    all["UIDeviceFamily"] = [1]
    if let container {
      all["Container"] = .string(container)
      all["EnvironmentVariables"] = [
        "CFFIXED_USER_HOME": .string(container), "HOME": .string(container), "TMPDIR": .string("\(container)/tmp"),
      ]
      all["GroupContainers"] = [:]
    }
    return all
  }
}

extension InstalledApp {
  /// The kiosk app's build: no photo library, no background work, and a camera sentence that says nothing is kept.
  ///
  /// - Parameter generation: how often it has been installed; every installation gets new folders.
  static func kiosk(bundle: String, version: String, build: String, generation: Int) -> InstalledApp {
    let folder = folderName(for: "\(bundle) \(generation)")
    var app = InstalledApp(
      bundle: bundle, name: "Kiosk", executable: "Kiosk", version: version, build: build, kind: .user,
      path: "/private/var/containers/Bundle/Application/\(folder)/Kiosk.app",
      container: "/private/var/mobile/Containers/Data/Application/\(folderName(for: "\(bundle) \(generation) data"))")
    app.info = [
      "Entitlements": [
        "application-identifier": .string("ABCDE12345.\(bundle)"), "get-task-allow": true,
        "com.apple.developer.team-identifier": "ABCDE12345",
      ],
      "MinimumOSVersion": "15.0",
      "NSCameraUsageDescription": "Takes a picture when the harness asks for one. Nothing is kept on the device.",
      "NSLocationWhenInUseUsageDescription": "Writes the place into the picture that is being taken.",
      "NSMicrophoneUsageDescription": "Records the sound of a clip. Nothing is kept on the device.",
      "ProfileValidated": true,
      "SignerIdentity": "Apple Development: Example (ABCDE12345)",
      "UIRequiresFullScreen": true,
    ]
    return app
  }

  /// Apps that every phone has.
  static let system: [InstalledApp] = [
    ("com.apple.AppStore", "App Store", "AppStore"), ("com.apple.Maps", "Maps", "Maps"),
    ("com.apple.MobileSMS", "Messages", "MobileSMS"), ("com.apple.Preferences", "Settings", "Preferences"),
    ("com.apple.camera", "Camera", "Camera"), ("com.apple.mobilecal", "Calendar", "MobileCal"),
    ("com.apple.mobilesafari", "Safari", "MobileSafari"), ("com.apple.mobileslideshow", "Photos", "MobileSlideShow"),
  ].map { bundle, name, executable in
    InstalledApp(
      bundle: bundle, name: name, executable: executable, version: "1.0", build: "1", kind: .system,
      path: "/Applications/\(executable).app", container: nil)
  }

  /// A folder name in UUID form, always the same for the same text.
  static func folderName(for text: String) -> String {
    func hash(_ seed: UInt64) -> [UInt8] {
      let value = text.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
      return withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
    let digits = Array(Hex.encode(hash(0xCBF2_9CE4_8422_2325) + hash(0x8422_2325_CBF2_9CE4)))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}
