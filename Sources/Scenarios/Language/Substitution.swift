import Fleet
import Wire

/// Fills in names in braces before a field is read, so that the field's own type decides what the value is.
struct Substitution {
  let reading: Reading
  let values: [String: String]

  func callAsFunction(_ node: YAMLNode) -> YAMLNode {
    var filled = node
    switch node.value {
    case .scalar(let text, let plain):
      if text.contains("{") { filled.value = .scalar(Placeholders.fill(text, values), plain: plain) }
    case .sequence(let items): filled.value = .sequence(items.map { self($0) })
    case .mapping(let entries): filled.value = .mapping(self.entries(entries))
    }
    return filled
  }

  private func entries(_ entries: [YAMLNode.Entry]) -> [YAMLNode.Entry] {
    var seen: Set<String> = []
    return entries.compactMap { entry in
      var filled = entry
      filled.key = entry.key.contains("{") ? Placeholders.fill(entry.key, values) : entry.key
      filled.value = self(entry.value)
      if seen.insert(filled.key).inserted { return filled }
      reading.wrong(
        line: entry.keyLine, column: entry.keyColumn,
        "'\(entry.key)' becomes '\(filled.key)' here, which stands here already; a key may stand once")
      return nil
    }
  }
}

/// Texts of a scenario in which names in braces are filled in when they are used.
extension Reading {
  /// What every text can use; names of a `for-each` around it and of --var have been filled in before it is read.
  static let namesInTexts = ["name", "udid", "ios", "scenario"]

  /// A text all of whose names in braces have a value.
  func filledText(_ node: YAMLNode) -> String? { text(node).flatMap { knowsNames(in: $0, node) ? $0 : nil } }

  func filledTexts(_ node: YAMLNode) -> [String]? {
    guard let texts = texts(node), case .sequence(let items) = node.value else { return nil }
    return zip(texts, items).allSatisfy({ knowsNames(in: $0, $1) }) ? texts : nil
  }

  /// Whether every name in braces has a value; the first that has none is written down.
  ///
  /// - Parameter free: the text may hold braces of its own, so that only what looks misspelt is wrong.
  func knowsNames(in text: String, _ node: YAMLNode, free: Bool = false) -> Bool {
    let unknown = Placeholders.names(in: text).first { name in
      !Self.namesInTexts.contains(name) && (!free || NearestWord.to(name, among: Self.namesInTexts) != nil)
    }
    guard let name = unknown else { return true }
    let near = NearestWord.to(name, among: Self.namesInTexts)
    let names = Self.namesInTexts.map { "{\($0)}" }.joined(separator: ", ")
    let hint =
      near.map { "{\($0)} is meant?" }
      ?? "a text can use \(names), the names of a for-each around it, and those of --var"
    wrong(node, "{\(name)} has no value here; \(hint)")
    return false
  }
}
