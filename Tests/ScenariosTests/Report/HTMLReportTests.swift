import Fleet
import Testing
import Wire

@testable import Scenarios

@Suite struct `the HTML report` {
  private func page(_ script: Script, isLast: Bool = true) throws -> String {
    try ReportFolder().written(ReportKind.html, script, isLast: isLast)
  }

  private func script() -> Script {
    var script = Script("good", "bad")
    script.whole("good", .passed, recovery: 0.64)
    script.start("bad")
    let exchange = Exchange(at: 0, request: "POST /photo", answer: "status 200, image/jpeg, 900 bytes,", seconds: 0.3)
    script.step("bad", ok: false, came: "status 200", exchanges: [exchange])
    script.end("bad", .failed, message: "expected status 423; came status 200", log: ["Kiosk[12] <Error>: no lamp"])
    return script
  }

  @Test func `leads to each failure, which is open, with its exchange and the phone's log`() throws {
    var script = script()
    script.finish()

    let page = try page(script)

    for part in [
      "<title>Run 17: 1 passed, 1 failed</title>", ##"<a href="#case-1">✗ failed bad on hall</a>"##,
      #"<details class="case failed" open>"#, #"<div id="case-1">"#, "scenarios/bad.yaml:11: request POST /photo",
      "POST /photo → status 200, image/jpeg, 900 bytes (300 ms)", "Kiosk[12] &lt;Error&gt;: no lamp",
      "back after 640 ms", "<dt>usb_port</dt><dd>1-2.3</dd>", ##"class="bar failed" href="#case-1""##,
    ] {
      #expect(page.contains(part), "\(part)")
    }
    #expect(!page.contains("under way"))
  }

  @Test func `needs nothing beside itself`() throws {
    let page = try page(script())

    #expect(!page.contains("<script") && !page.contains("<img") && !page.contains("src=") && !page.contains("@import"))
    #expect(page.contains("default-src 'none'"))
    #expect(page.ranges(of: "href=\"").count == page.ranges(of: "href=\"#").count + 1)
  }

  @Test func `says that it was written while the run was under way`() throws {
    var script = script()
    script.start("good", on: Script.stairs)

    let page = try page(script, isLast: false)

    #expect(page.contains("The run was under way when this was written, 2026-11-30T12:00:07.000Z"))
    #expect(page.contains("under way: <b>good</b>") && page.hasSuffix("</html>\n"))
  }

  @Test func `shows hostile texts as texts`() throws {
    var script = Script("bad")
    script.start("bad")
    script.step("bad", ok: false, came: "<script>alert(1)</script>\u{202E}\u{1B}\"'")
    script.end("bad", .failed, message: "<img src=x onerror=alert(1)>", log: ["</pre><script>"])

    let page = try page(script)

    #expect(
      !page.contains("<script") && !page.contains("<img") && !page.contains("\u{202E}") && !page.contains("\u{1B}"))
    #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\u{FFFD}\u{FFFD}&quot;&#39;"))
  }

  @Test func `is a page before anything has happened`() throws {
    let page = try ReportFolder().written(ReportKind.html, Script("good"), isLast: false)

    #expect(page.contains("nothing judged") && page.hasSuffix("</html>\n"))
  }
}
