import Fleet

/// The keys that describe one request.
struct RequestReader {
  let reading: Reading

  init(_ reading: Reading) { self.reading = reading }

  /// A request together with what is expected of its answer.
  func judged(_ fields: Fields) -> RequestStep? {
    let expectation = fields["expect"].map { ExpectationReader(reading).expectation($0) } ?? Expectation()
    let retryWithin = fields["retry-within"].flatMap(reading.positiveDuration)
    guard var step = request(fields), let expectation else { return nil }
    step.expectation = expectation
    step.retryWithin = retryWithin
    return step
  }

  func request(_ fields: Fields) -> RequestStep? {
    let line = fields["request"].flatMap { node in
      reading.requestLine(node).flatMap { reading.knowsNames(in: $0.target, node) ? $0 : nil }
    }
    var step = RequestStep(line: line ?? RequestLine(method: "", target: ""))
    fields.set("headers", &step.headers) { headers($0) }
    fields.setOrNull("body", &step.body) { node in
      reading.text(node).flatMap { reading.knowsNames(in: $0, node, free: true) ? $0 : nil }
    }
    if let node = fields["token"] { step.token = token(node) ?? .configured }
    fields.setOrNull("deadline", &step.deadline, reading.positiveDuration)
    return line == nil ? nil : step
  }

  private func token(_ node: YAMLNode) -> DoorToken? {
    guard let text = reading.text(node) else { return nil }
    switch text {
    case "none": return DoorToken.none
    case "wrong": return .wrong
    default:
      reading.wrong(
        node, "'\(text)' is not known here; write none or wrong, or leave token out to send the configured one")
      return nil
    }
  }

  private func headers(_ node: YAMLNode) -> [NamedText]? {
    guard let headers = namedTexts(node, "headers") else { return nil }
    for header in headers {
      guard Self.isToken(header.name), header.text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
      else {
        reading.wrong(
          node, "'\(header.name)' is no header field; names are letters, digits and hyphens, values one line")
        return nil
      }
      if ["content-length", "transfer-encoding", "connection"].contains(header.name.lowercased()) {
        reading.wrong(node, "the header \(header.name) is set by fleetctl itself; leave it out")
        return nil
      }
    }
    return headers
  }

  /// A mapping of names and texts.
  func namedTexts(_ node: YAMLNode, _ what: String) -> [NamedText]? {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "\(what) is a mapping of names and texts, not \(node.kind)")
      return nil
    }
    let texts = entries.compactMap { entry in
      reading.text(entry.value).flatMap { text in
        reading.knowsNames(in: text, entry.value, free: true) ? NamedText(name: entry.key, text: text) : nil
      }
    }
    return texts.count == entries.count ? texts : nil
  }

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
      }
  }
}
