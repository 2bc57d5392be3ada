import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the door of a running app` {
  @Test func `says hello with its name, its version and whether it is in front`() throws {
    let phone = try TestPhone()

    let answer = try phone.ask("GET /hello")

    #expect(answer.status == 200)
    #expect(answer.header("Content-Type") == "application/json")
    #expect(answer.json == ["ok": true, "name": "Kiosk", "version": "3.2.0", "active": true])
  }

  @Test func `tells its cameras, its grants and that nothing is being captured`() throws {
    let phone = try TestPhone()
    try phone.perform("grant", ["location": "notDetermined", "microphone": "restricted"])

    let answer = try phone.ask("GET /status")

    #expect(
      answer.json == [
        "active": true, "by": nil, "cameras": ["front", "back"], "capturing": nil,
        "grants": ["camera": "authorized", "location": "notDetermined", "microphone": "restricted"],
      ])
  }

  @Test func `answers one request after another on one connection`() throws {
    let phone = try TestPhone()
    let door = try phone.door()

    for _ in 0..<3 {
      try door.send("GET /hello")
      #expect(try door.response().status == 200)
    }
    try door.send("GET /hello", fields: ["Connection: close"])

    #expect(try door.response().keepsAlive == false)
    #expect(try door.rest().isEmpty)
  }

  @Test func `takes a request that comes byte by byte, and the one behind it`() throws {
    let phone = try TestPhone()
    let door = try phone.door()
    let twice = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"

    for byte in twice.utf8 { try door.socket.write([byte], by: .after(.seconds(5))) }
    let parser = HTTPParser(.response, bodyLimit: 1 << 20)
    while !parser.isComplete { try parser.feed(try door.socket.read(max: 1 << 12, by: .after(.seconds(5)))) }
    let next = HTTPParser(.response, bodyLimit: 1 << 20)
    try next.feed(parser.surplus)
    while !next.isComplete { try next.feed(try door.socket.read(max: 1 << 12, by: .after(.seconds(5)))) }

    #expect(parser.message.status == 200)
    #expect(next.message.status == 404)
  }

  @Test(arguments: [
    ("GET /", 404, "/hello, /status, /photo and /clip"),
    ("POST /hello", 405, "GET"),
    ("GET /photo?camera=front", 405, "POST"),
    ("DELETE /clip", 405, "POST"),
    ("POST /photo", 400, "camera="),
    ("POST /clip?camera=back", 400, "seconds="),
    ("POST /clip?camera=back&seconds=0", 400, "seconds="),
    ("POST /clip?camera=back&seconds=1e9", 400, "seconds="),
    ("POST /clip?camera=back&seconds=nan", 400, "seconds="),
    ("POST /photo?camera=side", 503, "no camera named side"),
  ])
  func `refuses what it cannot do with a sentence`(request: String, status: Int, words: String) throws {
    let phone = try TestPhone()

    let answer = try phone.ask(request)

    #expect(answer.status == status)
    #expect(answer.error.contains(words))
    #expect(answer.header("Allow") == (status == 405 ? words : nil))
  }

  /// Bytes that the door does not take for a request.
  struct Junk: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String
    let status: Int
  }

  static let junk = [
    Junk(testDescription: "another protocol", text: "SSH-2.0-x\r\n\r\n", status: 400),
    Junk(testDescription: "a negative length", text: "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", status: 400),
    Junk(testDescription: "control characters", text: "\u{0}\u{1}\u{2}\r\n", status: 400),
    Junk(
      testDescription: "a body above the limit",
      text: "POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n" + String(repeating: "x", count: 1_200_000), status: 413
    ),
    Junk(
      testDescription: "a head above the limit", text: "GET / HTTP/1.1\r\nX: " + String(repeating: "y", count: 70_000),
      status: 431),
  ]

  @Test(arguments: junk)
  func `answers bytes that are no request, or too many, and closes`(junk: Junk) throws {
    let phone = try TestPhone()
    let door = try phone.door()

    let writer = Worker(name: "test writer") { try? door.socket.write(Array(junk.text.utf8), by: .after(.seconds(10))) }
    let answer = try door.response()
    door.socket.shutdown()

    #expect(answer.status == junk.status)
    #expect(answer.keepsAlive == false)
    #expect(writer.join(by: .after(.seconds(10))))
    #expect(phone.answers)
  }

  @Test func `answers HEAD without a body, and goes on`() throws {
    let phone = try TestPhone()
    let door = try phone.door()

    try door.send("HEAD /hello")
    let parser = HTTPParser(.response, bodyLimit: 1 << 10, answersHead: true)
    while !parser.isComplete { try parser.feed(try door.socket.read(max: 1 << 12, by: .after(.seconds(5)))) }
    try door.send("GET /hello")

    #expect(parser.message.status == 405)
    #expect(parser.surplus.isEmpty)
    #expect(try door.response().status == 200)
  }

  @Test func `tells a caller who waits for it to go on with its body`() throws {
    let phone = try TestPhone()
    let door = try phone.door()

    try door.send("POST /hello", fields: ["Expect: 100-continue", "Content-Length: 2"])
    let told = String(decoding: try door.socket.read(max: 100, by: .after(.seconds(5))), as: UTF8.self)
    try door.socket.write(Array("{}".utf8), by: .after(.seconds(5)))

    #expect(told == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(try door.response().status == 405)
  }

  @Test(arguments: [nil, "Bearer wrong", "Basic right", "right", "Bearer"] as [String?])
  func `asks for its token before anything else`(field: String?) throws {
    let phone = try TestPhone(token: "right")
    phone.app.sendToBackground()

    for request in ["GET /hello", "GET /status", "POST /photo?camera=front", "GET /nowhere"] {
      let answer = try phone.ask(request, fields: field.map { ["Authorization: \($0)"] } ?? [])
      #expect(answer.status == 401)
      #expect(answer.error == "the bearer token is missing or wrong")
    }
  }

  @Test func `takes the right token and never writes it down`() throws {
    let phone = try TestPhone(token: "s3cret")

    let answer = try phone.ask("GET /hello?token=s3cret", fields: ["authorization: bearer s3cret"])
    try phone.perform("token", ["value": "0ther"])
    _ = try phone.ask("GET /status?t=0ther")

    #expect(answer.status == 200)
    let lines = phone.journal.entries().map(\.json.line)
    #expect(phone.events("door-request").map { $0.details["path"]?.string } == ["/hello?token=***", "/status?t=***"])
    #expect(!lines.contains { $0.contains("s3cret") || $0.contains("0ther") })
  }

  @Test func `is open again without a token when it is taken away`() throws {
    let phone = try TestPhone(token: "right")

    try phone.perform("token")

    #expect(try phone.ask("GET /hello").status == 200)
  }

  @Test func `leaves a line of each request in the journal`() throws {
    let phone = try TestPhone()

    _ = try phone.ask("POST /photo?camera=side")

    let entry = try #require(phone.events("door-request").first)
    #expect(entry.details["method"] == "POST")
    #expect(entry.details["path"] == "/photo?camera=side")
    #expect(entry.details["status"] == 503)
  }
}
