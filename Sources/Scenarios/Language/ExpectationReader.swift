import Fleet
import Wire

/// `expect`'s node into an `Expectation`.
struct ExpectationReader {
  let reading: Reading

  init(_ reading: Reading) { self.reading = reading }

  func expectation(_ node: YAMLNode) -> Expectation? {
    guard let fields = reading.fields(node, Forms.expectation) else { return nil }
    if fields.entries.isEmpty {
      reading.wrong(node, "expect is empty; it names what must be true of the answer")
      return nil
    }
    var expectation = Expectation()
    fields.set("status", &expectation.status) { reading.integer($0, in: 100...599) }
    fields.set("type", &expectation.type, mediaType)
    fields.set("json", &expectation.json, json)
    fields.set("header", &expectation.headers, headers)
    fields.set("within", &expectation.within, reading.positiveDuration)
    fields.set("size", &expectation.size, size)
    if let node = fields["jpeg"] { expectation.jpeg = jpeg(node) }
    fields.set("answer", &expectation.silence, silence)
    if fields["answer"] != nil, let other = fields.entries.first(where: { $0.key != "answer" && $0.key != "within" }) {
      reading.wrong(
        line: other.keyLine, column: other.keyColumn,
        "'\(other.key)' cannot be true of no answer; 'answer' stands alone")
    }
    return expectation
  }

  private func mediaType(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), !text.contains(";"), !text.contains(" ") {
      return text.lowercased()
    }
    reading.wrong(node, "'\(text)' is no media type; one is written image/jpeg")
    return nil
  }

  private func json(_ node: YAMLNode) -> [PathExpectation]? {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "json is a mapping of paths and values, not \(node.kind)")
      return nil
    }
    return entries.compactMap { entry in
      guard let path = JSONPath(entry.key) else {
        reading.wrong(
          line: entry.keyLine, column: entry.keyColumn,
          "'\(entry.key)' is no path; one is written grants.camera or cameras[0]")
        return nil
      }
      return matcher(entry.value, texts: false).map { PathExpectation(path: path, matcher: $0) }
    }
  }

  private func headers(_ node: YAMLNode) -> [HeaderExpectation]? {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "header is a mapping of field names and values, not \(node.kind)")
      return nil
    }
    return entries.compactMap { entry in
      guard RequestReader.isToken(entry.key) else {
        reading.wrong(
          line: entry.keyLine, column: entry.keyColumn,
          "'\(entry.key)' is no header field; names are letters, digits and hyphens")
        return nil
      }
      return matcher(entry.value, texts: true).map { HeaderExpectation(name: entry.key, matcher: $0) }
    }
  }

  private func size(_ node: YAMLNode) -> ClosedRange<Int>? {
    guard let fields = reading.fields(node, Forms.size) else { return nil }
    if fields.entries.isEmpty {
      reading.wrong(node, "size needs min or max, in bytes")
      return nil
    }
    var least = 0
    var most = Int.max
    fields.set("min", &least) { reading.integer($0, in: 0...Int.max) }
    fields.set("max", &most) { reading.integer($0, in: 0...Int.max) }
    if least <= most { return least...most }
    reading.wrong(node, "size can never be: min \(least) is over max \(most)")
    return nil
  }

  private func jpeg(_ node: YAMLNode) -> JPEGExpectation? {
    guard let fields = reading.fields(node, Forms.jpeg) else { return nil }
    if fields.entries.isEmpty {
      reading.wrong(node, "jpeg is empty; it names one of: \(Forms.jpeg.keys.joined(separator: ", "))")
      return nil
    }
    var expectation = JPEGExpectation()
    expectation.exif = fields["exif"].flatMap(reading.boolean)
    expectation.gps = fields["gps"].flatMap(reading.boolean)
    expectation.width = fields["width"].flatMap(side)
    expectation.height = fields["height"].flatMap(side)
    return expectation
  }

  /// Pixels, or a range of them.
  private func side(_ node: YAMLNode) -> ClosedRange<Int>? {
    let all = 1...65_535
    guard case .mapping(let entries) = node.value else { return reading.integer(node, in: all).map { $0...$0 } }
    guard let fields = reading.fields(node, Forms.range) else { return nil }
    if entries.isEmpty {
      reading.wrong(node, "a range needs min or max, in pixels")
      return nil
    }
    var (least, most) = (all.lowerBound, all.upperBound)
    fields.set("min", &least) { reading.integer($0, in: all) }
    fields.set("max", &most) { reading.integer($0, in: all) }
    if least <= most { return least...most }
    reading.wrong(node, "the range can never be: min \(least) is over max \(most)")
    return nil
  }

  private func silence(_ node: YAMLNode) -> Expectation.Silence? { reading.word(node) }

  // MARK: - What one value must be

  /// - Parameter texts: header values are texts as written; JSON values follow YAML's core schema.
  private func matcher(_ node: YAMLNode, texts: Bool) -> Matcher? {
    guard case .mapping(let entries) = node.value else { return value(node, texts: texts).map(Matcher.equals) }
    guard !reading.isUnquotedName(node) else { return nil }
    guard let fields = reading.fields(node, Forms.matcher) else { return nil }
    let matchers = fields.entries.compactMap { word($0, texts: texts) }
    if entries.isEmpty {
      reading.wrong(node, "an expected value is empty; it holds one of: \(Forms.matcher.keys.joined(separator: ", "))")
    }
    guard let first = matchers.first, matchers.count == entries.count else { return nil }
    return matchers.count == 1 ? first : .all(matchers)
  }

  private func word(_ entry: YAMLNode.Entry, texts: Bool) -> Matcher? {
    let node = entry.value
    switch entry.key {
    case "contains": return value(node, texts: texts).map(Matcher.contains)
    case "equals": return value(node, texts: texts).map(Matcher.equals)
    case "exists": return reading.boolean(node).map(Matcher.exists)
    case "matches":
      guard let pattern = reading.text(node) else { return nil }
      if (try? Regex(pattern)) != nil { return .matches(pattern) }
      reading.wrong(node, "'\(pattern)' is no regular expression")
      return nil
    case "one-of":
      guard case .sequence(let items) = node.value, !items.isEmpty else {
        reading.wrong(node, "one-of is a list of values, not \(node.kind)")
        return nil
      }
      let values = items.compactMap { value($0, texts: texts) }
      return values.count == items.count ? .oneOf(values) : nil
    default: return nil
    }
  }

  private func value(_ node: YAMLNode, texts: Bool) -> JSON? {
    guard !reading.isUnquotedName(node) else { return nil }
    if case .scalar(let text, _) = node.value, !reading.knowsNames(in: text, node, free: true) { return nil }
    return texts ? reading.text(node).map(JSON.string) : reading.json(node)
  }
}
