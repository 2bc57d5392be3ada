import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios
@testable import fleetctl

@Suite struct `the options of a run` {
  static func options(_ words: String...) throws -> RunOptions {
    let parser = ArgumentParser(commands: [RunCommand.spec], later: [:])
    guard case .run(let invocation) = try parser.parse(["run"] + words) else { throw Complaint(.bug, "no run") }
    return try RunOptions(invocation)
  }

  @Test func `are read`() throws {
    let options = try Self.options(
      "a.yaml", "--body", "hall", "--body=tag:ios18", "--virtual", "3", "--time-scale", "10", "--timeout", "5m",
      "--meta",
      "URL=x=y", "b")

    #expect(options.paths == ["a.yaml", "b"])
    #expect(options.bodies == ["hall", "tag:ios18"])
    #expect(options.virtual == 3 && options.timeScale == 10)
    #expect(options.timeout == .seconds(300))
    #expect(options.reports.meta == ["URL": "x=y"])
    #expect(try Self.options().paths == ["scenarios"])
  }

  @Test func `name the reports, and take what a build server says of itself`() throws {
    let parser = ArgumentParser(commands: [RunCommand.spec], later: [:])
    let words = ["run", "--report", "out", "--junit", "j.xml", "--meta", "BUILD_URL=mine"]
    guard case .run(let invocation) = try parser.parse(words) else { throw Complaint(.bug, "no run") }
    let environment = [
      "BUILD_URL": "https://ci/1", "CI_JOB_URL": "https://ci/2", "GITHUB_RUN_ID": "", "GITHUB_ACTIONS": "true",
      "GITHUB_STEP_SUMMARY": "/tmp/step",
    ]

    let reports = try RunOptions(invocation, environment: environment).reports

    #expect(
      reports.kinds == [
        .jsonLines(path: "out/run.jsonl"), .junit(path: "out/junit.xml"), .html(path: "out/report.html"),
        .junit(path: "j.xml"), .stepSummary(path: "/tmp/step"),
      ])
    #expect(reports.meta == ["BUILD_URL": "mine", "CI_JOB_URL": "https://ci/2"])
    #expect(reports.isAnnotated)
    #expect(try Self.options().reports == ReportOptions(kinds: [], label: nil, meta: [:], isAnnotated: false))
  }

  struct Wrong: CustomTestStringConvertible, Sendable {
    var words: [String]
    var part: String
    var testDescription: String { words.joined(separator: " ") }
  }

  @Test(arguments: [
    Wrong(words: ["--ios", "16.7"], part: "--ios shapes virtual phones, and there are none without --virtual."),
    Wrong(words: ["--time-scale", "2"], part: "--time-scale shapes virtual phones"),
    Wrong(words: ["--virtual", "2", "--mux", "/x"], part: "--mux names others."),
    Wrong(words: ["--virtual", "0"], part: "a whole number from 1 to 256"),
    Wrong(words: ["--timeout", "5"], part: "a span of time such as"),
    Wrong(words: ["--timeout", "0s"], part: "a span of time above zero"),
    Wrong(words: ["--virtual", "2", "--time-scale", "0.00001"], part: "a number from 0.01 to 10000"),
    Wrong(words: ["--meta", "x"], part: "NAME=VALUE"),
    Wrong(words: ["--report", ""], part: "a path"),
    Wrong(words: ["--junit", "a.xml", "--html", "./a.xml"], part: "Two reports would be written to one file."),
    Wrong(words: ["--jobs", "0"], part: "a whole number from 1 to 1000"),
  ]) func `that are wrong are answered`(_ wrong: Wrong) {
    let error = #expect(throws: UsageError.self) {
      let parser = ArgumentParser(commands: [RunCommand.spec], later: [:])
      guard case .run(let invocation) = try parser.parse(["run"] + wrong.words) else { return }
      _ = try RunOptions(invocation)
    }

    #expect(error?.sentence.contains(wrong.part) == true, "\(error?.sentence ?? "")")
  }
}

@Suite struct `the lines of a run` {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")

  static func event(_ happening: RunEvent.Happening) -> RunEvent {
    RunEvent(at: "2026-01-01T00:00:00Z", run: 1, happening: happening)
  }

  static func step(ok: Bool, expected: String? = nil, came: String? = nil, line: Int = 11) -> RunEvent {
    event(
      .stepFinished(
        StepFinished(
          body: "hall", udid: udid, scenario: "camera-busy", attempt: 1, step: "request POST /photo",
          file: "scenarios/camera-busy.yaml", line: line, ok: ok, seconds: 1, expected: expected, came: came)))
  }

  static func end(
    _ verdict: Verdict, recovery: Double? = nil, message: String? = nil, notUndone: String? = nil
  ) -> RunEvent {
    event(
      .scenarioFinished(
        ScenarioFinished(
          body: "hall", udid: udid, scenario: "camera-busy", attempt: 1, verdict: verdict, seconds: 4.2,
          recoverySeconds: recovery, message: message, file: "scenarios/camera-busy.yaml", line: 1,
          notUndone: notUndone)))
  }

  @Test func `tell a pass in one line`() {
    var narrator = RunNarrator(style: .plain)

    #expect(narrator.lines(for: Self.step(ok: true)).isEmpty)
    #expect(
      narrator.lines(for: Self.end(.passed, recovery: 0.64)) == [
        "✓ passed camera-busy on hall 4.2 s, back after 640 ms"
      ])
  }

  @Test func `tell a failure with place, what was expected and what came`() {
    var narrator = RunNarrator(style: .plain)
    _ = narrator.lines(for: Self.step(ok: false, expected: "status 423", came: "status 200\u{1B}[2J"))
    _ = narrator.lines(for: Self.step(ok: false, expected: "something", came: "that only follows", line: 16))

    #expect(
      narrator.lines(for: Self.end(.failed, message: "expected status 423; came status 200")) == [
        "✗ failed camera-busy on hall 4.2 s", "    scenarios/camera-busy.yaml:11: request POST /photo",
        "      expected: status 423", "      came:     status 200\\u{1B}[2J",
      ])
    #expect(narrator.lines(for: Self.end(.passed)).count == 1)
  }

  @Test func `tell what was not undone, beside what broke first`() {
    var narrator = RunNarrator(style: .plain)
    _ = narrator.lines(for: Self.step(ok: false, expected: "status 200", came: "refused"))

    let lines = narrator.lines(
      for: Self.end(.error, message: "not undone: hall is locked", notUndone: "hall is\u{1B} locked"))

    #expect(lines.suffix(2) == ["      came:     refused", "      not undone: hall is\\u{1B} locked"])
  }

  @Test func `tell why nothing was judged`() {
    var narrator = RunNarrator(style: .plain)

    #expect(
      narrator.lines(for: Self.end(.skipped, message: "hall is locked")) == [
        "– skipped camera-busy on hall 4.2 s", "    scenarios/camera-busy.yaml:1: hall is locked",
      ])
  }

  @Test func `name at the end what has to be looked at, with the exchange, and nothing where all is well`() {
    var narrator = RunNarrator(style: .plain)
    _ = narrator.lines(for: Self.end(.passed))
    #expect(narrator.closing.isEmpty && narrator.annotations.isEmpty)

    var step = StepFinished(
      body: "hall", udid: Self.udid, scenario: "camera-busy", attempt: 1, step: "request POST /photo",
      file: "scenarios/camera-busy.yaml", line: 11, ok: false, seconds: 1, expected: "status 423", came: "status 200")
    step.exchanges = [
      Exchange(at: 0, request: "POST /photo", answer: "status 200, image/jpeg, 900 bytes,", seconds: 0.3)
    ]
    _ = narrator.lines(for: Self.event(.stepFinished(step)))
    _ = narrator.lines(for: Self.end(.failed, message: "expected status 423; came status 200"))

    #expect(
      narrator.closing == [
        "", "To be looked at:", "  ✗ failed camera-busy on hall",
        "      scenarios/camera-busy.yaml:11: request POST /photo", "        expected: status 423",
        "        came:     status 200", "        exchange: POST /photo → status 200, image/jpeg, 900 bytes (300 ms)",
        "",
      ])
    #expect(narrator.annotations.count == 1)
  }

  @Test func `count an attempt in the place of the one before it`() {
    var narrator = RunNarrator(style: .plain)
    func started(_ attempt: Int) -> RunEvent {
      Self.event(
        .scenarioStarted(ScenarioStarted(body: "hall", udid: Self.udid, scenario: "camera-busy", attempt: attempt)))
    }
    _ = narrator.lines(for: started(1))
    _ = narrator.lines(for: Self.end(.failed, message: "no"))
    _ = narrator.lines(for: started(2))
    #expect(narrator.progress == "0 of 0 done: hall camera-busy")

    _ = narrator.lines(for: Self.end(.flaky))

    #expect(narrator.closing.isEmpty)
    #expect(narrator.progress == "1 of 1 done")
  }

  @Test func `say where the run is`() {
    var narrator = RunNarrator(style: .plain)
    let phone = RunStarted.Phone(
      body: "hall", udid: Self.udid, model: nil, ios: nil, bundle: nil, version: nil, build: nil, usbPort: nil)
    let file = RunStarted.File(scenario: "camera-busy", file: "x", hash: "")
    _ = narrator.lines(
      for: Self.event(
        .runStarted(RunStarted(version: "1", label: nil, meta: [:], files: [file, file], phones: [phone]))))
    _ = narrator.lines(
      for: Self.event(
        .scenarioStarted(ScenarioStarted(body: "hall", udid: Self.udid, scenario: "camera-busy", attempt: 1))))
    #expect(narrator.progress == "0 of 2 done: hall camera-busy")

    _ = narrator.lines(for: Self.end(.passed))
    #expect(narrator.progress == "1 of 2 done")
  }
}

@Suite struct `the table of a run` {
  private static func phones(_ count: Int) -> [RunStarted.Phone] {
    (1...count).map {
      RunStarted.Phone(body: "phone-\($0)", udid: UDID("0000000000000000000000000000000000000\(100 + $0)"))
    }
  }

  private static func board(_ count: Int) -> RunBoard {
    var board = RunBoard()
    let file = RunStarted.File(scenario: "camera-busy", file: "x", hash: "")
    board.take(
      `the lines of a run`.event(
        .runStarted(RunStarted(version: "1", label: nil, meta: [:], files: [file, file], phones: phones(count)))))
    return board
  }

  private static func start(_ number: Int) -> RunEvent {
    `the lines of a run`.event(
      .scenarioStarted(
        ScenarioStarted(body: nil, udid: phones(number)[number - 1].udid, scenario: "camera-busy", attempt: 1)))
  }

  @Test func `has a line for each phone, with what it does and since when`() {
    var board = Self.board(2)
    let start = ContinuousClock.now
    board.take(Self.start(2), at: start)
    #expect(
      board.lines(height: 10, width: 80, at: start + .seconds(3)) == [
        "phone-1  0/2  -  waiting", "phone-2  0/2  -  camera-busy 3 s",
      ])

    board.take(
      `the lines of a run`.event(
        .scenarioFinished(
          ScenarioFinished(
            body: nil, udid: Self.phones(2)[1].udid, scenario: "camera-busy", attempt: 1, verdict: .failed, seconds: 1,
            file: "x", line: 1))))

    #expect(board.lines(height: 10, width: 80).last == "phone-2  1/2  1 bad  waiting")
  }

  @Test func `fits the screen, and shows the phones that are at work first`() {
    var board = Self.board(9)
    board.take(Self.start(9))

    let lines = board.lines(height: 3, width: 20)

    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("phone-9  0/2  -"))
    #expect(lines[2] == "… and 7 more phones")
    #expect(lines.allSatisfy { DisplayWidth.of($0) < 20 })
  }
}

@Suite struct `the wish to stop` {
  @Test func `reaches what is told later, and once only`() {
    let stop = Stop()
    let count = Guarded(0)

    stop.now()
    stop.whenStopped { count.with { $0 += 1 } }
    stop.now(timedOut: true)

    #expect(count.with { $0 } == 1)
    #expect(!stop.hasTimedOut)
  }

  @Test func `remembers that time was over`() {
    let stop = Stop()
    let count = Guarded(0)

    stop.whenStopped { count.with { $0 += 1 } }
    stop.now(timedOut: true)
    stop.now()

    #expect(count.with { $0 } == 1)
    #expect(stop.hasTimedOut)
  }
}
