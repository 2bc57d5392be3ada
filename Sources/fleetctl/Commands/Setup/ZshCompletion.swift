/// The script for zsh.
struct ZshCompletion {
  var book: CompletionBook

  var lines: [String] {
    [
      "#compdef fleetctl",
      "# zsh completion for fleetctl, made by: fleetctl completions zsh",
      "_fleetctl() {",
      "  local cur=${words[CURRENT]} prev=${words[CURRENT-1]} command='' bodies='' files='' i",
      "  local -a options items names",
      "  for ((i = 2; i < CURRENT; i++)); do",
      "    case ${words[i]} in",
      "      (\(book.globalsWithValue.joined(separator: "|"))) ((++i)) ;;",
      "      (-*) ;;",
      "      (*) command=${words[i]}; ((++i)); break ;;",
      "    esac",
      "  done",
      "  if ((i < CURRENT)); then",
      "    case \"$command ${words[i]}\" in",
      "      (\(book.pairs.map { "'\($0)'" }.joined(separator: "|"))) command=\"$command ${words[i]}\" ;;",
      "    esac",
      "  fi",
      "  case \"$command $prev\" in",
    ]
      + book.values.map { "    (\($0.keys.joined(separator: "|"))) \(assignments([$0.kind])) ;;" }
      + ["    (*)", "      case $command in"]
      + arguments.map { "        \($0)" }
      + [
        "      esac",
        "      if [[ $cur == -* ]]; then items=() bodies='' files=''; else options=(); fi ;;",
        "  esac",
        "  (($#options)) && _describe -o option options",
        "  (($#items)) && _describe argument items",
        "  if [[ -n $bodies ]]; then",
        "    names=(${(f)\"$(\(CompletionBook.bodyNames("${words[1]}")))\"})",
        "    compadd -a names",
        "  fi",
        "  [[ -n $files ]] && _files",
        "  return 0",
        "}",
        "if [[ ${funcstack[1]} == _fleetctl ]]; then _fleetctl \"$@\"; else compdef _fleetctl fleetctl; fi",
      ]
  }

  private var arguments: [String] {
    let heads = book.heads.map { Self.item($0.word, $0.summary) }
    let none = arm("''", CommandSpec.globals, heads, [])
    let help = arm("'help'", [], heads, [])
    let groups = book.groups.map { arm("'\($0)'", [], book.inner(of: $0).map { "'\($0)'" }, []) }
    return [none, help] + groups
      + book.commands.map { arm("'\($0.name)'", $0.allOptions, [], book.kinds(of: $0)) }
  }

  private func arm(
    _ pattern: String, _ options: [OptionSpec], _ items: [String], _ kinds: [CompletionBook.Kind]
  ) -> String {
    let described = book.words(of: options).map { Self.item($0.word, $0.help) }.joined(separator: " ")
    return "(\(pattern)) options=(\(described)) \(assignments(kinds, items)) ;;"
  }

  private func assignments(_ kinds: [CompletionBook.Kind], _ items: [String] = []) -> String {
    var items = items
    var rest: [String] = []
    for kind in kinds {
      switch kind {
      case .words(let words): items += words.map { "'\($0)'" }
      case .bodies: rest.append("bodies=1")
      case .files: rest.append("files=1")
      case .nothing: break
      }
    }
    return (["items=(\(items.joined(separator: " ")))"] + rest).joined(separator: " ")
  }

  /// A word and what it means, as `_describe` takes them.
  private static func item(_ word: String, _ text: String) -> String {
    "'" + "\(word):\(text)".replacing("'", with: "'\\''") + "'"
  }
}
