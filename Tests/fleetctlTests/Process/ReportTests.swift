import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `the reports of a run` {
  static let root: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    return parts.joined(separator: "/")
  }()

  /// What expat and the grammar of build servers say about JUnit reports.
  static func junitProblems(_ paths: String...) async -> String? {
    let child = ChildProcess("/usr/bin/python3", ["\(root)/Tests/crosscheck/junit.py"] + paths)
    let ending = await child.ending(within: .seconds(60))
    return ending == .exited(0) ? nil : "\(ending) \(child.output.err)"
  }

  static let teapot = """
    scenario: teapot
    steps:
      - request: GET /coffee
        expect: {status: 418}

    """

  @Test func `are a stream, a file for build servers and a page, and say the same`() async throws {
    let phones = try TestPhones(2)
    let good = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")
    let bad = phones.folder.write(Self.teapot, to: "teapot.yaml")
    let out = phones.folder.file("out/of/here")

    let done = await phones.run("run", "--all", good, bad, "--json", "--report", out, "--label", "nightly")

    #expect(done.code == 1, "\(done.output.err)")
    #expect(phones.folder.read("out/of/here/run.jsonl") == done.output.out)
    #expect(await Self.junitProblems("\(out)/junit.xml") == nil)
    let xml = phones.folder.read("out/of/here/junit.xml") ?? ""
    #expect(xml.contains(#"tests="4" failures="2" errors="0""#))
    #expect(xml.contains("GET /coffee → status 404") && xml.contains(#"name="label" value="nightly""#))
    let page = phones.folder.read("out/of/here/report.html") ?? ""
    #expect(page.contains("2 passed, 2 failed") && page.contains("GET /coffee → status 404"))
    #expect(!page.contains("under way"))
  }

  @Test func `of a killed run are whole, and say that it had not ended`() async throws {
    let phones = try TestPhones(1, timeScale: 4)
    let first = phones.folder.write(`fleetctl run`.hello, to: "a.yaml")
    let held = phones.folder.write("scenario: held\nsteps:\n  - wait: 10m\n", to: "b.yaml")
    let out = phones.folder.file("out")
    let child = Fleetctl.start(["run", first, held, "--report", out], environment: phones.environment)
    let deadline = Deadline.after(.seconds(30))
    while phones.folder.read("out/report.html")?.contains("under way: <b>held</b>") != true, !deadline.hasPassed {
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }

    child.signal(SIGKILL)
    #expect(await child.ending() == .killed(SIGKILL))

    #expect(await Self.junitProblems("\(out)/junit.xml") == nil)
    #expect(phones.folder.read("out/junit.xml")?.contains(#"tests="2" failures="0" errors="1""#) == true)
    #expect(phones.folder.read("out/report.html")?.hasSuffix("</html>\n") == true)
    let lines = phones.folder.read("out/run.jsonl")?.split(separator: "\n") ?? []
    #expect(lines.count >= 3 && lines.allSatisfy { JSON(parsing: Array($0.utf8)) != nil })
    let runs = await phones.run("runs", "--json")
    let run = `fleetctl run`.objects(runs.output).first
    #expect(run?["exit"] == .null && run?["counts"]?["passed"] == 1)
  }

  @Test func `of a run that was stopped are finished, and say what was not run`() async throws {
    let phones = try TestPhones(1, timeScale: 4)
    let held = phones.folder.write(`fleetctl run`.held, to: "a.yaml")
    let later = phones.folder.write(`fleetctl run`.hello, to: "b.yaml")
    let out = phones.folder.file("out")
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      arrange: {in-background: {command: [\(Fleetctl.path), virtual, do, "{udid}", background]}}

      """, to: "lab.yaml")
    let child = Fleetctl.start(
      ["run", held, later, "--json", "--config", yaml, "--report", out], environment: phones.environment)
    #expect(await child.prints { $0.out.contains(#""step":"arrange in-background""#) })

    child.signal(SIGINT)
    #expect(await child.ending() == .exited(130))

    #expect(await Self.junitProblems("\(out)/junit.xml") == nil)
    #expect(phones.folder.read("out/junit.xml")?.contains("not run: the run ended before it") == true)
    #expect(phones.folder.read("out/run.jsonl") == child.output.out)
    let runs = await phones.run("runs", "--json")
    #expect(`fleetctl run`.objects(runs.output).first?["exit"] == 130)
  }

  @Test func `that can't be written are told before a phone is touched`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")

    let done = await phones.run("run", file, "--junit", "\(file)/junit.xml")

    #expect(done.code == 3 && done.output.out.isEmpty)
    #expect(done.output.err.contains("The report \(file) can't be written: Not a directory."), "\(done.output.err)")
  }

  @Test func `are annotations and a summary for a step that runs on GitHub`() async throws {
    let phones = try TestPhones(1)
    let bad = phones.folder.write(Self.teapot, to: "teapot.yaml")
    let step = phones.folder.write("before\n", to: "step.md")
    let environment = phones.environment.merging(["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": step]) { $1 }

    let done = await Fleetctl.run(["run", bad], environment: environment)

    #expect(done.output.lines.contains { $0.hasPrefix("::error file=\(bad),line=3,title=teapot on ") })
    #expect(done.output.lines.last == "1 of 1 judged, on 1 phone: 1 failed")
    #expect(phones.folder.read("step.md")?.hasPrefix("before\n## fleetctl run 1\n") == true)
  }

  @Test func `H56: hold nothing that a strict reader would refuse`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "scenario: wild\nsteps:\n  - request: GET /a\u{7}b\n    expect: {status: 418}\n"
        .replacing("\u{7}", with: "%1B%5B31m]]>"), to: "wild.yaml")
    let body = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      bodies:
        - {udid: \(phones.udid(1)), name: "hall <&> \\" ' bell"}

      """, to: "bodies.yaml")

    let done = await phones.run("run", file, "--config", body, "--report", phones.folder.file("out"))

    #expect(done.code == 1, "\(done.output.err)")
    #expect(await Self.junitProblems(phones.folder.file("out/junit.xml")) == nil)
  }
}

@Suite(.serialized) struct `runs and compare` {
  private static func text(_ done: Fleetctl.Done) -> String { "\(done.output.out)\(done.output.err)" }

  @Test func `tell what fails now, what is fixed, and what was changed`() async throws {
    let phones = try TestPhones(1, timeScale: 10)
    let file = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")
    let yaml = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\nbodies:\n  - {udid: \(phones.udid(1)), name: hall}\n",
      to: "bodies.yaml")
    func run(_ words: String...) async -> Fleetctl.Done {
      await Fleetctl.run(words + ["--config", yaml], environment: phones.environment)
    }

    let nothing = await run("runs")
    let early = await run("compare")
    let first = await run("run", file, "--label", "nightly")
    try phones.fleet.perform("kill-app", on: "1")
    _ = phones.folder.write(`fleetctl run`.hello + "    retry-within: 1s\n", to: "hello.yaml")
    let second = await run("run", file, "--label", "nightly", "--json")
    let worse = await run("compare", "--label", "nightly")
    let better = await run("compare", "2", "1", "--json")
    let past = await run("runs", "--scenario", "hello", "--body", "hall", "--json")
    let runs = await run("runs", "--json", "--last", "1")

    #expect(nothing.code == 3 && nothing.output.err.contains("There is no record at"), "\(Self.text(nothing))")
    #expect(early.code == 3)
    #expect(first.code == 0 && second.code == 1, "\(Self.text(second))")
    #expect(`fleetctl run`.objects(second.output).allSatisfy { $0["run"] == 2 })
    #expect(worse.code == 1, "\(Self.text(worse))")
    #expect(worse.output.lines.contains { $0.hasPrefix("  changed: scenario file of hello (") })
    #expect(worse.output.lines.contains("newly failing (1):"))
    #expect(worse.output.lines.contains { $0.hasPrefix("  hello on hall \(file):4 (was passed): expected status 200") })
    #expect(better.code == 0, "\(Self.text(better))")
    #expect(`fleetctl run`.objects(better.output).last?["difference"] == "fixed")
    #expect(`fleetctl run`.objects(past.output).compactMap { $0["verdict"]?.string } == ["failed", "passed"])
    #expect(`fleetctl run`.objects(past.output).last?["CFBundleVersion"] == "412")
    #expect(`fleetctl run`.objects(runs.output).compactMap { $0["number"]?.int } == [2])
  }

  @Test func `leave out a run that was refused before it began`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")

    let refused = await phones.run("run", file, "--expect-build", "999", "--report", phones.folder.file("out"))
    let runs = await phones.run("runs")

    #expect(refused.code == 3, "\(Self.text(refused))")
    #expect(runs.code == 1 && runs.output.err.contains("There is no run in the record."), "\(Self.text(runs))")
  }

  @Test func `compare reports off the box, also a cut-off one, and refuse what is none`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")
    _ = await phones.run("run", file, "--report", phones.folder.file("a"))
    let text = phones.folder.read("a/run.jsonl") ?? ""
    let cut = phones.folder.write(String(text.dropLast(60)), to: "cut.jsonl")
    let none = phones.folder.write("no events\n", to: "none.jsonl")
    let elsewhere = ["STATE_DIRECTORY": phones.folder.file("other")]

    let same = await Fleetctl.run(["compare", "\(phones.folder.path)/a/run.jsonl", cut], environment: elsewhere)
    let wrong = await Fleetctl.run(["compare", none, cut], environment: elsewhere)
    let absent = await Fleetctl.run(["compare", "/nowhere/run.jsonl", cut], environment: elsewhere)

    #expect(same.code == 0, "\(Self.text(same))")
    #expect(same.output.lines.contains("  changed: \(cut) did not come to an end"), "\(Self.text(same))")
    #expect(wrong.code == 2 && wrong.output.err.contains("line 1 is no event"))
    #expect(absent.code == 2 && absent.output.err.contains("/nowhere/run.jsonl"))
    #expect(!TestFolder.names(in: phones.folder.path).contains("other"))
  }

  @Test func `set a damaged record aside when something runs, and say so`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(`fleetctl run`.hello, to: "hello.yaml")
    _ = await phones.run("run", file)
    _ = phones.folder.write(String(repeating: "damage ", count: 4096), to: "state/fleet.sqlite")

    let read = await phones.run("runs")
    let run = await phones.run("run", file)
    let after = await phones.run("runs", "--json")

    #expect(read.code == 3 && read.output.err.contains("is damaged"), "\(Self.text(read))")
    #expect(run.code == 0 && run.output.err.contains("was damaged, and a new one is begun"), "\(Self.text(run))")
    #expect(`fleetctl run`.objects(after.output).count == 1)
    #expect(TestFolder.names(in: phones.folder.file("state")).contains { $0.contains(".damaged-") })
  }
}

@Suite(.serialized) struct `nothing kept` {
  /// How pictures and clips begin, wherever they begin.
  private static let beginnings: [(name: String, bytes: [UInt8])] = [
    ("JPEG", [0xFF, 0xD8, 0xFF]), ("QuickTime", Array("ftypqt".utf8)), ("movie data", Array("mdat".utf8)),
    ("EXIF", Array("Exif\u{0}".utf8)), ("PNG", [0x89] + Array("PNG".utf8)), ("TIFF", Array("II*\u{0}".utf8)),
  ]

  private static func kept(_ files: [String: [UInt8]]) -> [String] {
    files.flatMap { path, bytes in
      beginnings.filter { bytes.firstRange(of: $0.bytes) != nil }.map { "\($0.name) in \(path)" }
    }
  }

  @Test func `of pictures and clips is in any report, state or temporary folder after the whole set`() async throws {
    let folder = TestFolder()
    let scratch = TestFolder()

    let done = await Fleetctl.run(
      [
        "run", "--virtual", "2", "--ios", "16.7,18.5", "--time-scale", "10", "--report", folder.file("out"), "-v",
        `fleetctl run`.scenarios,
      ],
      environment: ["TMPDIR": scratch.path, "STATE_DIRECTORY": folder.file("state")], within: .seconds(200))

    #expect([0, 1, 3].contains(done.code), "\(done.output.err)")
    let files = folder.files.merging(scratch.files) { $1 }
    let page = folder.read("out/report.html") ?? ""
    #expect(page.contains("image/jpeg") && page.contains("video/quicktime"))
    #expect(files.count >= 4 && Self.kept(files).isEmpty)
    #expect(Self.kept(["out": Array(done.output.out.utf8), "err": Array(done.output.err.utf8)]).isEmpty)
  }

  @Test func `of tokens and secrets is in anything that a run prints or writes`() async throws {
    let token = "tok-9f8e7d6c5b4a"
    let secret = #"hunter2 "quoted" <key>"#
    let phones = try TestPhones(1, token: token)
    let tokenFile = phones.folder.write(token + "\n", to: "token")
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      door: {token-file: \(tokenFile)}
      secrets: {lab: '\(secret)'}

      """, to: "secret.yaml")
    let file = phones.folder.write(
      """
      scenario: telling
      steps:
        - request: GET /\(token)
          headers: {Authorization: "Bearer \(token)"}
          expect: {status: 418}

      """, to: "telling.yaml")
    let asked = phones.folder.write(
      """
      scenario: asked
      steps:
        - request: POST /x
          body: '\(secret)'
          expect: {json: {error: '\(secret)'}}

      """, to: "asked.yaml")
    let out = TestFolder()
    var environment = phones.environment
    environment["STATE_DIRECTORY"] = out.file("state")
    environment["BUILD_URL"] = "https://ci/?token=\(token)"

    var outputs: [String: [UInt8]] = [:]
    for (name, words) in [("plain", [String]()), ("json", ["--json"])] {
      let done = await Fleetctl.run(
        [
          "run", file, asked, "--config", yaml, "-v", "--report", out.file(name), "--label", token, "--meta",
          "K=\(secret)",
        ]
          + words, environment: environment)
      #expect(done.code == 1, "\(done.output.err)")
      outputs["\(name) out"] = Array(done.output.out.utf8)
      outputs["\(name) err"] = Array(done.output.err.utf8)
    }
    outputs.merge(out.files) { $1 }

    let escaped = #"hunter2 \"quoted\" <key>"#
    #expect(outputs.count >= 4 + 6 + 1)
    #expect(outputs.values.contains { $0.firstRange(of: Array("•••".utf8)) != nil })
    for (name, bytes) in outputs {
      for value in [token, secret, escaped, "hunter2", "Authorization", "Bearer"] {
        #expect(bytes.firstRange(of: Array(value.utf8)) == nil, "\(value) in \(name)")
      }
    }
  }
}
