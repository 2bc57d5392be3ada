import Fleet
import Wire

/// Fills in names in braces before a field is read, so that the field's own type decides what the value is.
struct Substitution {
  /// What a name stands for; a text that is nothing but the name becomes it, quoted or not as it was given.
  struct Value: Equatable {
    var text: String
    var plain: Bool
  }

  let reading: Reading
  let values: [String: Value]

  init(reading: Reading, values: [String: Value]) {
    self.reading = reading
    self.values = values
    texts = values.mapValues(\.text)
  }

  private let texts: [String: String]

  func callAsFunction(_ node: YAMLNode) -> YAMLNode {
    var filled = node
    switch node.value {
    case .scalar(let text, let plain):
      guard text.contains("{") else { return node }
      if text.hasPrefix("{"), text.hasSuffix("}"), let whole = values[String(text.dropFirst().dropLast())] {
        filled.value = .scalar(whole.text, plain: whole.plain)
      } else {
        filled.value = .scalar(Placeholders.fill(text, texts), plain: plain)
      }
    case .sequence(let items): filled.value = .sequence(items.map { self($0) })
    case .mapping(let entries): filled.value = .mapping(self.entries(entries))
    }
    return filled
  }

  private func entries(_ entries: [YAMLNode.Entry]) -> [YAMLNode.Entry] {
    var seen: Set<String> = []
    return entries.compactMap { entry in
      var filled = entry
      filled.key = entry.key.contains("{") ? Placeholders.fill(entry.key, texts) : entry.key
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

  /// Whether `{name}` without quotes stands here, which YAML takes for a mapping; said so where it does.
  func isUnquotedName(_ node: YAMLNode) -> Bool {
    guard node.isFlow, case .mapping(let entries) = node.value, entries.count == 1, entries[0].value.isNull,
      !Forms.matcher.keys.contains(entries[0].key)
    else { return false }
    wrong(node, "{\(entries[0].key)} is a mapping without quotes; write \"{\(entries[0].key)}\"")
    return true
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
