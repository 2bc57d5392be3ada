import Wire

/// Reads one file's nodes into typed values, and gathers everything that is wrong on the way.
///
/// A reader that returns nil has written down why; the file is only good when `problems` is empty at the end.
public final class Reading {
  public let file: String
  public private(set) var problems: [Problem] = []

  public init(file: String) { self.file = file }

  public func wrong(_ node: YAMLNode, _ sentence: String) {
    wrong(line: node.line, column: node.column, sentence)
  }

  public func wrong(_ problems: [Problem]) { self.problems += problems }

  public func wrong(line: Int, column: Int, _ sentence: String) {
    problems.append(Problem(file: file, line: line, column: column, sentence: sentence))
  }

  /// - Throws: what was found wrong, in the order of the file.
  public func finish() throws(Problems) {
    guard !problems.isEmpty else { return }
    // What is read several times, with other values filled in, is wrong once.
    var seen: Set<String> = []
    let once = problems.filter { seen.insert($0.description).inserted }
    throw Problems(once.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }

  /// A mapping whose keys are all known.
  ///
  /// - Parameter what: what the mapping is, for sentences: `a scenario`.
  /// - Parameter later: known words that need a sentence of their own, such as steps of a later version.
  public func fields(
    _ node: YAMLNode, of what: String, keys: [String], later: (String) -> String? = { _ in nil }
  ) -> Fields? {
    guard case .mapping(let entries) = node.value else {
      wrong(node, "\(what) is a mapping of keys and values, not \(node.kind)")
      return nil
    }
    for entry in entries where !keys.contains(entry.key) {
      wrong(line: entry.keyLine, column: entry.keyColumn, later(entry.key) ?? Self.unknown(entry.key, of: what, keys))
    }
    return Fields(node: node, entries: entries, what: what, keys: keys, reading: self)
  }

  /// A text as it is written: `NO`, `010` and `1e3` stay what they are.
  public func text(_ node: YAMLNode) -> String? {
    guard case .scalar(let text, let plain) = node.value else {
      let hint = node.isFlow ? "; put quotes around a text that begins with { or [" : ""
      wrong(node, "a text is expected here, not \(node.kind)\(hint)")
      return nil
    }
    if plain, text.isEmpty {
      wrong(node, "a text is expected here, and there is nothing")
      return nil
    }
    return text
  }

  /// A list of texts.
  public func texts(_ node: YAMLNode) -> [String]? {
    guard case .sequence(let items) = node.value else {
      wrong(node, "a list of texts is expected here, not \(node.kind)")
      return nil
    }
    let texts = items.compactMap(text)
    return texts.count == items.count ? texts : nil
  }

  /// One of some words.
  public func word<Word: RawRepresentable<String> & CaseIterable>(_ node: YAMLNode, as _: Word.Type = Word.self)
    -> Word?
  {
    guard let text = text(node) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    wrong(node, Self.noWord(text, words))
    return nil
  }

  /// `true` or `false`, plain.
  public func boolean(_ node: YAMLNode) -> Bool? {
    if case .scalar(let text, plain: true) = node.value {
      if text == "true" { return true }
      if text == "false" { return false }
    }
    wrong(node, "\(Self.quoted(node)) is neither true nor false, the only two words taken here")
    return nil
  }

  public func integer(_ node: YAMLNode, in range: ClosedRange<Int>) -> Int? {
    if case .scalar(let text, plain: true) = node.value, let number = Int(text), !text.hasPrefix("+") {
      if range.contains(number) { return number }
      wrong(node, "\(number) is not in \(range.lowerBound) to \(range.upperBound)")
    } else {
      wrong(node, "\(Self.quoted(node)) is no whole number")
    }
    return nil
  }

  public func port(_ node: YAMLNode) -> UInt16? { integer(node, in: 1...65_535).map { UInt16($0) } }

  public func duration(_ node: YAMLNode) -> Duration? {
    if case .scalar(let text, _) = node.value, let duration = Duration(text: text) { return duration }
    wrong(node, "\(Self.quoted(node)) is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d")
    return nil
  }

  /// A duration longer than nothing.
  public func positiveDuration(_ node: YAMLNode) -> Duration? {
    guard let duration = duration(node) else { return nil }
    if duration > .zero { return duration }
    wrong(node, "\(Self.quoted(node)) is no time at all; it must be longer than 0s")
    return nil
  }

  public func day(_ node: YAMLNode) -> CalendarDay? {
    if case .scalar(let text, _) = node.value, let day = CalendarDay(text) { return day }
    wrong(node, "\(Self.quoted(node)) is no day; one is written 2026-12-20")
    return nil
  }

  /// `METHOD PATH`.
  public func requestLine(_ node: YAMLNode) -> RequestLine? {
    guard let text = text(node) else { return nil }
    if let line = RequestLine(text) { return line }
    let isReadable = text.utf8.allSatisfy { $0 < 0x80 }
    wrong(
      node,
      "'\(text)' is no request; one is a method and a path: GET /hello"
        + (isReadable ? "" : ". Letters outside ASCII are written %C3%BC in it"))
    return nil
  }

  /// The node's text in quotes, or its kind.
  public static func quoted(_ node: YAMLNode) -> String {
    if case .scalar(let text, _) = node.value, !text.isEmpty { return "'\(text)'" }
    return node.kind
  }

  static func noWord(_ text: String, _ words: [String]) -> String {
    if let near = NearestWord.to(text, among: words) { return "'\(text)' is not known here; '\(near)' is meant?" }
    return "'\(text)' is not known here; it is one of: \(words.joined(separator: ", "))"
  }

  private static func unknown(_ key: String, of what: String, _ keys: [String]) -> String {
    if let near = NearestWord.to(key, among: keys) { return "'\(key)' is no key of \(what); '\(near)' is meant?" }
    return "'\(key)' is no key of \(what); its keys are: \(keys.joined(separator: ", "))"
  }
}

/// The keys and values of one mapping.
public struct Fields {
  public let node: YAMLNode
  public let entries: [YAMLNode.Entry]
  let what: String
  let keys: [String]
  let reading: Reading

  public subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }

  public func entry(_ key: String) -> YAMLNode.Entry? { entries.first { $0.key == key } }

  /// A value that must stand there.
  public func required<Value>(_ key: String, _ read: (YAMLNode) -> Value?) -> Value? {
    if let node = self[key] { return read(node) }
    // A misspelt key has been said already.
    let isMisspelt = entries.contains { !keys.contains($0.key) && NearestWord.to($0.key, among: keys) == key }
    if !isMisspelt { reading.wrong(node, "\(what) needs '\(key)'") }
    return nil
  }

  /// Puts a value in place where it stands and is right.
  public func set<Value>(_ key: String, _ target: inout Value, _ read: (YAMLNode) -> Value?) {
    if let value = self[key].flatMap(read) { target = value }
  }

  /// Puts a value in place; a plain `null` takes it away.
  public func setOrNull<Value>(_ key: String, _ target: inout Value?, _ read: (YAMLNode) -> Value?) {
    guard let node = self[key] else { return }
    if node.isNull {
      target = nil
    } else if let value = read(node) {
      target = value
    }
  }
}
