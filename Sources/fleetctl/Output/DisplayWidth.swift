/// How many columns of a terminal a text takes.
enum DisplayWidth {
  static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

  /// A character is as wide as what it is built from, two columns at most: marks add nothing to their base, a flag's two
  /// halves make two, and an emoji of several joined ones is drawn as one.
  private static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    // The variation selector asks for the coloured form of a character that also has a narrow one.
    if scalars.contains("\u{FE0F}") { return 2 }
    return min(2, scalars.reduce(0) { $0 + of($1) })
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation, !regionalIndicators.contains(scalar.value) { return 2 }
    // Vowels and finals of Hangul join the leading consonant before them.
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  /// Unicode's East Asian Width W and F (EastAsianWidth.txt), neighbouring blocks joined.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]
}
