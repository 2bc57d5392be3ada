/// Texts with names in braces: `{udid}`.
public enum Placeholders {
  /// The names that stand in braces, in order; braces around anything but a name are text.
  public static func names(in text: String) -> [String] {
    var names: [String] = []
    walk(text) { if let name = $1 { names.append(name) } }
    return names
  }

  /// Fills in the names that have a value and leaves all else as it stands. A value is not looked into again.
  public static func fill(_ text: String, _ values: [String: String]) -> String {
    var filled = ""
    walk(text) { piece, name in filled += name.flatMap { values[$0] } ?? piece }
    return filled
  }

  /// Calls the body with each piece of the text, and with its name where it is `{name}`.
  private static func walk(_ text: String, _ body: (String, String?) -> Void) {
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      body(String(rest[..<open]), nil)
      let after = rest[rest.index(after: open)...]
      let name = after.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
      if !name.isEmpty, name.first?.isLetter == true, after[name.endIndex...].first == "}" {
        rest = after[after.index(after: name.endIndex)...]
        body("{\(name)}", String(name))
      } else {
        rest = after
        body("{", nil)
      }
    }
    body(String(rest), nil)
  }
}
