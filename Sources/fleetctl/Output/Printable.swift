extension String {
  /// The text without anything that could steer a terminal or break a line: control characters, line separators and
  /// marks that turn the writing direction appear as escapes such as `\u{1B}`.
  var printable: String {
    guard unicodeScalars.contains(where: Self.steers) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if !Self.steers(scalar) {
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
  var printableLines: String { split(separator: "\n").map { String($0).printable }.joined(separator: "; ") }

  private static let shortEscapes: [Unicode.Scalar: String] = ["\n": "\\n", "\r": "\\r", "\t": "\\t"]

  private static func steers(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Line and paragraph separators, then the direction marks, embeddings, overrides and isolates.
    case 0x2028, 0x2029, 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
