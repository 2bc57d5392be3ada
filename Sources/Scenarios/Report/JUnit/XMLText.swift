/// Text as XML 1.0 can carry it.
///
/// What the format forbids, even as a reference, becomes U+FFFD: a report that the build server throws away as a whole
/// tells nobody anything.
enum XMLText {
  /// Between tags.
  static func content(_ text: String) -> String { escaped(text, inAttribute: false) }

  /// Between double quotes; line ends are kept as references, since a reader would make blanks of them.
  static func attribute(_ text: String) -> String { escaped(text, inAttribute: true) }

  private static func escaped(_ text: String, inAttribute: Bool) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "\"" where inAttribute: escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "\n" where inAttribute: escaped.append(contentsOf: "&#10;".unicodeScalars)
      case "\t" where inAttribute: escaped.append(contentsOf: "&#9;".unicodeScalars)
      case "\r": escaped.append(contentsOf: "&#13;".unicodeScalars)
      default: escaped.append(isAllowed(scalar) ? scalar : "\u{FFFD}")
      }
    }
    return String(escaped)
  }

  /// XML 1.0's characters, without those that it allows and advises against.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: true
    case 0..<0x20, 0x7F..<0xA0: false
    default: !scalar.properties.isNoncharacterCodePoint
    }
  }
}
