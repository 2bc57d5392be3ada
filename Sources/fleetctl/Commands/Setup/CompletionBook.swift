/// What can stand where on a command line, for the shells' scripts; made from the same values that the parser reads.
struct CompletionBook: Sendable {
  /// What a value or an argument is completed to.
  enum Kind: Hashable, Sendable {
    case words([String])
    case bodies, files
    /// Something that nobody can guess.
    case nothing
  }

  var commands: [CommandSpec]

  /// The first words of all commands, each once, with what they do.
  var heads: [(word: String, summary: String)] {
    var heads: [(word: String, summary: String)] = []
    for command in commands {
      let words = command.name.split(separator: " ").map(String.init)
      guard let head = words.first, !heads.contains(where: { $0.word == head }) else { continue }
      heads.append((head, command.summary))
    }
    return heads + [("help", "one command's own help, or the list of all")]
  }

  /// The names of two words.
  var pairs: [String] { commands.map(\.name).filter { $0.contains(" ") } }

  /// The second words that a first one can have.
  func inner(of head: String) -> [String] {
    pairs.filter { $0.hasPrefix("\(head) ") }.map { String($0.dropFirst(head.count + 1)) }
  }

  /// First words that are no command by themselves.
  var groups: [String] {
    let names = commands.map(\.name)
    return heads.map(\.word).filter { !names.contains($0) && !inner(of: $0).isEmpty }
  }

  /// As it is written, for each option.
  func words(of options: [OptionSpec]) -> [(word: String, help: String)] { options.map { ("--\($0.name)", $0.help) } }

  /// What an option's value is.
  ///
  /// - Returns: nil for an option that takes none.
  func kind(of option: OptionSpec) -> Kind? {
    guard let label = option.value else { return nil }
    if !option.choices.isEmpty { return .words(option.choices) }
    if option.name == "body" { return .bodies }
    return ["PATH", "FILE", "DIR"].contains(label) ? .files : .nothing
  }

  /// What a command's arguments can be, whatever their order.
  func kinds(of command: CommandSpec) -> [Kind] {
    var kinds: [Kind] = inner(of: command.name).isEmpty ? [] : [.words(inner(of: command.name))]
    for place in command.positionals {
      if !place.choices.isEmpty {
        kinds.append(.words(place.choices))
      } else if place.label == PositionalSpec.body.label {
        kinds.append(.bodies)
      } else if place.label.hasPrefix("FILE") {
        kinds.append(.files)
      }
    }
    return kinds
  }

  /// Options with values, as `command --option`, by what the value is; those of every command have no command.
  var values: [(kind: Kind, keys: [String])] {
    var values: [(kind: Kind, keys: [String])] = []
    func add(_ option: OptionSpec, of command: String?) {
      guard let kind = kind(of: option) else { return }
      let key = command.map { "'\($0) --\(option.name)'" } ?? "*' --\(option.name)'"
      if let index = values.firstIndex(where: { $0.kind == kind }) {
        values[index].keys.append(key)
      } else {
        values.append((kind, [key]))
      }
    }
    for option in CommandSpec.globals { add(option, of: nil) }
    for command in commands { for option in command.options { add(option, of: command.name) } }
    return values
  }

  /// Options of every command that have a value: they may stand before the command's name.
  var globalsWithValue: [String] { CommandSpec.globals.filter { $0.value != nil }.map { "--\($0.name)" } }

  /// Prints the names of fleet.yaml's bodies; the shell's word for the program is filled in.
  static func bodyNames(_ program: String) -> String {
    "\(program) config show 2>/dev/null | sed -n 's/^bodies\\.\\(.*\\)\\.udid  .*/\\1/p'"
  }
}
