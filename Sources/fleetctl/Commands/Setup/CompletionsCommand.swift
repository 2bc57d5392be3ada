import Fleet

/// `fleetctl completions`: what a shell needs to complete command lines.
enum CompletionsCommand {
  static let spec = CommandSpec(
    name: "completions", summary: "a script that lets the shell complete fleetctl's command lines",
    positionals: [PositionalSpec(label: "bash|zsh", help: "the shell", choices: ["bash", "zsh"])],
    notes: [
      "bash: source <(fleetctl completions bash), or into /etc/bash_completion.d/fleetctl. zsh: into a file _fleetctl "
        + "of a folder in $fpath, or source <(fleetctl completions zsh) after compinit.",
      "Names of bodies are taken from fleet.yaml; no phone is touched.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let book = CompletionBook(commands: Commands.all.map(\.spec))
    switch context.invocation.one("bash|zsh") {
    case "bash": try context.output.results(BashCompletion(book: book).lines)
    default: try context.output.results(ZshCompletion(book: book).lines)
    }
    return .done
  }
}
