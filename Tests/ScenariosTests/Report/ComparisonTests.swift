import Fleet
import Testing
import Wire

@testable import Scenarios

@Suite struct `two runs compared` {
  private static let hall = RunBodyRow(
    body: "hall", udid: UDID("00008110-000A1B2C3D4E5F60"), ios: "16.7", bundle: "com.example.kiosk", version: "3.2.0",
    build: "412", usbPort: "1-2")

  private static func run(
    _ verdicts: [(scenario: String, verdict: Verdict, recovery: Double?)], _ change: (inout RunRow) -> Void = { _ in }
  ) -> ComparedRun {
    var row = RunRow(
      number: 1, startedAt: "2026-11-30T12:00:00.000Z", finishedAt: "2026-11-30T12:01:00.000Z", version: "1.0",
      scenarios: [RunScenarioRow(scenario: "busy", file: "busy.yaml", hash: "aaaaaaaaaaaa")], bodies: [hall])
    change(&row)
    return ComparedRun(row, verdicts.map { verdict($0.scenario, $0.verdict, recovery: $0.recovery) })
  }

  private static func verdict(
    _ scenario: String, _ verdict: Verdict, attempt: Int = 1, recovery: Double? = nil, body: String? = "hall",
    udid: String = "00008110-000A1B2C3D4E5F60"
  ) -> VerdictRow {
    VerdictRow(
      run: 1, body: body, udid: UDID(udid), scenario: scenario, file: "\(scenario).yaml", line: 1, attempt: attempt,
      verdict: verdict, at: "2026-11-30T12:00:10.000Z", seconds: 1, recoverySeconds: recovery)
  }

  struct Pair: CustomTestStringConvertible, Sendable {
    var was: Verdict?
    var now: Verdict?
    var kinds: [Comparison.Difference.Kind]
    var exit: Int32
    var testDescription: String { "\(was?.rawValue ?? "absent") to \(now?.rawValue ?? "absent")" }
  }

  @Test(arguments: [
    Pair(was: .passed, now: .passed, kinds: [], exit: 0),
    Pair(was: .passed, now: .failed, kinds: [.newlyFailing], exit: 1),
    Pair(was: .flaky, now: .failed, kinds: [.newlyFailing], exit: 1),
    Pair(was: nil, now: .failed, kinds: [.newlyFailing], exit: 1),
    Pair(was: .error, now: .failed, kinds: [.newlyFailing], exit: 1),
    Pair(was: .failed, now: .failed, kinds: [.stillFailing], exit: 0),
    Pair(was: .failed, now: .passed, kinds: [.fixed], exit: 0),
    Pair(was: .failed, now: .flaky, kinds: [.fixed, .flaky], exit: 0),
    Pair(was: .passed, now: .flaky, kinds: [.flaky], exit: 0),
    Pair(was: .passed, now: .error, kinds: [.notJudged], exit: 4),
    Pair(was: .passed, now: .skipped, kinds: [.notJudged], exit: 4),
    Pair(was: .failed, now: .quarantined, kinds: [.notJudged], exit: 4),
    Pair(was: .passed, now: nil, kinds: [.notJudged], exit: 4), Pair(was: .skipped, now: .error, kinds: [], exit: 4),
    Pair(was: nil, now: .passed, kinds: [], exit: 4),
  ]) func `tell how a scenario on a body fares`(_ pair: Pair) {
    let before = Self.run(pair.was.map { [("busy", $0, nil)] } ?? [])
    let after = Self.run(pair.now.map { [("busy", $0, nil)] } ?? [])

    let comparison = Comparison(before, after)

    #expect(comparison.differences.map(\.kind) == pair.kinds)
    #expect(comparison.exitCode.number == pair.exit)
    #expect(comparison.changes.isEmpty)
  }

  @Test(arguments: [(1.0, 2.6, true), (1.0, 1.9, false), (10.0, 12.0, false), (0.1, 0.9, false), (10.0, 16.0, true)])
  func `call slower what takes half as much again, and a second more`(_ row: (Double, Double, Bool)) {
    let comparison = Comparison(Self.run([("busy", .passed, row.0)]), Self.run([("busy", .passed, row.1)]))

    #expect(comparison.differences.map(\.kind) == (row.2 ? [.slower] : []))
    #expect(comparison.exitCode == .done)
  }

  @Test func `tell first what was changed between them`() {
    let before = Self.run([("busy", .passed, nil)])
    let after = Self.run([("busy", .passed, nil)]) { row in
      row.version = "1.1"
      row.finishedAt = nil
      row.scenarios = [
        RunScenarioRow(scenario: "busy", file: "busy.yaml", hash: "bbbbbbbbbbbb"),
        RunScenarioRow(scenario: "new", file: "new.yaml", hash: "c"),
      ]
      row.bodies[0].build = "413"
      row.bodies[0].ios = "18.5"
      row.bodies[0].udid = UDID("00008101-000A1B2C3D4E001E")
      row.bodies[0].usbPort = "1-3"
      row.bodies.append(RunBodyRow(body: "stairs", udid: UDID("x")))
    }

    let changes = Comparison(before, after).changes

    #expect(
      changes.map { "\($0.what.rawValue) \($0.subjects) \($0.before ?? "-") \($0.after ?? "-")" } == [
        #"build ["hall"] com.example.kiosk 3.2.0 (412) com.example.kiosk 3.2.0 (413)"#, #"ios ["hall"] 16.7 18.5"#,
        #"phone ["hall"] 00008110-000A1B2C3D4E5F60 00008101-000A1B2C3D4E001E"#, #"usb-port ["hall"] 1-2 1-3"#,
        "fleetctl [] 1.0 1.1", #"scenario ["busy"] aaaaaaaa bbbbbbbb"#, #"added-scenario ["new"] - -"#,
        #"added-body ["stairs"] - -"#, #"unfinished ["run 1"] - -"#,
      ])
  }

  @Test func `take what could not be read for no change`() {
    let before = Self.run([("busy", .passed, nil)])
    let after = Self.run([("busy", .passed, nil)]) { row in
      row.bodies[0].build = nil
      row.bodies[0].ios = nil
      row.bodies[0].usbPort = nil
    }

    #expect(Comparison(before, after).changes.isEmpty)
  }

  @Test func `follow a body's name through a replaced phone, and count the last attempt, and the worst of repeats`() {
    var before = Self.run([])
    before.verdicts = [Self.verdict("busy", .passed)]
    var after = Self.run([])
    after.verdicts = [
      Self.verdict("busy", .failed, udid: "00008101-000A1B2C3D4E001E"),
      Self.verdict("busy", .flaky, attempt: 2, udid: "00008101-000A1B2C3D4E001E"),
      Self.verdict("busy", .passed, udid: "00008101-000A1B2C3D4E001E"),
    ]

    let differences = Comparison(before, after).differences

    #expect(differences.map(\.kind) == [.flaky])
    #expect(differences.map(\.body) == ["hall"])
  }

  @Test func `list what fails before everything else`() {
    let before = Self.run([("a", .failed, nil), ("b", .passed, nil), ("c", .failed, nil), ("d", .passed, 1)])
    let after = Self.run([("a", .passed, nil), ("b", .failed, nil), ("c", .failed, nil), ("d", .passed, 9)])

    let differences = Comparison(before, after).differences

    #expect(differences.map(\.scenario) == ["b", "a", "c", "d"])
    #expect(differences.map(\.kind) == [.newlyFailing, .fixed, .stillFailing, .slower])
  }
}

@Suite struct `a report off the box` {
  private func bytes(_ script: Script) -> [UInt8] {
    Array(script.events.map { $0.json.line + "\n" }.joined().utf8)
  }

  @Test func `is the same run as in the record`() throws {
    var script = Script("busy")
    script.whole("busy", .failed, message: "no", recovery: 1.5)
    script.finish()

    let run = try ComparedRun(reportAt: "run.jsonl", bytes(script))

    #expect(run.title == "run.jsonl" && run.run.number == 17 && run.isWhole && run.run.exit == 1)
    #expect(run.run.label == "nightly" && run.run.meta == ["BUILD_URL": "https://ci/1"])
    #expect(run.run.scenarios == [RunScenarioRow(scenario: "busy", file: "scenarios/busy.yaml", hash: "hash-busy")])
    #expect(run.run.bodies.map(\.build) == ["412", nil] && run.run.bodies.map(\.body) == ["hall", nil])
    #expect(run.verdicts.map(\.verdict) == [.failed] && run.verdicts.map(\.recoverySeconds) == [1.5])
  }

  @Test func `of a killed run is read up to where it is cut off`() throws {
    var script = Script("busy")
    script.whole("busy", .passed)

    let run = try ComparedRun(reportAt: "run.jsonl", bytes(script).dropLast(20) + [])

    #expect(!run.isWhole && run.verdicts.isEmpty && run.run.bodies.count == 2)
  }

  @Test(arguments: ["", "\n", "{}", "[1]\n", "no\n{\"event\":\"run-started\",\"at\":\"x\"}\n"])
  func `is told from anything else`(_ text: String) {
    let trouble = #expect(throws: CompareTrouble.self) { try ComparedRun(reportAt: "x", Array(text.utf8)) }

    #expect(trouble == .notAReport(path: "x", line: 1))
  }
}
