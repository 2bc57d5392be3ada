/// Makes the tree from libyaml's events, under our own rules for keys, aliases and size.
struct YAMLBuilder {
  typealias Failure = YAMLEvents.Failure

  /// Values of a document, those that aliases repeat counted each time.
  static let nodeLimit = 20_000
  static let depthLimit = 64

  private(set) var root: YAMLNode?
  private(set) var duplicates: [Problem] = []

  private let file: String
  private let lines: [String]
  private var stack: [Frame] = []
  private var anchors: [String: (node: YAMLNode, count: Int)] = [:]
  private var documents = 0

  /// A list or mapping that is still open.
  private struct Frame {
    var node: YAMLNode
    var anchor: String?
    /// Values in it so far, itself included.
    var count = 1
    var items: [YAMLNode] = []
    var entries: [YAMLNode.Entry] = []
    var lineOfKey: [String: Int] = [:]
    var key: (text: String, mark: YAMLEvents.Mark)?
    let isMapping: Bool
  }

  init(file: String, lines: [String]) {
    self.file = file
    self.lines = lines
  }

  /// - Returns: false at the end of the stream.
  mutating func take(_ item: YAMLEvents.Item) throws(Failure) -> Bool {
    if let tag = item.tag { throw Failure(mark: item.mark, sentence: Self.tagSentence(tag)) }
    switch item.event {
    case .streamStart, .documentEnd: break
    case .streamEnd: return false
    case .documentStart:
      documents += 1
      if documents > 1 {
        throw Failure(mark: item.mark, sentence: "a second document begins here; put it into a file of its own")
      }
    case .scalar(let text, let plain):
      try add(node(.scalar(text, plain: plain), item.mark), count: 1, anchor: item.anchor, mark: item.mark)
    case .alias(let name):
      if stack.contains(where: { $0.anchor == name }) {
        throw Failure(mark: item.mark, sentence: "*\(name) stands inside the value that &\(name) names")
      }
      guard let (node, count) = anchors[name] else {
        throw Failure(mark: item.mark, sentence: "*\(name) repeats a value, but no &\(name) stands before it")
      }
      try add(node, count: count, anchor: nil, mark: item.mark)
    case .sequenceStart(let flow), .mappingStart(let flow):
      try open(item, flow: flow)
    case .sequenceEnd, .mappingEnd:
      try close()
    }
    return true
  }

  private mutating func open(_ item: YAMLEvents.Item, flow: Bool) throws(Failure) {
    guard stack.count < Self.depthLimit else {
      throw Failure(mark: item.mark, sentence: "more than \(Self.depthLimit) levels, one in another")
    }
    if let top = stack.last, top.isMapping, top.key == nil {
      throw Failure(mark: item.mark, sentence: "a key must be a text; quote it if it begins with { or [")
    }
    let isMapping = if case .mappingStart = item.event { true } else { false }
    var opened = node(isMapping ? .mapping([]) : .sequence([]), item.mark)
    opened.isFlow = flow
    stack.append(Frame(node: opened, anchor: item.anchor, isMapping: isMapping))
  }

  private mutating func close() throws(Failure) {
    guard var frame = stack.popLast() else { return }
    frame.node.value = frame.isMapping ? .mapping(frame.entries) : .sequence(frame.items)
    let mark = YAMLEvents.Mark(line: frame.node.line, column: frame.node.column)
    try add(frame.node, count: frame.count, anchor: frame.anchor, mark: mark)
  }

  private mutating func add(_ node: YAMLNode, count: Int, anchor: String?, mark: YAMLEvents.Mark) throws(Failure) {
    if let anchor { anchors[anchor] = (node, count) }
    guard var frame = stack.popLast() else {
      root = node
      return
    }
    frame.count += count
    guard frame.count <= Self.nodeLimit else {
      throw Failure(
        mark: mark, sentence: "more than \(Self.nodeLimit) values, repeated ones counted each time; write fewer aliases"
      )
    }
    if !frame.isMapping {
      frame.items.append(node)
    } else if let key = frame.key {
      frame.key = nil
      if key.text == "<<" {
        throw Failure(mark: key.mark, sentence: Self.mergeSentence(node))
      }
      if let first = frame.lineOfKey[key.text] {
        duplicates.append(
          Problem(
            file: file, line: key.mark.line, column: key.mark.column,
            sentence: "'\(key.text)' stands here and already in line \(first); a key may stand once"))
      } else {
        frame.lineOfKey[key.text] = key.mark.line
        frame.entries.append(
          YAMLNode.Entry(key: key.text, keyLine: key.mark.line, keyColumn: key.mark.column, value: node))
      }
    } else {
      guard case .scalar(let text, _) = node.value else {
        throw Failure(mark: mark, sentence: "a key must be a text")
      }
      frame.key = (text, mark)
    }
    stack.append(frame)
  }

  private func node(_ value: YAMLNode.Value, _ mark: YAMLEvents.Mark) -> YAMLNode {
    YAMLNode(value: value, line: mark.line, column: mark.column)
  }
}

extension YAMLBuilder {
  /// The failure with the hint that its line deserves.
  func problem(_ failure: Failure) -> Problem {
    let line = lines.indices.contains(failure.mark.line - 1) ? lines[failure.mark.line - 1] : ""
    let hint = Self.hint(failure.sentence, line).map { "; \($0)" } ?? ""
    return Problem(
      file: file, line: failure.mark.line, column: failure.mark.column, sentence: failure.sentence + hint)
  }

  /// What authors most often forgot where libyaml stumbles.
  private static func hint(_ sentence: String, _ line: String) -> String? {
    guard sentence.hasPrefix("not YAML"), !sentence.contains("control characters") else { return nil }
    if sentence.contains("mapping values are not allowed") { return "put quotes around a text with ': '" }
    if sentence.contains("cannot start any token") {
      return line.prefix { $0.isWhitespace }.contains("\t")
        ? "indent with spaces, not with tabs" : "put quotes around a text that begins with % @ or `"
    }
    if line.contains("{") || line.contains("}") { return "put quotes around a text with { } or ': '" }
    return line.contains(": ") ? "put quotes around a text with ': '" : nil
  }

  private static func tagSentence(_ tag: String) -> String {
    let short = tag.hasPrefix("tag:yaml.org,2002:") ? "!!" + tag.dropFirst(18) : tag
    return "tags such as \(short) are not taken: each field knows its type, and a text stands in quotes"
  }

  private static func mergeSentence(_ merged: YAMLNode) -> String {
    let plain = shown(merged, budget: 160)
    return "merge keys (<<) are not taken; write the keys here themselves: \(plain)"
  }

  private static func shown(_ node: YAMLNode, budget: Int) -> String {
    let text =
      switch node.value {
      case .scalar(let text, plain: true): text
      case .scalar(let text, plain: false): "\"\(text)\""
      case .sequence(let items): "[\(items.prefix(8).map { shown($0, budget: budget / 2) }.joined(separator: ", "))]"
      case .mapping(let entries):
        entries.prefix(8).map { entry in
          let value = shown(entry.value, budget: budget / 2)
          if case .mapping = entry.value.value { return "\(entry.key): {\(value)}" }
          return "\(entry.key): \(value)"
        }.joined(separator: ", ")
      }
    return text.count > budget ? "\(text.prefix(budget))…" : text
  }
}
