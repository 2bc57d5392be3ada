import Wire

/// The KEY=VALUE pairs of one action, read in the types that they are meant in.
struct ActionValues: Sendable {
  private let values: [String: String]

  init(_ values: [String: String]) { self.values = values }

  subscript(key: String) -> String? { values[key] }

  /// One of a few words; `fallback` when the key is not given.
  func word(_ key: String, of words: [String], else fallback: String) throws(ActionError) -> String {
    guard let value = values[key] else { return fallback }
    guard words.contains(value) else {
      throw Spelling.refusal(
        "\(key)=\(value) is not known.", meant: value, among: words, next: "\(key)=\(words.first ?? "")")
    }
    return value
  }

  /// `yes` or `no`; `fallback` when the key is not given.
  func flag(_ key: String, else fallback: Bool) throws(ActionError) -> Bool {
    try word(key, of: ["yes", "no"], else: fallback ? "yes" : "no") == "yes"
  }

  /// A whole number within the range; nil when the key is not given.
  func integer(_ key: String, in range: ClosedRange<Int>) throws(ActionError) -> Int? {
    guard let text = values[key] else { return nil }
    guard let value = Int(text), range.contains(value) else {
      throw ActionError(
        "\(key)=\(text) is no whole number from \(range.lowerBound) to \(range.upperBound). "
          + "It may be misspelt. Try: \(key)=\(range.lowerBound).")
    }
    return value
  }

  /// A number within the range; nil when the key is not given.
  func number(_ key: String, in range: ClosedRange<Double>) throws(ActionError) -> Double? {
    guard let text = values[key] else { return nil }
    guard let value = Double(text), range.contains(value) else {
      throw ActionError(
        "\(key)=\(text) is no number from \(range.lowerBound) to \(range.upperBound). "
          + "It may be misspelt. Try: \(key)=\(range.lowerBound).")
    }
    return value
  }

  /// A time such as `5ms`, `2s`, `1.5s`, `3m` or `1h`, up to a day; a bare number is seconds. Nil when not given.
  func duration(_ key: String) throws(ActionError) -> Duration? {
    guard let text = values[key] else { return nil }
    let span = Duration(text: text) ?? Double(text).flatMap { $0.magnitude < 1e9 ? .seconds($0) : nil }
    guard let span, (.zero...(.seconds(86_400))).contains(span) else {
      throw ActionError(
        "\(key)=\(text) is no time. A time is a number with ms, s, m or h behind it, up to a day. Try: \(key)=5s.")
    }
    return span
  }
}
