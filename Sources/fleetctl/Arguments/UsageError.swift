import Wire

/// Why a command line is not understood. Cases carry data; the prose is made here.
enum UsageError: Error, Equatable, Sendable {
  case unknownCommand(String, near: String?)
  case commandNotBuilt(String, meanwhile: String)
  case optionNotBuilt(String, command: String)
  case unknownOption(String, command: String?, near: String?)
  case missingValue(OptionSpec, next: String?, command: String?)
  case unwantedValue(option: String, value: String, command: String?)
  case givenTwice(option: String, command: String?)
  case notAChoice(option: String, value: String, choices: [String], command: String?)
  /// `wanted` is a noun phrase such as "a number from 1 to 256".
  case badValue(option: String, value: String, wanted: String, command: String?)
  case missingArgument(String, command: String)
  case notAnArgument(String, choices: [String], command: String)
  /// A word that only stands before others, without one of them.
  case halfACommand(String, commands: [String])
  case unexpectedArgument(String, command: String, near: String?)
  case hyphenBody(String, command: String)
  /// Options or arguments that exclude or need each other; the first two parts of the sentence.
  case contradiction(String, command: String)

  /// What happened, the likely cause, the next command to type.
  var sentence: String {
    switch self {
    case .unknownCommand(let typed, let near):
      "There is no command \(quoted(typed)). \(guess(near)) See them all: fleetctl help."
    case .commandNotBuilt(let name, let meanwhile):
      "This version of fleetctl does not have \(quoted(name)) yet. It is planned, and nothing was done. "
        + "Until then: \(meanwhile)."
    case .optionNotBuilt(let option, let command):
      "This version of fleetctl does not have --\(option) of \(quoted(command)) yet. It is planned, and nothing was done. "
        + next(command)
    case .unknownOption(let typed, let command, let near):
      "There is no option \(quoted(typed))\(of(command)). \(guess(near)) \(next(command))"
    case .missingValue(let option, let following, let command):
      if let following {
        "--\(option.name) needs a value (\(option.value ?? "")), and \(quoted(following)) after it is an option. "
          + "If it is the value, write it as --\(option.name)=\(following.printable). \(next(command))"
      } else {
        "--\(option.name) needs a value (\(option.value ?? "")). The command line ends before it. \(next(command))"
      }
    case .unwantedValue(let option, let value, let command):
      "--\(option) takes no value. It was given \(quoted(value)). \(next(command))"
    case .givenTwice(let option, let command):
      "--\(option) was given twice. It can stand only once. \(next(command))"
    case .notAChoice(let option, let value, let choices, let command):
      "--\(option) cannot be \(quoted(value)). It is one of \(choices.joined(separator: ", ")). \(next(command))"
    case .badValue(let option, let value, let wanted, let command):
      "--\(option) cannot be \(quoted(value)). It takes \(wanted). \(next(command))"
    case .missingArgument(let label, let command):
      "\(quoted(command)) needs \(label). The command line ends before it. \(next(command))"
    case .notAnArgument(let typed, let choices, let command):
      "\(quoted(command)) does not take \(quoted(typed)). It takes one of \(choices.joined(separator: ", ")). "
        + next(command)
    case .halfACommand(let word, let commands):
      "\(quoted(word)) is no command by itself. It stands before another word: \(commands.joined(separator: ", ")). "
        + next(commands.first)
    case .unexpectedArgument(let typed, let command, let near):
      "\(quoted(command)) does not take \(quoted(typed)). \(guess(near)) \(next(command))"
    case .hyphenBody(let typed, let command):
      "\(quoted(typed)) cannot be a body's name. A name must not begin with a hyphen. \(next(command))"
    case .contradiction(let text, let command):
      "\(text) \(next(command))"
    }
  }

  private func quoted(_ text: String) -> String { "'\(text.printable)'" }

  private func of(_ command: String?) -> String { command.map { " of '\($0)'" } ?? "" }

  private func guess(_ near: String?) -> String {
    near.map { "Did you mean \($0)?" } ?? "It may be mistyped."
  }

  private func next(_ command: String?) -> String {
    command.map { "See: fleetctl help \($0)." } ?? "See: fleetctl help."
  }
}
