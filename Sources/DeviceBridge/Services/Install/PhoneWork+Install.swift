import Wire

extension PhoneWork {
  private static let proxy = "com.apple.mobile.installation_proxy"
  /// One name for all: the next upload replaces what a broken one has left.
  private static let package = "PublicStaging/fleetctl.ipa"

  func install(_ path: String, _ report: ProgressReport) throws(PhoneError) -> InstallOutcome {
    let file = try LocalFile(path)
    guard try file.start(4) == Array("PK\u{3}\u{4}".utf8) else {
      throw .badRequest(detail: "\(path) is no package: it does not begin as an .ipa does")
    }
    let before = try userApps()
    let afc = AFCClient(try open("com.apple.afc"), udid)
    try afc.makeFolder("PublicStaging")
    do throws(PhoneError) {
      try afc.write(file, to: Self.package, report)
      let outcome = try installPackage(report)
      _ = try? afc.remove(Self.package)
      guard case .installed = outcome else { return outcome }
      return .installed(Self.change(before, try userApps()))
    } catch {
      if context.ended == nil { _ = try? afc.remove(Self.package) }
      throw error
    }
  }

  private func installPackage(_ report: ProgressReport) throws(PhoneError) -> InstallOutcome {
    let channel = try open(Self.proxy)
    // Checking a large package takes the phone longer than any other answer.
    channel.patience = nil
    try channel.send(["Command": "Install", "PackagePath": .string(Self.package), "ClientOptions": [:]])
    while true {
      let reply = try channel.receivePlist()
      if let token = reply["Error"]?.string {
        return .refused(
          token: PhoneText.clean(token), detail: PhoneText.clean(reply["ErrorDescription"]?.string ?? ""))
      }
      guard let status = reply["Status"]?.string else {
        throw .badReply(udid, step: "installing a build", detail: "neither status nor error")
      }
      if status == "Complete" { return .installed(nil) }
      report(.working(PhoneText.clean(status), percent: min(100, max(0, reply["PercentComplete"]?.int ?? 0))))
    }
  }

  // MARK: - What is installed

  /// Apps that were put on the phone, by identifier.
  private func userApps() throws(PhoneError) -> [String: InstalledApp] {
    let wanted = [
      "CFBundleIdentifier", "CFBundleShortVersionString", "CFBundleVersion", "CFBundleExecutable",
      "CFBundleDisplayName", "Path", "Container", "SequenceNumber",
    ]
    let channel = try open(Self.proxy)
    try channel.send([
      "Command": "Browse",
      "ClientOptions": ["ApplicationType": "User", "ReturnAttributes": .array(wanted.map(Plist.string))],
    ])
    var apps: [String: InstalledApp] = [:]
    // A phone holds some hundred apps, and a message several.
    for _ in 0..<10_000 {
      let reply = try channel.receivePlist()
      if let token = reply["Error"]?.string {
        throw .lockdown(udid, step: "listing apps", token: PhoneText.clean(token), code: 0)
      }
      for info in reply["CurrentList"]?.array ?? [] {
        guard let info = info.dictionary, let bundle = info["CFBundleIdentifier"]?.string else { continue }
        apps[bundle] = InstalledApp(bundle: bundle, info: info)
      }
      if reply["Status"]?.string == "Complete" { return apps }
      guard reply["Status"] != nil else { break }
    }
    throw .badReply(udid, step: "listing apps", detail: "the list has no end")
  }

  /// The app that is new or was put in another place: each installation has a folder of its own.
  static func change(_ before: [String: InstalledApp], _ after: [String: InstalledApp]) -> BuildChange? {
    let changed = after.values.filter { before[$0.bundle] != $0 }
    // Should several have changed at once, the store was at work too: the one with the highest number came last.
    let newest = changed.max {
      ($0.info["SequenceNumber"]?.int ?? 0, $0.bundle) < ($1.info["SequenceNumber"]?.int ?? 0, $1.bundle)
    }
    return newest.map { BuildChange(bundle: $0.bundle, old: before[$0.bundle], new: $0) }
  }
}
