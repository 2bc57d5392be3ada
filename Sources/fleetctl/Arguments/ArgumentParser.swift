import Wire

/// Reads command lines against the commands that are declared.
struct ArgumentParser: Sendable {
  var commands: [CommandSpec]
  /// Commands that are designed and not built yet, with what does their work meanwhile.
  var later: [String: String]

  /// What a command line asks for.
  enum Request: Equatable, Sendable {
    case run(Invocation)
    /// nil for the list of all commands.
    case help(CommandSpec?)
    case version(json: Bool)
    /// Nothing was asked for.
    case nothing
  }

  /// - Parameter arguments: without the program's own name.
  func parse(_ arguments: [String]) throws(UsageError) -> Request {
    var rest = arguments[...]
    var globals: [String: [String]] = [:]
    // Options that every command takes may also stand before its name.
    while let first = rest.first, first.hasPrefix("-"), first != "-", first != "--" {
      rest.removeFirst()
      try take(first, from: &rest, into: &globals, for: nil)
    }
    if rest.first == "--" { rest.removeFirst() }
    guard let name = rest.popFirst() else {
      if globals["help"] != nil { return .help(nil) }
      return globals["version"] != nil ? .version(json: globals["json"] != nil) : .nothing
    }
    if name == "help", !commands.contains(where: { $0.name == "help" }) {
      let words = rest.filter { !$0.hasPrefix("-") }
      guard !words.isEmpty else { return .help(nil) }
      return .help(try command(named: words.joined(separator: " ")))
    }
    if let word = rest.first, let inner = commands.first(where: { $0.name == "\(name) \(word)" }) {
      rest.removeFirst()
      return try parse(rest, of: inner, globals: globals)
    }
    return try parse(rest, of: try command(named: name, before: rest.first), globals: globals)
  }

  private func command(named name: String, before next: String? = nil) throws(UsageError) -> CommandSpec {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let inner = commands.map(\.name).filter { $0.hasPrefix("\(name) ") }
    if !inner.isEmpty {
      guard let next, !next.hasPrefix("-") else { throw .halfACommand(name, commands: inner) }
      let near = NearestWord.to("\(name) \(next)", among: inner) ?? inner.first
      throw .unknownCommand("\(name) \(next)", near: near.map { "'\($0)'" })
    }
    if let meanwhile = later[name] { throw .commandNotBuilt(name, meanwhile: meanwhile) }
    throw .unknownCommand(
      name, near: NearestWord.to(name, among: commands.map(\.name) + ["help"]).map { "'\($0)'" })
  }

  private func parse(
    _ arguments: ArraySlice<String>, of command: CommandSpec, globals: [String: [String]]
  ) throws(UsageError) -> Request {
    var invocation = Invocation(command: command, options: globals)
    var rest = arguments
    var texts: [String] = []
    // Help wins over whatever is wrong beside it: somebody who asks for it is still learning the line.
    let ownPart = arguments.prefix { $0 != "--" }
    if globals["help"] != nil || ownPart.contains("--help") || ownPart.contains("-h") { return .help(command) }
    while let argument = rest.popFirst() {
      if argument == "--" {
        texts += rest
        break
      }
      if argument.hasPrefix("-"), argument != "-" {
        try take(argument, from: &rest, into: &invocation.options, for: command)
      } else {
        texts.append(argument)
      }
    }
    if invocation.has("version") { return .version(json: invocation.has("json")) }
    try place(texts, into: &invocation)
    return .run(invocation)
  }

  /// Reads one option and, where it has one, its value.
  private func take(
    _ argument: String, from rest: inout ArraySlice<String>, into options: inout [String: [String]],
    for command: CommandSpec?
  ) throws(UsageError) {
    let known = command?.allOptions ?? CommandSpec.globals
    let equals = argument.hasPrefix("--") ? argument.firstIndex(of: "=") : nil
    let written = equals.map { String(argument[..<$0]) } ?? argument
    guard let option = known.first(where: { $0.isWritten(written) }) else {
      let name = String(written.drop { $0 == "-" })
      if let command, command.later.contains(name) { throw .optionNotBuilt(name, command: command.name) }
      let near = NearestWord.to(name, among: known.map(\.name))
      throw .unknownOption(written, command: command?.name, near: near.map { "--\($0)" })
    }
    var value = equals.map { String(argument[argument.index(after: $0)...]) }
    if option.value == nil {
      if let value { throw .unwantedValue(option: option.name, value: value, command: command?.name) }
    } else if value == nil {
      guard let next = rest.popFirst() else { throw .missingValue(option, next: nil, command: command?.name) }
      // A value may begin with a hyphen, but an option of ours there means that the value was forgotten.
      let word = String(next.prefix { $0 != "=" })
      if next == "--" || known.contains(where: { $0.isWritten(word) }) {
        throw .missingValue(option, next: next, command: command?.name)
      }
      value = next
    }
    if let value, !option.choices.isEmpty, !option.choices.contains(value) {
      throw .notAChoice(option: option.name, value: value, choices: option.choices, command: command?.name)
    }
    if !option.repeats, option.value != nil, options[option.name] != nil {
      throw .givenTwice(option: option.name, command: command?.name)
    }
    options[option.name, default: []].append(value ?? "")
  }

  /// Hands the texts to the command's places, from the left; the one place that takes many gets what is over.
  private func place(_ texts: [String], into invocation: inout Invocation) throws(UsageError) {
    let command = invocation.command
    var rest = texts[...]
    for (index, positional) in command.positionals.enumerated() {
      let after = command.positionals[(index + 1)...].reduce(0) { $0 + $1.needed }
      let spare = max(0, rest.count - after)
      let count = positional.takesMany ? spare : min(1, spare)
      guard count >= positional.needed else { throw .missingArgument(positional.label, command: command.name) }
      let taken = Array(rest.prefix(count))
      if positional.isBody, let odd = taken.first(where: { $0.hasPrefix("-") || $0.isEmpty }) {
        throw .hyphenBody(odd, command: command.name)
      }
      if !positional.choices.isEmpty, let odd = taken.first(where: { !positional.choices.contains($0) }) {
        throw .notAnArgument(odd, choices: positional.choices, command: command.name)
      }
      invocation.positionals[positional.label] = taken
      rest = rest.dropFirst(count)
    }
    guard let extra = rest.first else { return }
    let inner = commands.map(\.name).filter { $0.hasPrefix("\(command.name) ") }
      .map { String($0.dropFirst(command.name.count + 1)) }
    throw .unexpectedArgument(
      extra, command: command.name, near: NearestWord.to(extra, among: inner).map { "'\(command.name) \($0)'" })
  }
}

extension OptionSpec {
  /// Whether a word of the command line is this option.
  fileprivate func isWritten(_ word: String) -> Bool {
    word == "--\(name)" || short.map { word == "-\($0)" } == true
  }
}
