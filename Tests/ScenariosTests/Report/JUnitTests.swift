import Fleet
import Testing
import Wire

@testable import Scenarios

@Suite struct `the JUnit report` {
  private func report(_ script: Script, isLast: Bool = true) throws -> String {
    try ReportFolder().written(ReportKind.junit, script, isLast: isLast)
  }

  private func count(_ part: String, in text: String) -> Int { text.ranges(of: part).count }

  @Test func `tells a pass, a failure, an error, a skip and a quarantine apart`() throws {
    var script = Script("good", "bad", "broken", "left-out", "known")
    script.whole("good", .passed, recovery: 0.64)
    script.whole("bad", .failed, message: "expected status 423; came status 200")
    script.whole("broken", .error, message: "the cable is gone")
    script.whole("left-out", .skipped, message: "hall is locked")
    script.whole("known", .quarantined, message: "ticket 7: expected status 423; came status 200")
    script.finish()

    let xml = try report(script)

    #expect(xml.contains(#"<testsuites name="fleetctl run 17" tests="10" failures="1" errors="1" time="60.000">"#))
    #expect(xml.contains(#"<testcase name="good" classname="good.hall" time="4.200">"#))
    #expect(
      xml.contains(
        """
        <failure type="failed" message="expected status 423; came status 200">scenarios/bad.yaml:11: request POST /photo
        expected: status 423
        came: status 200</failure>
        """))
    #expect(xml.contains(#"<error type="error" message="the cable is gone">"#))
    #expect(xml.contains(#"<skipped type="skipped" message="hall is locked"/>"#))
    #expect(xml.contains(#"<skipped type="quarantined" message="quarantined: ticket 7: expected"#))
    #expect(count("<testcase ", in: xml) == 10 && count("not run: the run ended before it", in: xml) == 5)
  }

  @Test func `names the phone by its body, so that a replaced phone keeps its history`() throws {
    var script = Script("a.b")
    script.whole("a.b", .passed)

    let xml = try report(script)

    #expect(xml.contains(#"<testsuite name="a_b.hall" tests="1""#))
    #expect(xml.contains(#"classname="a_b.00008101-000A1B2C3D4E001E""#))
  }

  @Test func `carries what a reader without the box needs`() throws {
    var script = Script("busy")
    let exchange = Exchange(at: 0.1, request: "POST /photo", answer: "status 200, image/jpeg, 900 bytes,", seconds: 0.3)
    script.start("busy")
    script.step("busy", ok: false, came: "status 200", exchanges: [exchange])
    script.end("busy", .failed, message: "no", recovery: 1.5, log: ["Kiosk[12] <Error>: no lamp"])
    script.finish()

    let xml = try report(script)

    for fact in [
      #"<property name="build" value="412"/>"#, #"<property name="ios" value="16.7"/>"#,
      #"<property name="usb_port" value="1-2.3"/>"#, #"<property name="meta.BUILD_URL" value="https://ci/1"/>"#,
      #"<property name="label" value="nightly"/>"#, #"<property name="scenario_sha256" value="hash-busy"/>"#,
      #"<property name="attempts" value="1"/>"#, "build: com.example.kiosk 3.2.0 (412)", "USB port: 1-2.3",
      "POST /photo → status 200, image/jpeg, 900 bytes (300 ms)", "Kiosk[12] &lt;Error&gt;: no lamp",
      "back after 1.5 s", #"timestamp="2026-11-30T12:00:01""#,
    ] {
      #expect(xml.contains(fact), "\(fact)\n\(xml)")
    }
  }

  @Test func `shows every attempt of a flaky scenario, and lets it pass`() throws {
    var script = Script("shaky")
    script.start("shaky")
    script.step("shaky", ok: false, came: "status 200")
    script.end("shaky", .failed, message: "first")
    script.start("shaky", attempt: 2)
    script.step("shaky", ok: false, came: "gone", attempt: 2)
    script.end("shaky", .error, message: "second", attempt: 2)
    script.start("shaky", attempt: 3)
    script.step("shaky", ok: true, attempt: 3)
    script.end("shaky", .flaky, attempt: 3)
    script.finish(exit: .done)

    let xml = try report(script)

    #expect(xml.contains(#"tests="2" failures="0" errors="0""#))
    #expect(xml.contains(#"<property name="attempts" value="3"/>"#))
    #expect(xml.contains(#"<flakyFailure type="failed" message="first"><stackTrace>"#))
    #expect(xml.contains(#"<flakyError type="error" message="second"><stackTrace>"#))
    #expect(!xml.contains("<failure") && count("<testcase ", in: xml) == 2)
  }

  @Test func `counts a scenario that failed in every attempt once`() throws {
    var script = Script("bad")
    script.start("bad")
    script.end("bad", .failed, message: "first")
    script.start("bad", attempt: 2)
    script.end("bad", .failed, message: "second", attempt: 2)
    script.finish()

    let xml = try report(script)

    #expect(xml.contains(#"<failure type="failed" message="second">"#))
    #expect(xml.contains(#"<rerunFailure type="failed" message="first">"#))
    #expect(xml.contains(#"failures="1""#))
  }

  @Test func `gives repeated scenarios names of their own`() throws {
    var script = Script("again")
    for _ in 0..<3 { script.whole("again", .passed) }
    script.finish(exit: .done)

    let xml = try report(script)

    for name in ["again", "again (2)", "again (3)"] {
      #expect(count(#"<testcase name="\#(name)" classname="again.hall""#, in: xml) == 1)
    }
  }

  @Test func `of a run that was killed does not look like a good one`() throws {
    var script = Script("good", "under", "later")
    script.whole("good", .passed)
    script.start("under")

    let xml = try report(script, isLast: false)

    #expect(xml.contains(#"errors="1""#))
    #expect(xml.contains(#"<error type="under-way" message="not judged"#))
    #expect(count("not run yet when this was written", in: xml) == 4)
    #expect(xml.hasSuffix("</testsuites>\n"))
  }

  @Test func `H56: replaces visibly what XML forbids, also where it would be a reference`() throws {
    var script = Script("wild")
    script.start("wild")
    script.step("wild", ok: false, came: "\u{1B}[31mred\u{1B}[0m ]]> <b>&amp;\u{0}")
    script.end("wild", .failed, message: "bell \u{7} end \u{FFFE} \"quoted\"\nnext", log: ["\u{8}log\r"])

    let xml = try report(script)

    #expect(xml.contains("came: \u{FFFD}[31mred\u{FFFD}[0m ]]&gt; &lt;b&gt;&amp;amp;\u{FFFD}"))
    #expect(xml.contains("message=\"bell \u{FFFD} end \u{FFFD} &quot;quoted&quot;&#10;next\""))
    #expect(xml.unicodeScalars.allSatisfy { $0.value >= 32 || $0 == "\n" })
    #expect(!xml.contains("&#x") && !xml.contains("&#27") && !xml.contains("&#7;"))
    #expect(count("<testcase ", in: xml) == 2)
  }
}
