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
    #expect(options.meta == ["URL": "x=y"])
    #expect(try Self.options().paths == ["scenarios"])
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
    Wrong(words: ["--retries", "2"], part: "does not have --retries of 'run' yet"),
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
