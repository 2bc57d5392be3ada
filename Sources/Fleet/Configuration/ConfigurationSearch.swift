extension FleetConfiguration {
  /// The largest fleet.yaml that is read.
  private static let byteLimit = YAMLDocument.byteLimit

  /// Reads fleet.yaml from where it is: `explicit` (--config), $FLEETCTL_CONFIG, ./fleet.yaml,
  /// $XDG_CONFIG_HOME/fleetctl/fleet.yaml, /etc/fleetctl/fleet.yaml. With none of them the defaults hold.
  ///
  /// - Throws: everything that is wrong in the file. A file that is named explicitly or by $FLEETCTL_CONFIG must be there.
  public static func find(
    explicit: String?, environment: [String: String], files: Files = .host
  ) throws(Problems) -> FleetConfiguration {
    if let explicit { return try load(explicit, files: files) }
    if let named = environment["FLEETCTL_CONFIG"], !named.isEmpty { return try load(named, files: files) }
    for path in usualPlaces(environment) where files.exists(path) { return try load(path, files: files) }
    return FleetConfiguration()
  }

  /// Where fleet.yaml is looked for when nothing names it, in this order.
  public static func usualPlaces(_ environment: [String: String]) -> [String] {
    var places = ["fleet.yaml"]
    if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
      places.append("\(home)/fleetctl/fleet.yaml")
    } else if let home = environment["HOME"], home.hasPrefix("/") {
      places.append("\(home)/.config/fleetctl/fleet.yaml")
    }
    return places + ["/etc/fleetctl/fleet.yaml"]
  }

  /// Reads one fleet.yaml.
  public static func load(_ path: String, files: Files = .host) throws(Problems) -> FleetConfiguration {
    let bytes: [UInt8]
    do {
      bytes = try files.read(path, byteLimit)
    } catch {
      throw Problems([error])
    }
    return try parse(bytes, file: path)
  }

  /// - Parameter file: the name that problems carry, and against whose folder relative paths are taken.
  public static func parse(_ bytes: [UInt8], file: String) throws(Problems) -> FleetConfiguration {
    let root = try YAMLDocument.parse(bytes, file: file)
    let reader = ConfigurationReader(file: file)
    let configuration = reader.configuration(root)
    try reader.reading.finish()
    return configuration
  }
}
