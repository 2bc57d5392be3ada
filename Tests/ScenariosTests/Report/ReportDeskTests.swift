import Fleet
import Glibc
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `the reports' desk` {
  private func until(_ condition: @escaping () -> Bool) async -> Bool {
    let deadline = Deadline.after(.seconds(20))
    while !condition() {
      if deadline.hasPassed { return false }
      try? await ContinuousClock().sleep(for: .milliseconds(5))
    }
    return true
  }

  private func script() -> Script {
    var script = Script("good", "bad")
    script.whole("good", .passed)
    script.start("bad")
    return script
  }

  @Test func `makes every report before anything has happened`() async throws {
    let folder = try ReportFolder()

    let desk = try await ReportDesk.open(ReportKind.all(in: folder.file("new/reports")))

    #expect(ReportFolder.names(in: folder.file("new/reports")) == ["junit.xml", "report.html", "run.jsonl"])
    #expect(folder.read("new/reports/junit.xml")?.hasSuffix("</testsuites>\n") == true)
    #expect(await desk.finish().isEmpty)
  }

  @Test func `writes as the run goes, so that a killed run leaves whole files`() async throws {
    let folder = try ReportFolder()
    let desk = try await ReportDesk.open(ReportKind.all(in: folder.path))

    for event in script().events { desk.take(event) }

    // Nobody tells the desk that the run is over: that is what a killed run leaves.
    #expect(await until { folder.read("junit.xml")?.contains("under-way") == true })
    #expect(await until { folder.read("report.html")?.contains("under way: <b>bad</b>") == true })
    let lines = folder.read("run.jsonl")?.split(separator: "\n").map(String.init)
    #expect(lines == script().events.map(\.json.line))
    #expect(folder.read("junit.xml")?.hasSuffix("</testsuites>\n") == true)
    #expect(await desk.finish().isEmpty)
  }

  @Test func `writes what came last when the run ends`() async throws {
    let folder = try ReportFolder()
    let desk = try await ReportDesk.open(ReportKind.all(in: folder.path))
    var script = script()
    script.end("bad", .failed, message: "no")
    script.finish()

    for event in script.events { desk.take(event) }
    let troubles = await desk.finish()

    #expect(troubles.isEmpty)
    #expect(folder.read("junit.xml")?.contains(#"failures="1" errors="0""#) == true)
    #expect(folder.read("report.html")?.contains("1 failed") == true)
    #expect(folder.names == ["junit.xml", "report.html", "run.jsonl"])
  }

  @Test func `says before the run that a report can't be written`() async throws {
    let folder = try ReportFolder()
    close(creat(folder.file("file"), 0o600))

    let trouble = await #expect(throws: ReportTrouble.self) {
      _ = try await ReportDesk.open([.junit(path: folder.file("file/junit.xml"))])
    }

    #expect(trouble?.code == ENOTDIR && trouble?.path == folder.file("file"))
    #expect(trouble?.sentence.contains("can't be written: Not a directory.") == true)
  }

  @Test func `tells once of a report that can't be written any more, and goes on with the others`() async throws {
    let folder = try ReportFolder()
    let told = Guarded<[ReportTrouble]>([])
    let desk = try await ReportDesk.open(
      [.junit(path: folder.file("a/junit.xml")), .html(path: folder.file("b/report.html"))]
    ) { trouble in told.with { $0.append(trouble) } }
    unlink(folder.file("a/junit.xml"))
    rmdir(folder.file("a"))

    for event in script().events { desk.take(event) }
    #expect(await until { told.with { !$0.isEmpty } })
    for event in script().events { desk.take(event) }
    let troubles = await desk.finish()

    #expect(troubles == [ReportTrouble(path: folder.file("a/junit.xml"), code: ENOENT)])
    #expect(told.with { $0 } == troubles)
    #expect(folder.read("b/report.html")?.contains("2 passed") == true)
  }

  @Test func `gives a pipe the last text only`() async throws {
    let folder = try ReportFolder()
    let pipe = folder.file("pipe")
    mkfifo(pipe, 0o600)
    let read = Guarded<String?>(nil)
    let reader = Worker(name: "reader") {
      let fd = open(pipe, O_RDONLY)
      var text: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 4096)
      while case let count = Glibc.read(fd, &part, part.count), count > 0 { text += part.prefix(count) }
      close(fd)
      read.with { $0 = String(decoding: text, as: UTF8.self) }
    }
    let desk = try await ReportDesk.open([.junit(path: pipe)])

    for event in script().events { desk.take(event) }
    let troubles = await desk.finish()

    #expect(reader.join(by: .after(.seconds(20))))
    #expect(troubles.isEmpty)
    #expect(read.with { $0 }?.ranges(of: "<?xml").count == 1)
  }
}

@Suite struct `a run's ledger` {
  @Test func `counts a scenario with several attempts once, by its last`() {
    var script = Script("shaky", "later")
    script.start("shaky")
    script.end("shaky", .failed)
    let failed = script.ledger.counts
    script.start("shaky", attempt: 2)
    let again = script.ledger.counts
    script.end("shaky", .flaky, attempt: 2)

    #expect(failed[.failed] == 1 && again.all == 0)
    #expect(script.ledger.counts[.flaky] == 1 && script.ledger.counts.all == 1)
    #expect(script.ledger.pending.map(\.scenario) == ["later", "shaky", "later"])
    #expect(script.ledger.summary == "1 of 4 judged, on 2 phones: 1 flaky, 3 not run")
  }

  @Test func `leaves out what a run does not set out to judge on a phone`() throws {
    let script = Script("one", "two")
    guard case .runStarted(var started)? = script.events.first?.happening else { throw Trouble("no start") }
    started.phones[0].scenarios = ["two"]
    var ledger = RunLedger()

    ledger.take(RunEvent(at: "", run: 1, happening: .runStarted(started)))

    #expect(ledger.pending.map(\.scenario) == ["two", "one", "two"])
  }

  @Test func `keeps phones apart that run side by side`() {
    var script = Script("one")
    script.start("one")
    script.start("one", on: Script.stairs)
    script.step("one", ok: false, came: "no", on: Script.stairs)
    script.step("one", ok: true)
    script.end("one", .passed)
    script.end("one", .failed, on: Script.stairs)

    #expect(script.ledger.cases.map(\.verdict) == [.passed, .failed])
    #expect(script.ledger.cases.map { $0.attempts[0].steps.map(\.ok) } == [[true], [false]])
  }
}

@Suite struct `what GitHub shows` {
  private func finished(_ verdict: Verdict) -> ScenarioFinished {
    ScenarioFinished(
      body: "hall", udid: Script.hall, scenario: "a,b", attempt: 1, verdict: verdict, seconds: 1,
      message: "50 % of\nit: no", file: "scenarios/a:b.yaml", line: 7)
  }

  @Test func `is an annotation at the line of what failed`() {
    #expect(
      Annotation.line(finished(.failed))
        == "::error file=scenarios/a%3Ab.yaml,line=7,title=a%2Cb on hall%3A failed::50 %25 of%0Ait: no")
    #expect(Annotation.line(finished(.flaky))?.hasPrefix("::warning ") == true)
    #expect(Annotation.line(finished(.passed)) == nil)
    #expect(Annotation.line(finished(.quarantined)) == nil)
  }

  @Test func `is a summary of what did not pass, added to what is there, in which nothing is markup`() throws {
    let folder = try ReportFolder()
    close(creat(folder.file("report"), 0o600))
    var script = Script("good", "bad")
    script.whole("good", .passed)
    script.start("bad")
    script.end("bad", .failed, message: "a | b\n`c` <img>")

    let once = try folder.written(ReportKind.stepSummary, script)
    let twice = try folder.written(ReportKind.stepSummary, script)

    #expect(once.hasPrefix("## fleetctl run 17\n\n2 of 4 judged"))
    #expect(once.contains("| ✗ failed | bad | hall | scenarios/bad.yaml:11: a \\| b \\`c\\` &lt;img&gt; |\n"))
    #expect(!once.contains("good"))
    #expect(twice == once + once)
  }
}
