/// What a command is called and what it takes.
struct CommandSpec: Equatable, Sendable {
  /// One word, or two such as `virtual do`.
  var name: String
  /// One line for the list of commands.
  var summary: String
  var positionals: [PositionalSpec] = []
  var options: [OptionSpec] = []
  /// Names of options that are designed and not built yet: they are told apart from unknown ones.
  var later: [String] = []
  /// Paragraphs under the options in the command's own help.
  var notes: [String] = []

  /// The options that every command takes.
  static let globals: [OptionSpec] = [
    .flag("json", "print one JSON object a line"),
    .value("config", "PATH", "the fleet.yaml to use"),
    .value("mux", "ADDRESS", "usbmuxd's socket: a path, UNIX:PATH or HOST:PORT (else USBMUXD_SOCKET_ADDRESS)"),
    .value("color", "WHEN", "colour: auto, always or never", choices: ["auto", "always", "never"]),
    .flag("verbose", short: "v", "say more on standard error"),
    .flag("version", "print the version and end"),
    .flag("help", short: "h", "print this help and end"),
  ]

  var allOptions: [OptionSpec] { options + Self.globals }

  func option(named name: String) -> OptionSpec? { allOptions.first { $0.name == name } }

  func option(short: Character) -> OptionSpec? { allOptions.first { $0.short == short } }
}
