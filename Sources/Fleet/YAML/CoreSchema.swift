import Glibc
import Wire

extension Reading {
  /// A value of any shape under YAML 1.2's core schema: quoted is text.
  public func json(_ node: YAMLNode) -> JSON? {
    switch node.value {
    case .scalar(let text, plain: false): return .string(text)
    case .scalar(let text, plain: true): return CoreSchema.value(text)
    case .sequence(let items):
      let values = items.compactMap(json)
      return values.count == items.count ? .array(values) : nil
    case .mapping(let entries):
      var object: [String: JSON] = [:]
      for entry in entries {
        guard let value = json(entry.value) else { return nil }
        object[entry.key] = value
      }
      return .object(object)
    }
  }
}

/// What an unquoted word is under YAML 1.2's core schema.
enum CoreSchema {
  static func value(_ text: String) -> JSON {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return true
    case "false", "False", "FALSE": return false
    case ".nan", ".NaN", ".NAN": return .number(.nan)
    case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .number(.infinity)
    case "-.inf", "-.Inf", "-.INF": return .number(-.infinity)
    default: return number(text) ?? .string(text)
    }
  }

  private static func number(_ text: String) -> JSON? {
    if text.hasPrefix("0x"), let value = Int64(text.dropFirst(2), radix: 16), isDigits(text.dropFirst(2), hex: true) {
      return .integer(value)
    }
    if text.hasPrefix("0o"), let value = Int64(text.dropFirst(2), radix: 8), isDigits(text.dropFirst(2), hex: false) {
      return .integer(value)
    }
    let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    if isDigits(unsigned, hex: false), let value = Int64(text) { return .integer(value) }
    return isFraction(unsigned) ? Double(text.hasSuffix(".") ? text + "0" : text).map(JSON.number) : nil
  }

  private static func isDigits(_ text: Substring, hex: Bool) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || (hex && isxdigit(Int32($0)) != 0) }
  }

  /// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
  private static func isFraction(_ text: Substring) -> Bool {
    var rest = text
    let whole = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest.dropFirst(whole.count)
    if rest.first == "." {
      rest = rest.dropFirst()
      let fraction = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(fraction.count)
      if whole.isEmpty, fraction.isEmpty { return false }
    } else if whole.isEmpty {
      return false
    }
    if rest.first == "e" || rest.first == "E" {
      rest = rest.dropFirst()
      if rest.first == "-" || rest.first == "+" { rest = rest.dropFirst() }
      return isDigits(rest, hex: false)
    }
    return rest.isEmpty
  }
}
