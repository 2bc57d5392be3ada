/// What `listapps` is asked for. Every key is written: newer developer images refuse a request that lacks one.
public struct AppListInput: Equatable, Sendable {
  public var removable: Bool
  public var builtIn: Bool
  public var hidden: Bool
  public var `internal`: Bool
  public var clips: Bool

  public init(
    removable: Bool = true, builtIn: Bool = false, hidden: Bool = false, internal: Bool = false, clips: Bool = false
  ) {
    self.removable = removable
    self.builtIn = builtIn
    self.hidden = hidden
    self.internal = `internal`
    self.clips = clips
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    self.init(
      removable: try body.flag("includeRemovableApps"), builtIn: try body.flag("includeDefaultApps"),
      hidden: try body.flag("includeHiddenApps"), internal: try body.flag("includeInternalApps"),
      clips: try body.flag("includeAppClips"))
  }

  public var body: XPCValue {
    [
      "includeRemovableApps": .bool(removable), "includeDefaultApps": .bool(builtIn),
      "includeHiddenApps": .bool(hidden), "includeInternalApps": .bool(`internal`), "includeAppClips": .bool(clips),
      "requireContainerAccess": false, "includeAppGroupIdentifiers": false, "includeContainerPaths": false,
    ]
  }
}

/// One app of a phone's list.
public struct AppEntry: Equatable, Sendable {
  public var bundle: String
  public var name: String
  /// The bundle's folder, which begins the executable's path of its process.
  public var path: String
  public var version: String?
  public var build: String?
  public var isRemovable: Bool
  public var isDeveloperApp: Bool

  public init(
    bundle: String, name: String, path: String, version: String? = nil, build: String? = nil, isRemovable: Bool = true,
    isDeveloperApp: Bool = false
  ) {
    self.bundle = bundle
    self.name = name
    self.path = path
    self.version = version
    self.build = build
    self.isRemovable = isRemovable
    self.isDeveloperApp = isDeveloperApp
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    self.init(
      bundle: try body.text("bundleIdentifier"), name: body["name"]?.string ?? "", path: try body.text("path"),
      version: body["version"]?.string, build: body["bundleVersion"]?.string,
      isRemovable: body["isRemovable"]?.bool ?? false, isDeveloperApp: body["isDeveloperApp"]?.bool ?? false)
  }

  public var body: XPCValue {
    var entries: [String: XPCValue] = [
      "bundleIdentifier": .string(bundle), "name": .string(name), "path": .string(path),
      "isRemovable": .bool(isRemovable), "isDeveloperApp": .bool(isDeveloperApp), "isFirstParty": .bool(!isRemovable),
      "isInternal": false, "isHidden": false, "isAppClip": false,
    ]
    if let version { entries["version"] = .string(version) }
    if let build { entries["bundleVersion"] = .string(build) }
    return .dictionary(entries)
  }
}
