import Wire

/// A command line, understood: which command, and what it was given.
struct Invocation: Equatable, Sendable {
  var command: CommandSpec
  /// By name without hyphens; an option without value has empty texts, one for each time it was given.
  var options: [String: [String]] = [:]
  /// By label.
  var positionals: [String: [String]] = [:]

  func has(_ option: String) -> Bool { options[option] != nil }

  /// Every value of a repeatable option, in order.
  func values(_ option: String) -> [String] { options[option] ?? [] }

  func value(_ option: String) -> String? { options[option]?.last }

  /// The texts at a place of the command line.
  func all(_ label: String) -> [String] { positionals[label] ?? [] }

  /// A place's only text; empty where an optional one was left out.
  func one(_ label: String) -> String { positionals[label]?.first ?? "" }

  /// An option's value as a whole number.
  func number(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let wanted =
        range.upperBound == .max
        ? "a whole number from \(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
      throw .badValue(option: option, value: text, wanted: wanted, command: command.name)
    }
    return number
  }

  /// An option's value as a number with decimals.
  func factor(_ option: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
    guard let text = value(option) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw .badValue(option: option, value: text, wanted: "a number \(range.words)", command: command.name)
    }
    return number
  }

  /// An option's value as comma-separated texts, none of them empty.
  func list(_ option: String) throws(UsageError) -> [String]? {
    guard let text = value(option) else { return nil }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.allSatisfy({ !$0.isEmpty }) else {
      throw .badValue(option: option, value: text, wanted: "texts with commas between", command: command.name)
    }
    return parts
  }

  /// A repeatable option's values as NAME=VALUE, in order; a name may stand once only.
  func pairs(_ option: String) throws(UsageError) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    for text in values(option) {
      guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
        throw .badValue(option: option, value: text, wanted: "NAME=VALUE", command: command.name)
      }
      let name = String(text[..<equals])
      guard !pairs.contains(where: { $0.name == name }) else {
        throw .contradiction("--\(option) names '\(name.printable)' twice. Each can stand once.", command: command.name)
      }
      pairs.append((name, String(text[text.index(after: equals)...])))
    }
    return pairs
  }
}

extension ClosedRange<Double> {
  /// As help and refusals say it: `from 0.01 to 10000`.
  var words: String { "from \(Self.short(lowerBound)) to \(Self.short(upperBound))" }

  private static func short(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }
}
