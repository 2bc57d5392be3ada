import Wire

/// installation_proxy: what is installed, with the facts of each app's Info.plist.
struct InstallationProxy: DeviceService {
  let names = ["com.apple.mobile.installation_proxy"]
  let needs = ServiceNeeds()

  /// Apps in one message of a Browse.
  private static let batch = 5

  func serve(_ connection: ServiceConnection) {
    while let request = connection.receive() {
      let options = request["ClientOptions"]
      switch request["Command"]?.string {
      case "Lookup": lookup(connection, options)
      case "Browse": browse(connection, options)
      case "CheckCapabilitiesMatch":
        connection.send(["LookupResult": ["CapabilitiesMatch": true], "Status": "Complete"])
      case "Uninstall": uninstall(connection, request["ApplicationIdentifier"]?.string)
      case "Install", "Upgrade":
        guard install(connection, request["PackagePath"]?.string ?? "") else { return }
      case let command:
        refuse(connection, "APIInternalError", "Unknown command \(command ?? "")", 0xE800_0003)
      }
    }
  }

  private func lookup(_ connection: ServiceConnection, _ options: Plist?) {
    var found = selected(connection, options)
    if let wanted = options?["BundleIDs"]?.array?.compactMap(\.string) {
      found = found.filter { wanted.contains($0.bundle) }
    }
    let result = found.map { ($0.bundle, attributes(of: $0, options)) }
    connection.send([
      "LookupResult": .dictionary(Dictionary(result, uniquingKeysWith: { _, last in last })), "Status": "Complete",
    ])
  }

  private func browse(_ connection: ServiceConnection, _ options: Plist?) {
    let found = selected(connection, options)
    for start in stride(from: 0, to: found.count, by: Self.batch) {
      let part = found[start..<min(start + Self.batch, found.count)]
      connection.send([
        "CurrentAmount": .integer(Int64(part.count)), "CurrentIndex": .integer(Int64(start)),
        "CurrentList": .array(part.map { attributes(of: $0, options) }), "Status": "BrowsingApplications",
        "Total": .integer(Int64(found.count)),
      ])
    }
    connection.send(["Status": "Complete"])
  }

  private func selected(_ connection: ServiceConnection, _ options: Plist?) -> [InstalledApp] {
    let type = options?["ApplicationType"]?.string ?? "Any"
    return connection.phone.app.allInstalled.filter { type == "Any" || $0.kind.rawValue == type }
  }

  private func attributes(of app: InstalledApp, _ options: Plist?) -> Plist {
    var attributes = app.attributes
    // The two sizes are dear on a real phone and only given to those who ask.
    if let wanted = options?["ReturnAttributes"]?.array?.compactMap(\.string) {
      attributes["StaticDiskUsage"] = 4_194_304
      attributes["DynamicDiskUsage"] = 65_536
      attributes = attributes.filter { wanted.contains($0.key) }
    }
    return .dictionary(attributes)
  }

  private func uninstall(_ connection: ServiceConnection, _ bundle: String?) {
    let phone = connection.phone
    guard let bundle else {
      return refuse(connection, "MissingAttributeValue", "ApplicationIdentifier is missing", 0xE800_0008)
    }
    let app = phone.app.installed(bundle)
    guard app?.kind != .system else {
      return refuse(connection, "UninstallProhibited", "\(bundle.prefix(256)) cannot be removed", 0xE800_8018)
    }
    phone.record(
      "app-uninstalled", ["bundle": .string(String(bundle.prefix(256))), "was_installed": .boolean(app != nil)])
    connection.send(["PercentComplete": 50, "Status": "RemovingApplication"])
    // An app that is not there is as good as removed.
    let removed = phone.app.uninstall(bundle)
    connection.send(["Status": "Complete"])
    if removed { phone.notifications.post("com.apple.mobile.application_uninstalled") }
  }

  func refuse(_ connection: ServiceConnection, _ error: String, _ description: String, _ detail: Int64) {
    connection.send([
      "Error": .string(error), "ErrorDescription": .string(description), "ErrorDetail": .integer(detail),
    ])
  }
}
