import Wire

/// fleet.yaml's `bodies`.
struct BodiesReader {
  let reader: ConfigurationReader
  private var reading: Reading { reader.reading }

  init(_ reader: ConfigurationReader) { self.reader = reader }

  static let keys = [
    "udid", "name", "tags", "app", "door", "supervise", "hands", "arrange", "out-of-service",
  ]

  func bodies(_ node: YAMLNode, under configuration: FleetConfiguration) -> [BodyEntry]? {
    guard case .sequence(let items) = node.value else {
      reading.wrong(node, "bodies is a list, not \(node.kind)")
      return nil
    }
    var bodies: [BodyEntry] = []
    for item in items {
      guard let entry = body(item, under: configuration) else { continue }
      if let first = bodies.first(where: { $0.udid == entry.udid }) {
        reading.wrong(
          item,
          "the phone \(entry.udid) stands here and already in line \(first.line); letter case and hyphen make no other phone"
        )
      }
      if let name = entry.name, let first = bodies.first(where: { $0.name == name }) {
        reading.wrong(item, "the name '\(name)' stands here and already in line \(first.line); a name is one phone's")
      }
      bodies.append(entry)
    }
    return bodies
  }

  private func body(_ node: YAMLNode, under configuration: FleetConfiguration) -> BodyEntry? {
    guard let fields = reading.fields(node, of: "a body", keys: Self.keys),
      let udid = fields.required("udid", udid)
    else { return nil }
    var entry = BodyEntry(udid: udid, under: configuration)
    entry.line = node.line
    fields.setOrNull("name", &entry.name, name)
    fields.set("tags", &entry.tags, reading.texts)
    reader.shared(fields, &entry.app, &entry.door, &entry.supervise, &entry.hands, &entry.arrange)
    if let node = fields["out-of-service"] { entry.outOfService = outOfService(node) }
    return entry
  }

  private func udid(_ node: YAMLNode) -> UDID? {
    guard let text = reading.text(node) else { return nil }
    if let udid = UDID(wellFormed: text) { return udid }
    reading.wrong(
      node, "'\(text)' is no UDID; one has 40 hexadecimal digits, or 8, a hyphen and 16. Copy it from: fleetctl devices"
    )
    return nil
  }

  private func name(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    if text.hasPrefix("-") || text.hasPrefix("tag:") {
      reading.wrong(
        node,
        "a name must not begin with '\(text.hasPrefix("-") ? "-" : "tag:")', which means something else on the command line"
      )
      return nil
    }
    if text.isEmpty || text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
      reading.wrong(node, "a name is one line of visible characters")
      return nil
    }
    return text
  }

  private func outOfService(_ node: YAMLNode) -> OutOfService? {
    guard let fields = reading.fields(node, of: "out-of-service", keys: ["reason", "until"]),
      let reason = fields.required("reason", reading.text)
    else { return nil }
    return OutOfService(reason: reason, until: fields["until"].flatMap(reading.day))
  }
}
