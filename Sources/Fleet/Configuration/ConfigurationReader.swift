import DeviceBridge
import Wire

/// fleet.yaml's nodes into `FleetConfiguration`.
struct ConfigurationReader {
  let reading: Reading
  let folder: String

  init(file: String) {
    reading = Reading(file: file)
    folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
  }

  static let keys = [
    "version", "app", "door", "supervise", "hands", "images", "record", "arrange", "secrets", "bodies",
  ]

  func configuration(_ root: YAMLNode) -> FleetConfiguration {
    var result = FleetConfiguration()
    result.file = reading.file
    guard let fields = reading.fields(root, of: "fleet.yaml", keys: Self.keys) else { return result }
    if let node = fields["version"], let version = reading.integer(node, in: 0...Int(Int32.max)), version != 1 {
      reading.wrong(node, "version \(version) of fleet.yaml is not known to this fleetctl; it reads version 1")
    }
    shared(fields, &result.app, &result.door, &result.supervise, &result.hands, &result.arrange)
    if let node = fields["images"] { images(node, &result.images) }
    if let node = fields["record"], let fields = reading.fields(node, of: "record", keys: ["sqlite", "keep"]) {
      fields.setOrNull("sqlite", &result.record.sqlite, path)
      fields.set("keep", &result.record.keep, reading.positiveDuration)
    }
    if let node = fields["secrets"] { result.secrets = secrets(node) }
    if let node = fields["bodies"] { result.bodies = BodiesReader(self).bodies(node, under: result) }
    return result
  }

  /// The sections that a body's entry may override.
  func shared(
    _ fields: Fields, _ app: inout AppSettings, _ door: inout DoorSettings, _ supervise: inout SuperviseSettings,
    _ hands: inout HandsSettings, _ arrange: inout [BodyState: ArrangeMeans]
  ) {
    if let node = fields["app"] { self.app(node, &app) }
    if let node = fields["door"] { self.door(node, &door) }
    if let node = fields["supervise"] { self.supervise(node, &supervise) }
    if let node = fields["hands"] { self.hands(node, &hands) }
    if let node = fields["arrange"] { self.arrange(node, &arrange) }
  }

  private func app(_ node: YAMLNode, _ app: inout AppSettings) {
    guard let fields = reading.fields(node, of: "app", keys: ["bundle", "launcher", "decoy"]) else { return }
    fields.setOrNull("bundle", &app.bundle, bundle)
    fields.set("launcher", &app.launcher) { reading.word($0) }
    fields.set("decoy", &app.decoy, bundle)
  }

  private func bundle(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    let allowed = text.utf8.allSatisfy {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46 || $0 == 95
    }
    if allowed { return text }
    reading.wrong(node, "'\(text)' is no bundle identifier; one is written com.example.kiosk")
    return nil
  }

  private func door(_ node: YAMLNode, _ door: inout DoorSettings) {
    let keys = ["port", "token-file"] + DoorRow.allCases.map(\.rawValue)
    guard let fields = reading.fields(node, of: "door", keys: keys) else { return }
    fields.set("port", &door.port, reading.port)
    fields.setOrNull("token-file", &door.tokenFile, path)
    for row in DoorRow.allCases {
      fields.set(row.rawValue, &door.forms[row, default: RequestLine(method: "GET", target: "/")]) { form($0, of: row) }
    }
  }

  private func form(_ node: YAMLNode, of row: DoorRow) -> RequestLine? {
    guard let line = reading.requestLine(node) else { return nil }
    let known = Placeholders.names(in: DoorSettings.usual[row]?.target ?? "")
    if let name = Placeholders.names(in: line.target).first(where: { !known.contains($0) }) {
      let takes = known.isEmpty ? "nothing" : known.map { "{\($0)}" }.joined(separator: " and ")
      reading.wrong(node, "{\(name)} is not filled in here; \(row.rawValue) takes \(takes)")
      return nil
    }
    return line
  }

  private func supervise(_ node: YAMLNode, _ settings: inout SuperviseSettings) {
    let keys = [
      "every", "grace", "spacing", "settle", "answer-within", "listen", "token-file", "hosts", "ping", "on-change",
    ]
    guard let fields = reading.fields(node, of: "supervise", keys: keys) else { return }
    fields.set("every", &settings.every, reading.positiveDuration)
    fields.set("grace", &settings.grace, reading.duration)
    if let node = fields["grace"] ?? fields["every"], settings.grace < settings.every * 2 {
      reading.wrong(
        node,
        "a grace of \(settings.grace.shown) is shorter than two probes at \(settings.every.shown); "
          + "one that is lost would be taken for an outage")
    }
    fields.set("spacing", &settings.spacing, reading.positiveDuration)
    fields.set("settle", &settings.settle, reading.duration)
    fields.set("answer-within", &settings.answerWithin, reading.positiveDuration)
    fields.setOrNull("listen", &settings.listen, hostAndPort)
    fields.setOrNull("token-file", &settings.tokenFile, path)
    fields.set("hosts", &settings.hosts, reading.texts)
    if let node = fields["ping"], let fields = reading.fields(node, of: "ping", keys: ["url", "every"]) {
      fields.setOrNull("url", &settings.pingURL, webAddress)
      fields.set("every", &settings.pingEvery, reading.positiveDuration)
    }
    if let node = fields["on-change"], let fields = reading.fields(node, of: "on-change", keys: ["command"]) {
      fields.setOrNull("command", &settings.onChange, command)
    }
  }

  private func hands(_ node: YAMLNode, _ hands: inout HandsSettings) {
    if case .scalar("none", plain: true) = node.value {
      hands.port = nil
    } else if case .scalar = node.value {
      reading.wrong(node, "\(Reading.quoted(node)) is not known here; write none, or {port: 8100}")
    } else if let fields = reading.fields(node, of: "hands", keys: ["port"]) {
      fields.set("port", &hands.port) { reading.port($0) }
    }
  }

  private func images(_ node: YAMLNode, _ images: inout ImageSettings) {
    guard let fields = reading.fields(node, of: "images", keys: ["folder", "signing", "mount"]) else { return }
    fields.setOrNull("folder", &images.folder, path)
    fields.set("mount", &images.mount) { reading.word($0) }
    fields.set("signing", &images.signing) { node in
      switch node.value {
      case .scalar("apple", _): .apple
      case .scalar("none", _): .offline
      case .scalar, .sequence, .mapping: signingServer(node).map(ImageSigning.address)
      }
    }
  }

  private func arrange(_ node: YAMLNode, _ arrange: inout [BodyState: ArrangeMeans]) {
    let states = BodyState.allCases.map(\.rawValue)
    guard let fields = reading.fields(node, of: "arrange", keys: states) else { return }
    for entry in fields.entries {
      guard let state = BodyState(rawValue: entry.key) else { continue }
      let what = "arrange: \(entry.key)"
      guard let fields = reading.fields(entry.value, of: what, keys: Self.deedKeys + ["undo"]) else { continue }
      var means = ArrangeMeans()
      means.deed = deed(fields, of: what)
      if let node = fields["undo"], let fields = reading.fields(node, of: "\(what): undo", keys: Self.deedKeys) {
        means.undo = deed(fields, of: "\(what): undo")
      }
      arrange[state] = means
    }
  }

  private static let deedKeys = ["command", "request", "operator", "deadline"]

  private func deed(_ fields: Fields, of what: String) -> LabDeed {
    var deed = LabDeed()
    fields.setOrNull("command", &deed.command, command)
    fields.setOrNull("request", &deed.request) { reading.requestLine($0)?.description }
    fields.setOrNull("operator", &deed.operatorText, reading.text)
    fields.setOrNull("deadline", &deed.deadline, reading.positiveDuration)
    if deed.command != nil, deed.request != nil {
      reading.wrong(fields.node, "\(what) has a command and a request; one of them brings the state about")
    }
    if fields["command"] == nil, fields["request"] == nil, fields["operator"] == nil {
      reading.wrong(
        fields.node, "\(what) names no means; it needs a command, a request or an operator's sentence")
    }
    return deed
  }

  private func secrets(_ node: YAMLNode) -> [String: Secret] {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "secrets is a mapping of names and values, not \(node.kind)")
      return [:]
    }
    var secrets: [String: Secret] = [:]
    for entry in entries { secrets[entry.key] = reading.text(entry.value).map(Secret.init) }
    return secrets
  }
}

extension ConfigurationReader {
  /// A path; a relative one starts at fleet.yaml's own folder.
  func path(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    return text.hasPrefix("/") ? text : folder + text
  }

  /// A program and its arguments.
  func command(_ node: YAMLNode) -> [String]? {
    guard let words = reading.texts(node) else { return nil }
    if words.first?.isEmpty ?? true {
      reading.wrong(node, "a command is a list of the program and its arguments: [program, argument]")
      return nil
    }
    if words.contains(where: { $0.utf8.contains(0) }) {
      reading.wrong(node, "a command's words cannot hold a zero byte")
      return nil
    }
    return words
  }

  private func hostAndPort(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    if let colon = text.lastIndex(of: ":"), colon != text.startIndex, UInt16(text[text.index(after: colon)...]) != nil {
      return text
    }
    reading.wrong(node, "'\(text)' is no address to listen at; one is written 127.0.0.1:8087")
    return nil
  }

  /// The ticket that comes back is signed itself, so the way to it is plain HTTP.
  private func signingServer(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    if SigningService(text) != nil { return text }
    reading.wrong(node, "'\(text)' is no signing server; write apple, none, or its address, as http://HOST:PORT")
    return nil
  }

  private func webAddress(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    if text.hasPrefix("https://") || text.hasPrefix("http://") { return text }
    reading.wrong(node, "'\(text)' is no web address; one begins with https:// or http://")
    return nil
  }
}
