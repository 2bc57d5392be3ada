import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a door made to answer wrongly` {
  /// What arrives up to the end of the connection.
  private func answer(_ kind: String, _ values: [String: String] = [:]) throws -> [UInt8] {
    let phone = try TestPhone()
    try phone.perform("door-fault", values.merging(["kind": kind]) { _, new in new })
    let door = try phone.door()
    try door.send("GET /hello")
    return try door.rest()
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func `gives the tester's own bytes`() throws {
    #expect(text(try answer("raw", ["text": #"HTTP/1.1 204 \\o/\r\n\r\n"#])) == "HTTP/1.1 204 \\o/\r\n\r\n")
    #expect(try answer("raw", ["hex": "00 ff 4B"]) == [0x00, 0xFF, 0x4B])
    #expect(throws: ActionError.self) { try answer("raw", ["hex": "0"]) }
  }

  @Test func `closes without a byte`() throws { #expect(try answer("empty").isEmpty) }

  @Test func `H39: promises 64 bytes and closes after 63`() throws {
    let parser = HTTPParser(.response, bodyLimit: 1 << 10)
    try parser.feed(try answer("half"))

    #expect(throws: HTTPError.bodyCut(promised: 64, received: 63)) { try parser.finish() }
  }

  @Test func `H39: promises 64 bytes, sends 63 and stays open`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "half-open"])
    let door = try phone.door()
    try door.send("GET /hello")
    let parser = HTTPParser(.response, bodyLimit: 1 << 10)

    while parser.message.body.count < 63 {
      try parser.feed(try door.socket.read(max: 1 << 10, by: .after(.seconds(5))))
    }

    #expect(!parser.isComplete)
    #expect(throws: StreamError.timedOut) { try door.socket.read(max: 1, by: .after(.milliseconds(50))) }
  }

  @Test(arguments: [("no-length", "HTTP/1.0 200 OK"), ("no-length-1.1", "HTTP/1.1 200 OK")])
  func `H38: ends a body without a length by closing`(kind: String, line: String) throws {
    let bytes = try answer(kind)
    let parser = HTTPParser(.response, bodyLimit: 1 << 10)
    try parser.feed(bytes)
    try parser.finish()

    #expect(text(bytes).hasPrefix(line))
    #expect(text(parser.message.body) == "hello")
  }

  @Test func `ends inside the head`() throws {
    let parser = HTTPParser(.response, bodyLimit: 1 << 10)
    try parser.feed(try answer("head-cut"))

    #expect(throws: HTTPError.headCut) { try parser.finish() }
  }

  @Test func `speaks something else than HTTP`() throws {
    let bytes = try answer("not-http")

    #expect(throws: HTTPError.self) { try HTTPParser(.response, bodyLimit: 1 << 10).feed(bytes) }
  }

  @Test(arguments: [("surrogate", 200), ("surrogate-500", 500)])
  func `H40: gives JSON with half an emoji`(kind: String, status: Int) throws {
    let parser = HTTPParser(.response, bodyLimit: 1 << 10)
    try parser.feed(try answer(kind))

    #expect(parser.message.status == status)
    #expect(parser.message.body == [0x7B, 0x22, 0x6D, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0xBD, 0x22, 0x7D])
    #expect(parser.message.json == nil)
  }

  @Test func `resets the connection`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "reset"])
    let door = try phone.door()

    try door.send("GET /hello")

    #expect(throws: StreamError.closed) { try door.response() }
  }

  @Test func `takes the request and never answers, until the caller goes`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "silent"])
    let door = try phone.door()

    try door.send("GET /hello")

    #expect(throws: StreamError.timedOut) { try door.response(by: .after(.milliseconds(100))) }
    try phone.perform("door-fault", ["kind": "none"])
    #expect(phone.answers)
  }

  @Test func `drips one byte a second of phone time`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "drip"])
    let door = try phone.door()
    try door.send("GET /hello")

    var came: [UInt8] = []
    for second in 1...4 {
      #expect(phone.clock.awaitSleeper(until: .seconds(second)))
      came += try door.socket.read(max: 100, by: .after(.seconds(5)))
      phone.clock.advance(by: .seconds(1))
    }

    #expect(text(came) == "HTTP")
  }

  @Test func `sends a body without end, in bounded memory, until the caller goes`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "endless"])
    let door = try phone.door()
    try door.send("GET /hello")

    var count = 0
    while count < 4 << 20 { count += try door.socket.read(max: 1 << 16, by: .after(.seconds(5))).count }
    door.socket.close()

    try phone.perform("door-fault", ["kind": "none"])
    #expect(phone.answers)
  }

  @Test func `can do so on one path only, and stops when told`() throws {
    let phone = try TestPhone()
    try phone.perform("door-fault", ["kind": "surrogate-500", "path": "/status"])

    let (hello, status) = (try phone.ask("GET /hello"), try phone.ask("GET /status"))
    try phone.perform("door-fault", ["kind": "none"])

    #expect(hello.status == 200)
    #expect(status.status == 500)
    #expect(try phone.ask("GET /status").status == 200)
  }
}
