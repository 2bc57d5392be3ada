/// Text that others wrote: phones, files, people.
extension String {
  /// Made fit for a sentence: one line of bounded length, in which nothing steers a terminal.
  ///
  /// - Parameter limit: of characters as Unicode counts them, not as people do.
  public func oneLine(limit: Int = 300) -> String {
    var line = UnicodeScalarView()
    for scalar in unicodeScalars.prefix(limit) {
      line.append(!scalar.steers ? scalar : scalar.properties.isWhitespace ? " " : "\u{FFFD}")
    }
    while line.last == " " { line.removeLast() }
    return String(line)
  }

  /// The same text, whole, with escapes such as `\u{1B}` for what could steer a terminal or break a line.
  public var printable: String {
    guard unicodeScalars.contains(where: \.steers) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if !scalar.steers {
        text.unicodeScalars.append(scalar)
      } else if let short = Self.shortEscapes[scalar] {
        text += short
      } else {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return text
  }

  /// `printable` for each line by itself, all of them in one line.
  public var printableLines: String { split(separator: "\n").map { String($0).printable }.joined(separator: "; ") }

  private static let shortEscapes: [Unicode.Scalar: String] = ["\n": "\\n", "\r": "\\r", "\t": "\\t"]
}

extension Unicode.Scalar {
  /// Whether it could steer a terminal or break a line: control characters, line separators, marks that turn the writing
  /// direction, and what is no character.
  public var steers: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Line and paragraph separators, then the direction marks, embeddings, overrides and isolates.
    case 0x2028, 0x2029, 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
    default: properties.isNoncharacterCodePoint
    }
  }
}
