import Testing

@testable import fleetctl

@Suite struct `help` {
  @Test func `of a command is made from what the parser reads`() {
    let command = CommandSpec(
      name: "launch", summary: "Bring the app to the front.", positionals: [.body],
      options: [.value("arg", "A", "an argument", repeats: true), .flag("fresh", "end a running one first")],
      later: ["soon"], notes: ["Exit codes: 0 accepted."])

    let text = Help.text(command)

    #expect(text.contains("usage: fleetctl launch [--arg A]… [--fresh] BODY"))
    #expect(text.contains("  --arg A  an argument"))
    #expect(text.contains("  BODY  a name from fleet.yaml"))
    #expect(text.contains("-v, --verbose"))
    #expect(text.contains("Exit codes: 0 accepted."))
    #expect(!text.contains("soon"))
  }

  @Test func `has no line wider than eighty columns`() {
    let commands = Commands.all.map(\.spec)
    for text in commands.map(Help.text) + [Help.overview(commands)] {
      for line in text.split(separator: "\n") {
        #expect(DisplayWidth.of(String(line)) <= 80, "\(line)")
      }
    }
  }

  @Test func `lists what works and nothing that is only planned`() {
    let names = Commands.all.map(\.spec.name)

    #expect(Set(names).count == names.count)
    #expect(Set(names).isDisjoint(with: Commands.later.keys))
    for command in Commands.all.map(\.spec) {
      #expect(Set(command.allOptions.map(\.name)).count == command.allOptions.count, "\(command.name)")
      #expect(Set(command.allOptions.map(\.name)).isDisjoint(with: command.later), "\(command.name)")
    }
  }
}
