/// Text as an HTML page can show it, between tags and between double quotes alike.
public enum HTMLText {
  /// What has a meaning there is written as an entity; control characters, marks that turn the writing direction and what is
  /// no character appear as U+FFFD.
  public static func of(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
      default: escaped.append(isShown(scalar) ? scalar : "\u{FFFD}")
      }
    }
    return String(escaped)
  }

  /// Neither control characters nor marks that turn the writing direction of what follows.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: true
    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: false
    default: !scalar.properties.isNoncharacterCodePoint
    }
  }
}
