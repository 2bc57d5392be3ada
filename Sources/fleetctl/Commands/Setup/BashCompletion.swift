/// The script for bash.
struct BashCompletion {
  var book: CompletionBook

  var lines: [String] {
    [
      "# bash completion for fleetctl, made by: fleetctl completions bash",
      "_fleetctl_bodies() {",
      "  local name",
      "  \(CompletionBook.bodyNames("\"${COMP_WORDS[0]}\"")) | while IFS= read -r name; do",
      "    [[ $name == \"$1\"* ]] && printf '%q\\n' \"$name\"",
      "  done",
      "}",
      "_fleetctl() {",
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i",
      "  local options='' words='' bodies='' files=''",
      "  COMPREPLY=()",
      "  for ((i = 1; i < COMP_CWORD; i++)); do",
      "    case ${COMP_WORDS[i]} in",
      "      \(book.globalsWithValue.joined(separator: "|"))) ((++i)) ;;",
      "      -*) ;;",
      "      *) command=${COMP_WORDS[i]}; ((++i)); break ;;",
      "    esac",
      "  done",
      "  if ((i < COMP_CWORD)); then",
      "    case \"$command ${COMP_WORDS[i]}\" in",
      "      \(book.pairs.map { "'\($0)'" }.joined(separator: "|"))) command=\"$command ${COMP_WORDS[i]}\" ;;",
      "    esac",
      "  fi",
      "  case \"$command $prev\" in",
    ]
      + book.values.map { "    \($0.keys.joined(separator: "|"))) \(assignments([$0.kind])) ;;" }
      + ["    *)", "      case $command in"]
      + arguments.map { "        \($0)" }
      + [
        "      esac",
        "      if [[ $cur == -* ]]; then words=$options bodies='' files=''; fi ;;",
        "  esac",
        "  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")",
        "  [[ -n $bodies ]] && mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(_fleetctl_bodies \"$cur\")",
        "  if [[ -n $files ]]; then",
        "    compopt -o filenames 2>/dev/null",
        "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")",
        "  fi",
        "  return 0",
        "}",
        "complete -F _fleetctl fleetctl",
      ]
  }

  /// One line of the inner `case` for each command.
  private var arguments: [String] {
    let heads = book.heads.map(\.word)
    let none = arm("''", CommandSpec.globals, [.words(heads)])
    let help = arm("'help'", [], [.words(heads.filter { $0 != "help" })])
    let groups = book.groups.map { arm("'\($0)'", [], [.words(book.inner(of: $0))]) }
    return [none, help] + groups + book.commands.map { arm("'\($0.name)'", $0.allOptions, book.kinds(of: $0)) }
  }

  private func arm(_ pattern: String, _ options: [OptionSpec], _ kinds: [CompletionBook.Kind]) -> String {
    let words = book.words(of: options).map(\.word).joined(separator: " ")
    return "\(pattern)) options='\(words)' \(assignments(kinds)) ;;"
  }

  private func assignments(_ kinds: [CompletionBook.Kind]) -> String {
    var words: [String] = []
    var rest: [String] = []
    for kind in kinds {
      switch kind {
      case .words(let more): words += more
      case .bodies: rest.append("bodies=1")
      case .files: rest.append("files=1")
      case .nothing: break
      }
    }
    return (["words='\(words.joined(separator: " "))'"] + rest).joined(separator: " ")
  }
}
