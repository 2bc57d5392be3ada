/// Prometheus' text format, version 0.0.4: each family once, its samples together.
struct PrometheusText {
  enum Kind: String { case gauge, counter }

  private(set) var text = ""

  /// One family of samples.
  ///
  /// - Parameters:
  ///   - name: with its base unit at its end; `_total` for counters.
  ///   - samples: labels in the order in which they are written, and a value; one without a value is left out.
  mutating func family(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], value: Double?)]
  ) {
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    for (labels, value) in samples {
      guard let value else { continue }
      let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",")
      text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n"
    }
  }

  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ value: Double?) {
    family(name, kind, help, [([], value)])
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
