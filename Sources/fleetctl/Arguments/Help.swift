/// Help texts, made from the same values that the parser reads.
enum Help {
  private static let width = 78

  /// The list of commands.
  static func overview(_ commands: [CommandSpec]) -> String {
    let rows = commands.map { ($0.name, $0.summary) }
    return """
      fleetctl tells the truth about iPhones that run a kiosk app, and proves on them
      that the app refuses what it must refuse and always comes back.

      usage: fleetctl COMMAND [OPTION]… [ARGUMENT]…

      commands:
      \(list(rows))

      options of every command:
      \(list(CommandSpec.globals.map { ($0.usage, $0.help) }))

      exit codes: 0 done and true, 1 the answer is no, 2 the command line or a file is
      wrong and nothing ran, 3 the harness could not do its work, 4 nothing was
      judged, 130 and 143 ended by a signal.

      One command's own help: fleetctl help COMMAND
      """
  }

  /// One command's help.
  static func text(_ command: CommandSpec) -> String {
    var parts = ["\(command.summary)", usage(command)]
    if !command.positionals.isEmpty {
      parts.append("arguments:\n" + list(command.positionals.map { ($0.label, $0.help) }))
    }
    if !command.options.isEmpty {
      parts.append("options:\n" + list(command.options.map { ($0.usage, $0.help) }))
    }
    parts.append("options of every command:\n" + list(CommandSpec.globals.map { ($0.usage, $0.help) }))
    parts += command.notes.map { wrap($0, indent: 0) }
    return parts.joined(separator: "\n\n")
  }

  private static func usage(_ command: CommandSpec) -> String {
    let options = command.options.map { "[\($0.usage)]" + ($0.repeats ? "…" : "") }
    return wrap(["usage: fleetctl", command.name] + options + command.positionals.map(\.usage), indent: 4)
  }

  /// Two columns; the second is wrapped under itself.
  private static func list(_ rows: [(String, String)]) -> String {
    let left = min(28, rows.map { DisplayWidth.of($0.0) }.max() ?? 0)
    return rows.map { name, text in
      let body = wrap(text, indent: left + 4)
      let gap = DisplayWidth.of(name)
      return gap > left
        ? "  \(name)\n" + String(repeating: " ", count: left + 4) + body
        : "  \(name)" + String(repeating: " ", count: left + 2 - gap) + body
    }.joined(separator: "\n")
  }

  private static func wrap(_ text: String, indent: Int) -> String {
    wrap(text.split(separator: " ").map(String.init), indent: indent)
  }

  private static func wrap(_ words: [String], indent: Int) -> String {
    var lines: [String] = []
    var line = ""
    for word in words {
      if !line.isEmpty, line.count + 1 + word.count > width - indent {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }
}
