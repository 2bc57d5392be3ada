import DeviceBridge
import Fleet
import Wire

/// Holds a door's answer against what was expected of it.
///
/// The answer's bytes are looked at and not kept: what comes out is words.
struct AnswerCheck {
  let expectation: Expectation

  init(_ expectation: Expectation) { self.expectation = expectation }

  /// - Parameter took: from the request to the whole answer, on the scenario's clock.
  func result(_ ending: DoorAnswer.Ending, took: Duration) -> StepResult {
    if case .unreachable(let error) = ending { return .broken(error.sentence) }
    let came = "\(AnswerText.of(ending)) after \(took.shown)"
    let missed = missed(ending, took: took)
    if missed.isEmpty { return .held(came: came) }
    let details = missed.compactMap(\.came)
    let expected = missed.map(\.expected).joined(separator: ", ")
    return .failed(expected: expected, came: details.isEmpty ? came : "\(details.joined(separator: ", ")): \(came)")
  }

  /// One thing that was expected and did not come; `came` adds to the answer's own description.
  private struct Missed {
    var expected: String
    var came: String?
  }

  private func missed(_ ending: DoorAnswer.Ending, took: Duration) -> [Missed] {
    var missed: [Missed] = []
    if let silence = expectation.silence {
      if !Self.matches(silence, ending) { missed.append(Missed(expected: ExpectationText.of(silence))) }
    } else if case .response(let message) = ending {
      missed += self.missed(message)
    } else {
      return [Missed(expected: ExpectationText.of(expectation))]
    }
    if let within = expectation.within, took > within {
      missed.append(Missed(expected: "the whole answer within \(within.shown)"))
    }
    return missed
  }

  private func missed(_ message: HTTPMessage) -> [Missed] {
    var missed: [Missed] = []
    if let status = expectation.status, status != message.status { missed.append(Missed(expected: "status \(status)")) }
    if let type = expectation.type, type != Self.mediaType(message) { missed.append(Missed(expected: "type \(type)")) }
    if let size = expectation.size, !size.contains(message.body.count) {
      missed.append(Missed(expected: ExpectationText.of(size)))
    }
    for header in expectation.headers {
      let value = message.header(header.name).map(JSON.string)
      if !ValueCheck.holds(header.matcher, value) {
        missed.append(
          Missed(
            expected: "header \(header.name) \(ExpectationText.of(header.matcher))",
            came: "\(header.name) is \(ExpectationText.of(value))"))
      }
    }
    return missed + missedInPicture(message) + missedInJSON(message)
  }

  private func missedInPicture(_ message: HTTPMessage) -> [Missed] {
    guard let expected = expectation.jpeg else { return [] }
    guard let facts = JPEGFacts(message.body) else {
      return [Missed(expected: ExpectationText.of(expected), came: "the body is no whole JPEG")]
    }
    var missed: [Missed] = []
    func look(_ holds: Bool, _ expected: String, _ came: String) {
      if !holds { missed.append(Missed(expected: expected, came: came)) }
    }
    if let exif = expected.exif { look(facts.hasEXIF == exif, "exif \(exif)", "exif \(facts.hasEXIF)") }
    if let gps = expected.gps { look(facts.hasPlace == gps, "gps \(gps)", "gps \(facts.hasPlace)") }
    if let width = expected.width {
      look(width.contains(facts.width), "width \(ExpectationText.pixels(width))", "width \(facts.width)")
    }
    if let height = expected.height {
      look(height.contains(facts.height), "height \(ExpectationText.pixels(height))", "height \(facts.height)")
    }
    return missed
  }

  private func missedInJSON(_ message: HTTPMessage) -> [Missed] {
    guard !expectation.json.isEmpty else { return [] }
    guard let root = JSON(parsing: message.body) else {
      let all = expectation.json.map { "\($0.path) \(ExpectationText.of($0.matcher))" }.joined(separator: ", ")
      return [Missed(expected: all, came: "bad-reply: the body is no JSON in UTF-8")]
    }
    return expectation.json.compactMap { entry in
      let value = entry.path.value(in: root)
      if ValueCheck.holds(entry.matcher, value) { return nil }
      return Missed(
        expected: "\(entry.path) \(ExpectationText.of(entry.matcher))",
        came: "\(entry.path) is \(ExpectationText.of(value))")
    }
  }

  private static func mediaType(_ message: HTTPMessage) -> String? {
    guard let field = message.header("Content-Type") else { return nil }
    var type = field.prefix { $0 != ";" }
    while type.last?.isWhitespace == true { type = type.dropLast() }
    return type.lowercased()
  }

  private static func matches(_ silence: Expectation.Silence, _ ending: DoorAnswer.Ending) -> Bool {
    switch (silence, ending) {
    case (.refused, .refused), (.none, .silent(received: 0, _)), (.closed, .badReply): true
    case (.refused, _), (.none, _), (.closed, _): false
    }
  }
}
