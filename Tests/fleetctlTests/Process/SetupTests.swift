import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl init` {
  static func read(_ path: String) -> String {
    let fd = open(path, O_RDONLY)
    guard fd >= 0 else { return "" }
    defer { close(fd) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, Glibc.read(fd, buffer.baseAddress, 1 << 16))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func environment(_ phones: TestPhones) -> [String: String] {
    ["USBMUXD_SOCKET_ADDRESS": phones.fleet.address.description]
  }

  @Test func `writes a file by which the other commands then work`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("name", on: "1", ["to": "Hall: left \u{1B}[2J"])
    try phones.fleet.perform("name", on: "2", ["to": "\u{30C6}\u{30B9}\u{30C8}"])
    let file = phones.folder.file("new.yaml")

    let done = await Fleetctl.run(
      ["init", "--app", "com.example.kiosk", "--config", file], environment: Self.environment(phones))
    let hello = await Fleetctl.run(["hello", "hall-left-2j", "--config", file], environment: Self.environment(phones))
    let launch = await Fleetctl.run(
      ["launch", "\u{30C6}\u{30B9}\u{30C8}", "--config", file], environment: Self.environment(phones))

    #expect(done.code == 0 && done.output.lines == ["\(file): 2 bodies"], "\(done.output.err)")
    #expect(hello.code == 0, "\(hello.output.err)")
    #expect(launch.code == 0, "\(launch.output.err)")
    #expect(Self.read(file).contains("images: {mount: auto}\n"))
    #expect(!Self.read(file).contains("\u{1B}"))
  }

  @Test func `never writes over a file that is there`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write("mine\n", to: "fleet.yaml")

    let named = await Fleetctl.run(["init", "--config", file], environment: Self.environment(phones))
    let variable = await Fleetctl.run(
      ["init"], environment: Self.environment(phones).merging(["FLEETCTL_CONFIG": file]) { $1 })

    for done in [named, variable] {
      #expect(done.code == 2 && done.output.err.contains("is there already"))
      #expect(done.output.err.contains("fleetctl init --add"))
    }
    #expect(Self.read(file) == "mine\n")
  }

  @Test func `without an app's name leaves the line for it`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.file("new.yaml")

    let done = await Fleetctl.run(["init", "--config", file, "--json"], environment: Self.environment(phones))
    let launch = await Fleetctl.run(
      ["launch", phones.udid(1), "--config", file], environment: Self.environment(phones))

    let object = JSON(parsing: Array(done.output.out.utf8))
    #expect(done.code == 0 && object?["file"] == .string(file))
    #expect(object?["bodies"]?.array?.map { $0["udid"] } == [.string(phones.udid(1))])
    #expect(launch.code == 2 && launch.output.err.contains("No app is named."))
  }

  @Test func `prints entries for phones that the file does not have`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    for number in 1...3 { try phones.fleet.perform("name", on: "\(number)", ["to": "Hall"]) }
    let text = "version: 1\nbodies:\n  - {udid: \(phones.udid(2).lowercased()), name: hall}\n"
    let file = phones.folder.write(text, to: "some.yaml")

    let add = await Fleetctl.run(["init", "--add", "--config", file], environment: Self.environment(phones))
    _ = phones.folder.write(text + add.output.out, to: "some.yaml")
    let devices = await Fleetctl.run(["devices", "--json", "--config", file], environment: Self.environment(phones))
    let nothing = await Fleetctl.run(["init", "--add", "--config", file], environment: Self.environment(phones))

    #expect(add.code == 0 && add.output.lines.count == 2, "\(add.output.err)")
    #expect(
      `fleetctl devices`.objects(devices).map { $0["body"] } == ["hall-2", "hall", "hall-3"], "\(devices.output.err)")
    #expect(nothing.code == 0 && nothing.output.out.isEmpty && nothing.output.err.contains("Nothing to add"))
  }

  @Test func `writes nothing where it can't do so rightly`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.file("new.yaml")
    let environment = Self.environment(phones)

    let odd = await Fleetctl.run(["init", "--app", "a, launcher: none", "--config", file], environment: environment)
    let both = await Fleetctl.run(["init", "--app", "a.b", "--add", "--config", file], environment: environment)
    let lost = await Fleetctl.run(["init", "--config", "/nonexistent/fleet.yaml"], environment: environment)
    let none = await Fleetctl.run(["init", "--add", "--config", file], environment: environment)
    try phones.fleet.perform("detach", on: "1")
    let empty = await Fleetctl.run(["init", "--config", file], environment: environment)

    #expect(odd.code == 2 && odd.output.err.contains("--app cannot be"))
    #expect(both.code == 2 && none.code == 2)
    #expect(lost.code == 3 && lost.output.err.contains("could not be written"))
    #expect(empty.code == 3 && empty.output.err.contains("No phone is attached, and nothing was written."))
    #expect(!phones.folder.names.contains("new.yaml"))
  }
}

@Suite(.serialized) struct `fleetctl config show` {
  static func rows(_ done: Fleetctl.Done) -> [String: JSON] {
    let objects = done.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    return Dictionary(objects.map { ($0["key"]?.string ?? "", $0) }) { first, _ in first }
  }

  @Test func `says every value and where it came from, and shows no secret`() async throws {
    let folder = TestFolder()
    let file = folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      door:
        port: 9000
      supervise: {grace: 90s, ping: {url: "https://example.com/t0psecret/x"}}
      hands: none
      arrange:
        locked: {command: [press, t0psecret]}
      secrets: {lab: t0psecret}
      bodies:
        - {udid: 00008101-000A1B2C3D4E001E, name: stairs}
        - udid: 00008101-000A1B2C3D4E002E
          name: hall
          door: {port: 8130}
          tags: [a, b]

      """, to: "fleet.yaml")

    let json = await Fleetctl.run(["config", "show", "--origin", "--json"], environment: ["FLEETCTL_CONFIG": file])
    let text = await Fleetctl.run(["config", "show", "--origin", "--config", file])
    let plain = await Fleetctl.run(["config", "show", "--config", file])

    let rows = Self.rows(json)
    func origin(_ key: String) -> JSON? { rows[key]?["origin"] }
    #expect(json.code == 0 && text.code == 0 && plain.code == 0, "\(json.output.err)")
    #expect(origin("file") == "$FLEETCTL_CONFIG" && rows["file"]?["value"] == .string(file))
    #expect(origin("app.bundle") == .string("\(file):2") && origin("app.decoy") == "default")
    #expect(rows["door.port"] == ["key": "door.port", "value": 9000, "origin": .string("\(file):4")])
    #expect(rows["supervise.grace"]?["value"]?.double == 90 && origin("supervise.grace") == .string("\(file):5"))
    #expect(rows["hands.port"]?["value"] == .null && origin("hands.port") == .string("\(file):6"))
    #expect(
      rows["bodies.hall.door.port"] == [
        "key": "bodies.hall.door.port", "value": 8130, "origin": .string("\(file):14"),
      ])
    #expect(rows["bodies.stairs.door.port"] == nil)
    #expect(rows["bodies.hall.tags"]?["value"] == ["a", "b"])
    for done in [json, text, plain] {
      #expect(!done.output.out.contains("t0psecret") && done.output.out.contains("•••"))
    }
    #expect(
      text.output.lines.contains {
        $0.hasPrefix("supervise.grace ") && $0.contains("  90s  ") && $0.hasSuffix("  \(file):5")
      })
    #expect(!plain.output.out.contains("\(file):5"))
  }

  @Test func `without a file says that the defaults hold`() async {
    let done = await Fleetctl.run(["config", "show", "--json", "--mux", "/x"])

    let rows = Self.rows(done)
    #expect(done.code == 0)
    #expect(rows["file"]?["value"] == .null)
    #expect(rows["mux"] == ["key": "mux", "value": "UNIX:/x", "origin": "--mux"])
    let others = rows.values.filter { !["file", "mux"].contains($0["key"]) }
    #expect(others.count > 20 && others.allSatisfy { $0["origin"] == "default" })
  }

  @Test func `of a wrong file is exit code 2 with the place, and is a word before another`() async {
    let folder = TestFolder()
    let file = folder.write("version: 1\ndoor: {prot: 1}\n", to: "fleet.yaml")

    let wrong = await Fleetctl.run(["config", "show", "--config", file])
    let half = await Fleetctl.run(["config"])
    let near = await Fleetctl.run(["config", "shwo"])

    #expect(wrong.code == 2 && wrong.output.err.contains("\(file):2:8:"))
    #expect(half.code == 2 && half.output.err.contains("'config' is no command by itself."))
    #expect(near.code == 2 && near.output.err.contains("Did you mean 'config show'?"))
  }
}

@Suite(.serialized) struct `fleetctl completions` {
  /// What bash offers for a line, by its words; the last one is the one under way.
  static func offered(_ words: [String], _ folder: TestFolder, configuration: String = "") async -> [String] {
    let script = """
      source <("$0" completions bash)
      COMP_WORDS=("$@"); COMP_WORDS[0]=$0; COMP_CWORD=$(($# - 1))
      _fleetctl
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let child = ChildProcess(
      "/bin/bash", ["--norc", "-c", script, Fleetctl.path] + ["fleetctl"] + words,
      environment: ["PATH": "/usr/bin:/bin", "FLEETCTL_CONFIG": configuration])
    _ = await child.ending()
    if !child.output.err.isEmpty { Issue.record("\(child.output.err)") }
    return child.output.lines.filter { !$0.isEmpty }
  }

  @Test func `for bash are a script without faults that offers commands, options, values and bodies`() async throws {
    let folder = TestFolder()
    let file = folder.write(
      """
      version: 1
      bodies:
        - {udid: 00008101-000A1B2C3D4E001E, name: stairs}
        - {udid: 00008101-000A1B2C3D4E002E, name: hall of fame}

      """, to: "fleet.yaml")

    #expect(await Self.offered(["lau"], folder) == ["launch"])
    #expect(await Self.offered(["--color", "never", "compl"], folder) == ["completions"])
    #expect(await Self.offered(["lock-state", "--exp"], folder) == ["--expect"])
    #expect(await Self.offered(["lock-state", "--expect", "un"], folder) == ["unlocked", "unknown"])
    #expect(await Self.offered(["virtual", "jo"], folder) == ["journal"])
    #expect(await Self.offered(["virtual", "do", "--li"], folder) == ["--list"])
    #expect(await Self.offered(["config", ""], folder) == ["show"])
    #expect(await Self.offered(["help", "devi"], folder) == ["devices"])
    #expect(await Self.offered(["completions", ""], folder) == ["bash", "zsh"])
    #expect(await Self.offered(["devices", "--wait", ""], folder).isEmpty)
    #expect(await Self.offered(["hello", ""], folder, configuration: file) == ["stairs", "hall\\ of\\ fame"])
    #expect(await Self.offered(["run", "--body", "st"], folder, configuration: file) == ["stairs"])
    #expect(await Self.offered(["lint", folder.file("fl")], folder) == [folder.file("fleet.yaml")])
  }

  @Test(arguments: ["bash", "zsh"]) func `name every command and every option`(_ shell: String) async {
    let done = await Fleetctl.run(["completions", shell])

    #expect(done.code == 0)
    let lines = done.output.lines
    for command in ["devices", "init", "config show", "virtual journal"] {
      #expect(lines.contains { $0.contains("'\(command)')") }, "\(command)")
    }
    #expect(lines.contains { $0.contains("--exclude-tag") })
    #expect(lines[0].hasPrefix("#"))
  }

  @Test func `of another shell are exit code 2`() async {
    let done = await Fleetctl.run(["completions", "fish"])

    #expect(done.code == 2 && done.output.err.contains("It takes one of bash, zsh."))
  }
}
