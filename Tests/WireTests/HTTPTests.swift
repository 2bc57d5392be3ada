import Testing
import Wire

@Suite struct `an HTTP response` {
  private func parse(
    _ text: String, chunk: Int = .max, ends: Bool = true, limit: Int = 1 << 20
  ) throws(HTTPError) -> HTTPParser {
    let parser = HTTPParser(.response, bodyLimit: limit)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let part = rest.prefix(chunk)
      try parser.feed(Array(part))
      rest = rest.dropFirst(part.count)
    }
    if ends { try parser.finish() }
    return parser
  }

  @Test(arguments: [1, 2, 7, .max])
  func `is read the same in pieces of any size`(_ chunk: Int) throws {
    let parser = try parse(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}", chunk: chunk,
      ends: false)

    #expect(parser.isComplete)
    #expect(parser.message.status == 200)
    #expect(parser.message.header("content-type") == "application/json")
    #expect(String(decoding: parser.message.body, as: UTF8.self) == "{\"ok\":true}")
    #expect(parser.message.keepsAlive)
  }

  @Test(arguments: [
    "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhello",
  ])
  func `H38: without a length ends where the connection ends`(_ text: String) throws {
    let parser = try parse(text)

    #expect(String(decoding: parser.message.body, as: UTF8.self) == "hello")
    #expect(!parser.message.keepsAlive)
  }

  @Test(
    arguments: [
      ("", HTTPError.empty), ("HTTP/1.1 200 OK\r\nContent-", .headCut),
      ("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\nabc", .bodyCut(promised: 64, received: 3)),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .bodyCut(promised: nil, received: 3)),
    ])
  func `H39: cut short says what is missing`(_ text: String, _ error: HTTPError) {
    #expect(throws: error) { try parse(text) }
  }

  @Test(arguments: [1, .max])
  func `H57: in chunks with an extension and a trailer is whole`(_ chunk: Int) throws {
    let parser = try parse(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nETag: \"a\"\r\n\r\n", chunk: chunk,
      ends: false)

    #expect(parser.isComplete)
    #expect(String(decoding: parser.message.body, as: UTF8.self) == "hello")
  }

  @Test(arguments: ["FFFFFFFFFFFFFFFF", "-1", "zz"])
  func `H57: with an absurd chunk size is refused`(_ size: String) {
    #expect(throws: HTTPError.self) { try parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n") }
  }

  @Test func `larger than the limit is refused before it fills memory`() {
    #expect(throws: HTTPError.tooLarge(limit: 10)) {
      try parse("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0123456789A", limit: 10)
    }
  }

  @Test func `behind an interim answer is the one that counts`() throws {
    let parser = try parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", ends: false)

    #expect(parser.message.status == 204)
  }

  @Test(arguments: [1, 3, .max])
  func `keeps a field's characters whole however the network cut them`(_ chunk: Int) throws {
    let parser = try parse("HTTP/1.1 204 No Content\r\nX-Name: \u{1F698}\u{30C6}\r\n\r\n", chunk: chunk, ends: false)

    #expect(parser.message.header("x-name") == "\u{1F698}\u{30C6}")
  }

  @Test func `leaves what follows it to the next reader`() throws {
    let parser = try parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", ends: false)

    #expect(String(decoding: parser.surplus, as: UTF8.self) == "HTTP/1.1")
  }

  @Test func `of random bytes is refused, never fatal`() {
    var random = SplitMix(seed: 40)
    var refused = 0

    for _ in 0..<5_000 {
      let noise = (0..<(random.next() % 80)).map { _ in UInt8(random.next() & 0x7F) }
      let parser = HTTPParser(.response, bodyLimit: 1_000)
      do {
        try parser.feed(Array("HTTP/1.1 ".utf8) + noise)
        try parser.finish()
      } catch { refused += 1 }
    }

    #expect(refused > 4_900)
  }
}

@Suite struct `an HTTP request` {
  @Test func `gives its method, target and body`() throws {
    let parser = HTTPParser(.request, bodyLimit: 100)

    try parser.feed(Array("POST /photo?camera=front HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi".utf8))

    #expect(parser.isComplete)
    #expect(parser.message.method == "POST")
    #expect(parser.message.target == "/photo?camera=front")
    #expect(parser.message.body == Array("hi".utf8))
  }
}
