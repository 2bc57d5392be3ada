/// One option as a command declares it; parsing, help and suggestions read the same value.
struct OptionSpec: Equatable, Sendable {
  /// Without the two hyphens.
  var name: String
  var short: Character?
  /// What stands for the value in help; nil for an option that takes none.
  var value: String?
  var help: String
  var repeats = false
  /// The only values taken; empty where any text is.
  var choices: [String] = []

  static func flag(_ name: String, short: Character? = nil, _ help: String) -> OptionSpec {
    OptionSpec(name: name, short: short, value: nil, help: help)
  }

  static func value(
    _ name: String, _ label: String, _ help: String, repeats: Bool = false, choices: [String] = []
  ) -> OptionSpec {
    OptionSpec(name: name, short: nil, value: label, help: help, repeats: repeats, choices: choices)
  }

  /// As it stands in a usage line and in help: `--expect STATE`.
  var usage: String {
    let long = value.map { "--\(name) \($0)" } ?? "--\(name)"
    return short.map { "-\($0), \(long)" } ?? long
  }
}

/// A place on the command line that is no option.
struct PositionalSpec: Equatable, Sendable {
  enum Count: Equatable, Sendable { case one, optional, any, oneOrMore }

  var label: String
  var help: String
  var count = Count.one
  /// Names a phone: must not begin with a hyphen, also after `--`.
  var isBody = false
  /// The only texts taken; empty where any is.
  var choices: [String] = []

  static let body = PositionalSpec(
    label: "BODY", help: "a name from fleet.yaml, a UDID, or an unambiguous start of either", isBody: true)

  /// As it stands in a usage line.
  var usage: String {
    switch count {
    case .one: label
    case .optional: "[\(label)]"
    case .any: "[\(label)]…"
    case .oneOrMore: "\(label)…"
    }
  }

  var needed: Int {
    switch count {
    case .one, .oneOrMore: 1
    case .optional, .any: 0
    }
  }

  var takesMany: Bool {
    switch count {
    case .one, .optional: false
    case .any, .oneOrMore: true
    }
  }
}
