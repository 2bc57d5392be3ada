import DeviceBridge
import Fleet
import Transport
import Wire

/// fleet.yaml as a supervisor has read it: with the doors' tokens, and as rows that can be compared.
struct SuperviseFile: Sendable {
  let configuration: FleetConfiguration
  /// What no output may show.
  let mask: Mask
  /// By the path of its file.
  private let tokens: [String: Secret]
  private let rows: [String: String]

  /// - Throws: exit code 2 for anything that is wrong in the files.
  init(_ context: Context) throws(Complaint) {
    configuration = try Bench(context).configuration
    var tokens: [String: Secret] = [:]
    for door in [configuration.door] + (configuration.bodies ?? []).map(\.door) {
      guard let path = door.tokenFile, tokens[path] == nil else { continue }
      tokens[path] = try door.readToken()
    }
    self.tokens = tokens
    mask = Mask(Array(configuration.secrets.values) + Array(tokens.values))
    rows = Self.rows(of: configuration)
  }

  var token: @Sendable (DoorSettings) -> Secret? {
    { [tokens] door in door.tokenFile.flatMap { tokens[$0] } }
  }

  /// Where images come from; nil where none is mounted unasked.
  func images(in state: StateFolder) -> ImageFolder? {
    let images = configuration.images
    switch images.mount {
    case .never: return nil
    case .auto: return ImageFolder(path: images.folder ?? "\(state.path)/images", signing: images.signing.service)
    }
  }

  /// Every body that is launched by us needs an app to launch.
  func expectApp() throws(Complaint) {
    let apps = configuration.bodies?.map(\.app) ?? [configuration.app]
    if apps.contains(where: { $0.launcher == .auto && $0.bundle == nil }) { throw .noApp }
  }

  // MARK: - Changes

  private static func rows(of configuration: FleetConfiguration) -> [String: String] {
    var root: YAMLNode?
    if let file = configuration.file, let bytes = try? Files.host.read(file, YAMLDocument.byteLimit) {
      root = try? YAMLDocument.parse(bytes, file: file)
    }
    let rows = ConfigRows.rows(of: configuration, ConfigOrigins(file: configuration.file, root: root))
    return Dictionary(rows.map { ($0.key, $0.value.text) }) { $1 }
  }

  /// A clause for each thing that is another one now.
  func changes(from before: SuperviseFile) -> [String] {
    var changes: [String] = []
    let (old, new) = (before.titles, titles)
    for udid in new.keys.sorted(by: { $0.bare < $1.bare }) where old[udid] == nil {
      changes.append("\(new[udid] ?? "") is a body now")
    }
    for udid in old.keys.sorted(by: { $0.bare < $1.bare }) where new[udid] == nil {
      changes.append("\(old[udid] ?? "") is no body any more")
    }
    let come = changes.isEmpty ? [] : Set(new.filter { old[$0.key] == nil }.values)
    let gone = Set(old.filter { new[$0.key] == nil }.values)
    for key in Set(rows.keys).union(before.rows.keys).sorted() where rows[key] != before.rows[key] {
      let isOfBody = (Array(come) + gone).contains { key.hasPrefix("bodies.\($0).") }
      if isOfBody { continue }
      changes.append("\(key): \(before.rows[key] ?? "not set") → \(rows[key] ?? "not set")")
    }
    if tokens != before.tokens { changes.append("a door's token") }
    return changes
  }

  /// What only a restart brings about, in sentences.
  func waiting(from before: SuperviseFile) -> [String] {
    var keys: [String] = []
    if configuration.record != before.configuration.record { keys.append("record") }
    let (new, old) = (configuration.supervise, before.configuration.supervise)
    if new.listen != old.listen { keys.append("supervise.listen") }
    if new.tokenFile != old.tokenFile { keys.append("supervise.token-file") }
    if new.hosts != old.hosts { keys.append("supervise.hosts") }
    if new.pingURL != old.pingURL || new.pingEvery != old.pingEvery { keys.append("supervise.ping") }
    if new.onChange != old.onChange { keys.append("supervise.on-change") }
    guard !keys.isEmpty else { return [] }
    return [
      "fleetctl: \(keys.joined(separator: ", ")) holds from the next start on. "
        + "The supervisor has these open. Start it anew: systemctl restart fleetctl"
    ]
  }

  private var titles: [UDID: String] {
    Dictionary((configuration.bodies ?? []).map { ($0.udid, $0.name ?? $0.udid.description) }) { $1 }
  }
}
