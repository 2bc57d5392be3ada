import Testing

@testable import fleetctl

@Suite struct `a command line` {
  static let parser = ArgumentParser(
    commands: [
      CommandSpec(name: "devices", summary: "", options: [.value("wait", "DURATION", "")], later: ["watch"]),
      CommandSpec(
        name: "lock-state", summary: "", positionals: [.body],
        options: [.value("expect", "STATE", "", choices: ["locked", "unlocked"])]),
      CommandSpec(
        name: "launch", summary: "", positionals: [.body],
        options: [.value("arg", "A", "", repeats: true), .value("env", "K=V", "", repeats: true), .flag("fresh", "")]),
      CommandSpec(
        name: "install", summary: "",
        positionals: [
          PositionalSpec(label: "BODY", help: "", count: .oneOrMore, isBody: true),
          PositionalSpec(label: "FILE", help: ""),
        ]),
      CommandSpec(name: "virtual", summary: "", options: [.value("phones", "N", "")]),
      CommandSpec(
        name: "virtual do", summary: "",
        positionals: [
          PositionalSpec(label: "PHONE", help: ""), PositionalSpec(label: "ACTION", help: ""),
          PositionalSpec(label: "KEY=VALUE", help: "", count: .any),
        ]),
    ], later: ["revive": "fleetctl launch BODY"])

  struct Wrong: CustomTestStringConvertible, Sendable {
    var line: String
    var sentence: String
    var testDescription: String { line }
  }

  static let wrong = [
    Wrong(
      line: "devcies",
      sentence: "There is no command 'devcies'. Did you mean 'devices'? See them all: fleetctl help."),
    Wrong(
      line: "dev", sentence: "There is no command 'dev'. Did you mean 'devices'? See them all: fleetctl help."),
    Wrong(
      line: "teleport", sentence: "There is no command 'teleport'. It may be mistyped. See them all: fleetctl help."),
    Wrong(
      line: "revive hall",
      sentence:
        "This version of fleetctl does not have 'revive' yet. It is planned, and nothing was done. "
        + "Until then: fleetctl launch BODY."),
    Wrong(
      line: "devices --watch",
      sentence:
        "This version of fleetctl does not have --watch of 'devices' yet. It is planned, and nothing was done. "
        + "See: fleetctl help devices."),
    Wrong(
      line: "lock-state hall --exepct locked",
      sentence:
        "There is no option '--exepct' of 'lock-state'. Did you mean --expect? See: fleetctl help lock-state."),
    Wrong(
      line: "devices -x",
      sentence: "There is no option '-x' of 'devices'. It may be mistyped. See: fleetctl help devices."),
    Wrong(
      line: "--jsn devices", sentence: "There is no option '--jsn'. Did you mean --json? See: fleetctl help."),
    Wrong(
      line: "devices --mux",
      sentence: "--mux needs a value (ADDRESS). The command line ends before it. See: fleetctl help devices."),
    Wrong(
      line: "lock-state hall --expect --json",
      sentence:
        "--expect needs a value (STATE), and '--json' after it is an option. "
        + "If it is the value, write it as --expect=--json. See: fleetctl help lock-state."),
    Wrong(
      line: "lock-state hall --expect open",
      sentence: "--expect cannot be 'open'. It is one of locked, unlocked. See: fleetctl help lock-state."),
    Wrong(
      line: "lock-state hall --expect locked --expect=locked",
      sentence: "--expect was given twice. It can stand only once. See: fleetctl help lock-state."),
    Wrong(
      line: "launch hall --fresh=yes",
      sentence: "--fresh takes no value. It was given 'yes'. See: fleetctl help launch."),
    Wrong(
      line: "devices --color sometimes",
      sentence: "--color cannot be 'sometimes'. It is one of auto, always, never. See: fleetctl help devices."),
    Wrong(
      line: "lock-state",
      sentence: "'lock-state' needs BODY. The command line ends before it. See: fleetctl help lock-state."),
    Wrong(
      line: "install hall",
      sentence: "'install' needs BODY. The command line ends before it. See: fleetctl help install."),
    Wrong(
      line: "lock-state hall stairs",
      sentence: "'lock-state' does not take 'stairs'. It may be mistyped. See: fleetctl help lock-state."),
    Wrong(
      line: "lock-state -- -hall",
      sentence:
        "'-hall' cannot be a body's name. A name must not begin with a hyphen. See: fleetctl help lock-state."),
    Wrong(
      line: "virtual dp 1 lock",
      sentence: "'virtual' does not take 'dp'. Did you mean 'virtual do'? See: fleetctl help virtual."),
    Wrong(
      line: "help lock", sentence: "There is no command 'lock'. Did you mean 'lock-state'? See them all: fleetctl help."
    ),
    Wrong(
      line: "dev\u{1B}[2J",
      sentence: "There is no command 'dev\\u{1B}[2J'. It may be mistyped. See them all: fleetctl help."),
  ]

  @Test(arguments: wrong) func `that is wrong is answered with a sentence of three parts`(_ wrong: Wrong) {
    let error = #expect(throws: UsageError.self) {
      try Self.parser.parse(wrong.line.split(separator: " ").map(String.init))
    }

    #expect(error?.sentence == wrong.sentence)
  }

  @Test func `gives options with a blank or an equals sign, before and after the texts`() throws {
    let request = try Self.parser.parse(["launch", "--arg", "-x", "hall", "--arg=--y=1", "--fresh", "--mux=/tmp/m"])

    guard case .run(let invocation) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(invocation.command.name == "launch")
    #expect(invocation.values("arg") == ["-x", "--y=1"])
    #expect(invocation.has("fresh"))
    #expect(invocation.value("mux") == "/tmp/m")
    #expect(invocation.one("BODY") == "hall")
  }

  @Test func `takes every command's options before the command too`() throws {
    let request = try Self.parser.parse(["--json", "-v", "--mux", "host:1", "devices"])

    guard case .run(let invocation) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(invocation.command.name == "devices")
    #expect(invocation.has("json") && invocation.has("verbose"))
    #expect(invocation.value("mux") == "host:1")
  }

  @Test func `ends its options at two hyphens`() throws {
    let request = try Self.parser.parse(["virtual", "do", "--", "1", "launch-app", "--x=y"])

    guard case .run(let invocation) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(invocation.command.name == "virtual do")
    #expect(invocation.one("ACTION") == "launch-app")
    #expect(invocation.all("KEY=VALUE") == ["--x=y"])
  }

  @Test func `leaves the last text to the last place`() throws {
    let request = try Self.parser.parse(["install", "hall", "stairs", "app.ipa"])

    guard case .run(let invocation) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(invocation.all("BODY") == ["hall", "stairs"])
    #expect(invocation.one("FILE") == "app.ipa")
  }

  @Test func `asks for help before anything else is looked at`() throws {
    let devices = Self.parser.commands[0]

    #expect(try Self.parser.parse(["devices", "--help"]) == .help(devices))
    #expect(try Self.parser.parse(["devices", "--bogus", "-h"]) == .help(devices))
    #expect(try Self.parser.parse(["help", "devices"]) == .help(devices))
    #expect(try Self.parser.parse(["help", "virtual", "do"]) == .help(Self.parser.commands[5]))
    #expect(try Self.parser.parse(["--help"]) == .help(nil))
    #expect(try Self.parser.parse(["help"]) == .help(nil))
    #expect(try Self.parser.parse([]) == .nothing)
    #expect(try Self.parser.parse(["devices", "--version"]) == .version(json: false))
    #expect(try Self.parser.parse(["--json", "--version"]) == .version(json: true))
  }
}

@Suite struct `an option's value` {
  static func invocation(_ value: String) -> Invocation {
    Invocation(command: CommandSpec(name: "virtual", summary: ""), options: ["x": [value]])
  }

  @Test(arguments: ["0", "257", "-1", "four", "4.0", "", "99999999999999999999"])
  func `that is no number of its range is refused`(_ text: String) {
    let error = #expect(throws: UsageError.self) { try Self.invocation(text).number("x", in: 1...256) }

    #expect(
      error?.sentence
        == "--x cannot be '\(text)'. It takes a whole number from 1 to 256. See: fleetctl help virtual.")
  }

  @Test(arguments: ["0", "0.00001", "-2", "nan", "inf", "fast", "1e9"]) func `that is no factor is refused`(
    _ text: String
  ) {
    #expect(throws: UsageError.self) { try Self.invocation(text).factor("x", in: 0.01...10_000) }
  }

  @Test func `is read as a number, a factor, a list`() throws {
    #expect(try Self.invocation("256").number("x", in: 1...256) == 256)
    #expect(try Self.invocation("0.5").factor("x", in: 0.01...100) == 0.5)
    #expect(try Self.invocation("16.7,18.5").list("x") == ["16.7", "18.5"])
    #expect(throws: UsageError.self) { try Self.invocation("16.7,").list("x") }
    #expect(try Self.invocation("1").number("other", in: 1...2) == nil)
  }

  @Test func `is read as a name and what follows its first equals sign`() throws {
    let pairs = try Self.invocation("URL=http://a/?b=c").pairs("x")

    #expect(pairs.map(\.name) == ["URL"])
    #expect(pairs.map(\.value) == ["http://a/?b=c"])
    #expect(throws: UsageError.self) { try Self.invocation("=v").pairs("x") }
    #expect(throws: UsageError.self) { try Self.invocation("novalue").pairs("x") }
    let twice = Invocation(command: CommandSpec(name: "launch", summary: ""), options: ["env": ["A=1", "A=2"]])
    #expect(throws: UsageError.self) { try twice.pairs("env") }
  }
}
