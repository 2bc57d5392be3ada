import Fleet
import Wire

/// fleet.yaml's values as rows, in the file's order.
enum ConfigRows {
  private typealias Setting = (path: [String], value: ConfigValue)

  static func rows(of configuration: FleetConfiguration, _ origins: ConfigOrigins) -> [ConfigRow] {
    let own =
      shared(
        configuration.app, configuration.door, configuration.supervise, configuration.hands, configuration.arrange)
      + images(configuration.images) + record(configuration.record)
      + configuration.secrets.keys.sorted().map { (["secrets", $0], .secret) }
    let rows = own.map { setting in
      ConfigRow(
        key: setting.path.joined(separator: "."), value: setting.value, origin: origins.origin(of: setting.path))
    }
    guard let bodies = configuration.bodies else {
      return rows + [
        ConfigRow(key: "bodies", value: .text("every attached phone"), origin: origins.origin(of: ["bodies"]))
      ]
    }
    return rows + zip(bodies, origins.bodies).flatMap { entryRows(of: $0, at: $1, origins) }
  }

  /// What one body's entry says itself.
  private static func entryRows(of entry: BodyEntry, at node: YAMLNode, _ origins: ConfigOrigins) -> [ConfigRow] {
    let about: [Setting] = [
      (["udid"], .text(entry.udid.description)), (["name"], optional(entry.name)), (["tags"], .list(entry.tags)),
      (["out-of-service", "reason"], optional(entry.outOfService?.reason)),
      (["out-of-service", "until"], optional(entry.outOfService?.until?.description)),
    ]
    let settings = about + shared(entry.app, entry.door, entry.supervise, entry.hands, entry.arrange)
    return settings.compactMap { setting in
      guard let origin = origins.origin(of: setting.path, in: node) else { return nil }
      let key = ["bodies", entry.name ?? entry.udid.description] + setting.path
      return ConfigRow(key: key.joined(separator: "."), value: setting.value, origin: origin)
    }
  }

  /// The sections that stand for the whole file and that a body's entry may override.
  private static func shared(
    _ app: AppSettings, _ door: DoorSettings, _ supervise: SuperviseSettings, _ hands: HandsSettings,
    _ arrange: [BodyState: ArrangeMeans]
  ) -> [Setting] {
    var settings: [Setting] = [
      (["app", "bundle"], optional(app.bundle)), (["app", "launcher"], .text(app.launcher.rawValue)),
      (["app", "decoy"], .text(app.decoy)),
      (["door", "port"], .number(Int(door.port))), (["door", "token-file"], optional(door.tokenFile)),
    ]
    settings += DoorRow.allCases.map { (["door", $0.rawValue], optional(door.forms[$0]?.description)) }
    settings += [
      (["supervise", "every"], .time(supervise.every)), (["supervise", "grace"], .time(supervise.grace)),
      (["supervise", "spacing"], .time(supervise.spacing)), (["supervise", "settle"], .time(supervise.settle)),
      (["supervise", "answer-within"], .time(supervise.answerWithin)),
      (["supervise", "listen"], optional(supervise.listen)),
      (["supervise", "token-file"], optional(supervise.tokenFile)), (["supervise", "hosts"], .list(supervise.hosts)),
      (["supervise", "ping", "url"], optional(supervise.pingURL)),
      (["supervise", "ping", "every"], .time(supervise.pingEvery)),
      (["supervise", "on-change", "command"], supervise.onChange.map { .list($0) } ?? .none),
      (["hands", "port"], hands.port.map { .number(Int($0)) } ?? .none),
    ]
    for state in BodyState.allCases {
      guard let means = arrange[state] else { continue }
      let path = ["arrange", state.rawValue]
      settings += deed(means.deed, at: path)
      if let undo = means.undo { settings += deed(undo, at: path + ["undo"]) }
    }
    return settings
  }

  private static func deed(_ deed: LabDeed, at path: [String]) -> [Setting] {
    var settings: [Setting] = []
    if let command = deed.command { settings.append((path + ["command"], .list(command))) }
    if let request = deed.request { settings.append((path + ["request"], .text(request))) }
    if let text = deed.operatorText { settings.append((path + ["operator"], .text(text))) }
    if let deadline = deed.deadline { settings.append((path + ["deadline"], .time(deadline))) }
    return settings
  }

  private static func images(_ images: ImageSettings) -> [Setting] {
    let signing =
      switch images.signing {
      case .apple: "apple"
      case .offline: "none"
      case .address(let address): address
      }
    return [
      (["images", "folder"], .text(images.folder ?? "images in the state folder")),
      (["images", "signing"], .text(signing)), (["images", "mount"], .text(images.mount.rawValue)),
    ]
  }

  private static func record(_ record: RecordSettings) -> [Setting] {
    [
      (["record", "sqlite"], .text(record.sqlite ?? "fleet.sqlite in the state folder")),
      (["record", "keep"], .time(record.keep)),
    ]
  }

  private static func optional(_ text: String?) -> ConfigValue { text.map { .text($0) } ?? .none }
}
