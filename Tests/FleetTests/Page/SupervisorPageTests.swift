import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

/// A page that is being served for a test, over a stage that the test sets up.
final class ServedPage: Sendable {
  let scratch: Scratch
  let view: StageView
  let page: SupervisorPage
  let said = Guarded<[String]>([])

  init(_ stage: StageView.Stage = .init(), _ change: (inout SupervisorPage.Settings) -> Void = { _ in }) throws {
    scratch = try Scratch()
    view = StageView(stage)
    var settings = SupervisorPage.Settings(
      SuperviseSettings(), socket: "\(scratch.path)/supervise.sock", version: "1.2.3")
    settings.listen = "127.0.0.1:0"
    settings.now = { StageView.now }
    let said = said
    settings.log = { line in said.with { $0.append(line) } }
    change(&settings)
    page = try SupervisorPage(view: view, settings: settings)
    try page.start()
  }

  deinit { page.stop() }

  var address: SocketAddress { page.addresses[0] }

  func get(_ target: String, _ fields: [String] = []) async throws -> HTTPMessage {
    try await PageClient.get(target, address, fields)
  }
}

@Suite struct `the supervisor's page` {
  private func stage() -> StageView.Stage {
    var stage = StageView.Stage()
    stage.bodies = [
      StageView.body(1, "hall", OutcomeWords(.up)),
      StageView.body(2, "stairs", OutcomeWords(.locked, .passcode)) { $0.silent = .seconds(250) },
      StageView.body(3, nil, OutcomeWords(.revived)),
    ]
    stage.round = RoundPresent(number: 7, at: StageView.now - .seconds(3), took: .seconds(2))
    stage.rows = (1...3).map { StageView.row($0) }
    return stage
  }

  @Test func `shows each body, its outcome in words, and the rows, without a script`() async throws {
    let served = try ServedPage(stage())

    let answer = try await served.get("/")

    #expect(answer.status == 200 && answer.header("Content-Type") == "text/html; charset=utf-8")
    let text = answer.text
    for part in [
      "<h1>2 of 3 well</h1>", "<h3>hall</h3>", "<h3>stairs</h3>", "<h3>\(StageView.udid(3))</h3>",
      "it asks for its passcode", "silent <time", ">4:10</time>", "Last round <time", "locked/passcode → <b>up</b>",
      "<noscript><meta http-equiv=\"refresh\"", "fleetctl 1.2.3",
    ] { #expect(text.contains(part), "\(part)") }
  }

  @Test func `says of a revived body that it is up, and when it was revived`() async throws {
    let served = try ServedPage(stage())

    let text = try await served.get("/").text

    #expect(text.contains("<b>✓ up</b> <span>revived <time"))
  }

  @Test func `does not call a body well whose door has just fallen silent`() async throws {
    var stage = stage()
    stage.bodies = [StageView.body(1, "hall", OutcomeWords(.up)) { $0.silent = .seconds(250) }]
    let served = try ServedPage(stage)

    let text = try await served.get("/").text

    #expect(text.contains("<h1>0 of 1 well</h1>") && text.contains("now the door does not answer"))
    #expect(!text.contains("card well"))
  }

  @Test func `lets run nothing but its own script, and asks nobody else for anything`() async throws {
    let served = try ServedPage(stage())

    let answer = try await served.get("/")

    let policy = try #require(answer.header("Content-Security-Policy"))
    let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)).1
    #expect(policy.hasPrefix("default-src 'none'; "))
    #expect(answer.text.contains("<script nonce=\"\(nonce)\">"))
    #expect(try await served.get("/").text.contains(nonce) == false)
    #expect(!answer.text.contains("http://") && !answer.text.contains("https://") && !answer.text.contains(" src="))
  }

  @Test func `tells programs its bodies and rows`() async throws {
    let served = try ServedPage(stage())

    let bodies = try await served.get("/api/bodies")
    let rows = try await served.get("/api/outcomes?after=1&limit=1")

    #expect(bodies.header("Content-Type") == "application/json")
    #expect(bodies.json?.array?.map { $0["body"] } == ["hall", "stairs", .null])
    #expect(bodies.json?.array?[1]["reason"] == "passcode")
    #expect(rows.json == .array([StageView.row(2).json]))
  }

  @Test(arguments: ["after=x", "limit=0", "limit=1001", "limit=-1", "after=-1", "limit=1e3", "after="])
  func `says so where rows are asked for in a way that means nothing`(_ query: String) async throws {
    let served = try ServedPage(stage())

    let answer = try await served.get("/api/outcomes?\(query)")

    #expect(answer.status == 400)
    #expect(answer.json?["error"]?.string?.hasPrefix("This does not say which rows are meant") == true)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FOO"])
  func `can only be read`(_ method: String) async throws {
    let served = try ServedPage(stage())

    let answer = try await PageClient.get("/api/bodies", served.address, method: method)

    #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD")
    #expect(answer.json?["error"]?.string?.hasPrefix("The page can only be read") == true)
  }

  @Test func `answers HEAD with the head alone`() async throws {
    let served = try ServedPage(stage())

    let answer = try await PageClient.get("/api/bodies", served.address, method: "HEAD")

    #expect(answer.status == 200 && answer.body.isEmpty)
  }

  @Test(arguments: [
    "/x", "/api", "/api/", "/api/bodies/", "/api/bodies/hall", "/api/bodies/hall/ready/x", "//", "/../etc/passwd",
    "/api/bodies/..%2f..%2fetc/ready", "/metrics/",
  ])
  func `has nothing at other addresses`(_ target: String) async throws {
    let served = try ServedPage(stage())

    let answer = try await served.get(target)

    #expect(answer.status == 404 || answer.status == 400)
    #expect(answer.json?["error"]?.string?.isEmpty == false)
  }

  @Test func `is well where a round was completed lately`() async throws {
    let served = try ServedPage(stage())

    let answer = try await served.get("/healthz")

    #expect(answer.status == 200)
    #expect(answer.json == ["ok": true, "rounds": 7, "last_round": "2026-12-20T08:29:57.000Z"])
  }

  @Test func `is not well before the first round, nor long after the last`() async throws {
    let served = try ServedPage(stage())
    served.view.change { $0.round = nil }
    let none = try await served.get("/healthz")
    served.view.change { $0.round = RoundPresent(number: 7, at: StageView.now - .seconds(71), took: .seconds(2)) }

    let old = try await served.get("/healthz")

    #expect(none.status == 503)
    #expect(none.json?["error"]?.string?.hasPrefix("No round has been completed since the supervisor started.") == true)
    #expect(old.status == 503)
    #expect(old.json?["error"]?.string?.hasPrefix("No round has been completed for 1:11") == true)
  }

  @Test func `is well for longer where a body is looked at more seldom`() async throws {
    let served = try ServedPage(stage())
    var round = RoundPresent(number: 7, at: StageView.now - .seconds(1_000), took: .seconds(2))
    (round.every, round.answerWithin) = (.seconds(600), .seconds(20))
    served.view.change { [round] in $0.round = round }

    #expect(try await served.get("/healthz").status == 200)
  }

  @Test func `still shows the bodies where the record can't be read`() async throws {
    var stage = stage()
    stage.trouble = .full(path: "/var/lib/fleetctl/fleet.sqlite")
    let served = try ServedPage(stage)

    let page = try await served.get("/")
    let rows = try await served.get("/api/outcomes")

    #expect(page.status == 200 && page.text.contains("<h3>hall</h3>"))
    #expect(page.text.contains("fleet.sqlite"))
    #expect(rows.status == 503 && rows.json?["error"]?.string?.contains("fleet.sqlite") == true)
  }

  @Test func `says what is wrong with the host above everything else`() async throws {
    var stage = stage()
    stage.host = HostPresent(words: OutcomeWords(.unreachable, .noUsbmuxd))
    stage.host.unstored = 3
    let served = try ServedPage(stage)

    let text = try await served.get("/").text

    #expect(text.contains("<title>Host: unreachable/no-usbmuxd · fleetctl</title>"))
    #expect(text.contains("<b>The host: unreachable/no-usbmuxd.</b> usbmuxd does not run."))
    #expect(text.contains("3 rows and notes wait for the record"))
  }

  @Test func `also listens on a UNIX socket for its group, where no token and no name is asked for`() async throws {
    let token = try Scratch()
    try Scratch.write("right-token\n", to: "\(token.path)/token")
    let served = try ServedPage(stage()) { $0.tokenFile = "\(token.path)/token" }
    let path = "\(served.scratch.path)/supervise.sock"

    let bodies = try await PageClient.blocking { try SupervisorClient.bodies(socket: path) }
    let named = try await PageClient.get("/healthz", .unix(path: path), host: "evil.example")

    #expect(bodies.count == 3 && named.status == 200)
    #expect(Scratch.mode(path) == 0o660)
    #expect(try await served.get("/healthz").status == 401)
    #expect(try await served.get("/healthz", ["Authorization: Bearer right-token"]).status == 200)
    #expect(try await PageClient.get("/healthz", served.address, host: "evil.example").status == 421)
    served.page.stop()
    #expect(Scratch.mode(path) == nil)
  }

  @Test func `lets nobody stay whose request does not come, whose answer is not taken, or whose live page is old`()
    async throws
  {
    var stage = stage()
    // More than sockets hold between one end and the other.
    stage.rows = (1...1_000).map { StageView.row($0) }
    for place in stage.rows.indices { stage.rows[place].detail = String(repeating: "x", count: 20_000) }
    let served = try ServedPage(stage) { settings in
      settings.limits.spans = PageConnections.Spans(
        request: .milliseconds(100), answer: .milliseconds(100), events: .milliseconds(100))
    }
    let address = served.address
    let heads = [
      "GET / HTTP/1.1\r\nHost: local", "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /api/outcomes?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ]
    let sockets = try await PageClient.blocking {
      try heads.map { head in
        let socket = try Socket.connect(to: address, by: .after(.seconds(5)))
        try socket.write(Array(head.utf8), by: .after(.seconds(5)))
        return socket
      }
    }
    defer { for socket in sockets { socket.close() } }
    #expect(await eventually { served.page.connections > 0 })

    // They read nothing, and are gone all the same, before the library would have had enough of them.
    #expect(await eventually(within: .seconds(12)) { served.page.connections == 0 })
  }

  @Test func `is not served to others than this machine without a token`() throws {
    let error = #expect(throws: PageTrouble.self) { try ServedPage { $0.listen = "0.0.0.0:0" } }

    #expect(error == .noToken(.tcp(host: "0.0.0.0", port: 0)))
    #expect(error?.exitCode == .usage)
    #expect(error?.sentence.contains("supervise.token-file is not set.") == true)
  }

  @Test func `is served to others with one, at any address of this machine`() async throws {
    let token = try Scratch()
    try Scratch.write("right-token\n", to: "\(token.path)/token")
    let served = try ServedPage(stage()) {
      $0.tokenFile = "\(token.path)/token"
      $0.listen = "0.0.0.0:0"
    }
    guard case .tcp(_, let port) = served.address else {
      Issue.record("no port")
      return
    }
    let address = SocketAddress.tcp(host: "127.0.0.5", port: port)

    let asked = try await PageClient.get("/healthz", address, host: "127.0.0.5:\(port)")
    let misnamed = try await PageClient.get("/healthz", address, host: "127.0.0.6:\(port)")

    #expect(asked.status == 401 && misnamed.status == 421)
  }

  @Test func `says which token file can't be used`() throws {
    let scratch = try Scratch()
    try Scratch.write("two\nlines\n", to: "\(scratch.path)/token")

    let error = #expect(throws: PageTrouble.self) { try ServedPage { $0.tokenFile = "\(scratch.path)/token" } }

    #expect(error?.exitCode == .usage && error?.sentence.contains("\(scratch.path)/token") == true)
    #expect(error?.sentence.contains("two") == false)
  }

  @Test func `says that somebody else listens there already`() throws {
    let first = try ServedPage(stage())

    let error = #expect(throws: PageTrouble.self) {
      try ServedPage {
        $0.listen = first.address.description
        $0.socket = nil
      }
    }

    #expect(error == .listen(first.address, code: EADDRINUSE))
    #expect(error?.exitCode == .harness)
  }
}
