import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the phone's log` {
  /// A host that reads the text stream record by record.
  private final class Reader {
    let service: ServiceClient
    private var bytes: [UInt8] = []

    init(_ phone: TestPhone) throws {
      let before = phone.phone.log.lines.observerCount
      service = try phone.service("com.apple.syslog_relay")
      try #require(holds { phone.phone.log.lines.observerCount > before })
    }

    /// The next record, without the LF and NUL that end it.
    func next() throws -> String {
      while true {
        if let end = bytes.firstIndex(of: 0) {
          defer { bytes.removeFirst(end + 1) }
          try #require(end > 0 && bytes[end - 1] == 0x0A)
          return String(decoding: bytes[..<(end - 1)], as: UTF8.self)
        }
        let part = try service.socket.read(max: 4096, by: .after(.seconds(20)))
        try #require(!part.isEmpty)
        bytes += part
      }
    }

    /// The records up to one that contains the text.
    func lines(until text: String) throws -> [String] {
      var lines = [try next()]
      while lines[lines.count - 1].contains(text) == false { lines.append(try next()) }
      return lines
    }
  }

  @Test func `comes as records that end with LF and NUL, as of the moment of connecting`() throws {
    let phone = try TestPhone()
    try phone.perform("log", ["text": "before anybody listens"])
    let reader = try Reader(phone)

    try phone.perform("name", ["to": "Anna's new phone"])
    try phone.perform("log", ["text": "one\ntwo", "process": "wifid", "level": "error"])

    let line = try reader.next()
    #expect(line.hasSuffix(" Annas-new-phone wifid[77] <Error>: one two"))
    // `Jan  2 03:04:05 `
    #expect(line.prefix(16).last == " ")
    #expect(line.dropFirst(3).first == " ")
  }

  @Test func `tells what the app does: door, captures, refusals, crashes`() throws {
    let phone = try TestPhone(token: "s3cret", runs: false)
    let reader = try Reader(phone)

    try phone.perform("launch-app")
    let start = try reader.lines(until: "listening on port 8127")
    _ = try phone.ask("GET /hello")
    let refused = try #require(try reader.lines(until: "refused").last)
    try phone.perform("crash-app")
    let crash = try reader.lines(until: "Process exited")

    #expect(start.last?.contains(" Kiosk[") == true)
    #expect(refused.contains("refused GET /hello with 401: the bearer token is missing or wrong"))
    #expect(crash.contains { $0.contains("ReportCrash[205]") && $0.contains("Kiosk") })
    #expect(crash.last?.hasSuffix("signal 11") == true)
    #expect((start + [refused] + crash).allSatisfy { !$0.contains("s3cret") })
  }

  @Test func `names a capture's begin and end`() throws {
    let phone = try TestPhone()
    let reader = try Reader(phone)
    let door = try phone.door()

    try door.send("POST /photo?camera=front")
    let begins = try reader.next()
    #expect(phone.clock.awaitSleeper(until: .milliseconds(600)))
    phone.clock.advance(by: .milliseconds(600))
    #expect(try door.response().status == 200)

    #expect(begins.hasSuffix("camera: front photo begins"))
    #expect(try reader.next().hasSuffix("camera: front photo ended: taken"))
  }

  @Test func `says that a locked phone refused a launch`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("lock")
    let reader = try Reader(phone)

    #expect(throws: ActionError.self) { try phone.perform("launch-app") }

    #expect(try reader.next().contains("could not be, unlocked"))
  }

  @Test func `loses lines of a host that reads too slowly, says so, and stays connected`() throws {
    let phone = try TestPhone()
    let reader = try Reader(phone)
    let text = String(repeating: "x", count: 900)

    // More than the socket's buffer and the waiting lines together.
    try phone.perform("log", ["text": text, "count": "5000"])
    try phone.perform("log", ["text": "the last one"])
    var count = 0
    while try reader.next().contains(text) {
      count += 1
      // There is room again: what comes now is told, with the gap before it.
      if count == LineSender.limit { try phone.perform("log", ["text": "after the gap"]) }
      if count > 5_010 { break }
    }

    #expect(count < 5_000)
    #expect(count >= LineSender.limit)
  }

  @Test func `cuts a line that is too long, and takes any text`() throws {
    let phone = try TestPhone()
    let reader = try Reader(phone)

    try phone.perform("log", ["text": String(repeating: "ä", count: 5000)])
    try phone.perform("log", ["text": "a\0b"])

    #expect(try reader.next().utf8.count < 1200)
    #expect(try reader.next().hasSuffix("a b"))
  }

  @Test func `comes as binary records over os_trace_relay, for one process or all`() throws {
    let phone = try TestPhone()
    let host = try phone.service("com.apple.os_trace_relay")
    func little(_ count: Int) throws -> Int {
      try host.socket.read(exactly: count, by: .after(.seconds(20))).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let pid = try #require(phone.app.process("com.example.kiosk")).pid

    try host.send([
      "Request": "StartActivity", "Pid": .integer(Int64(pid)), "MessageFilter": 65535, "StreamFlags": 0x3C,
    ])
    let size = try little(try little(4))
    let answer = try Plist(parsing: host.socket.read(exactly: size, by: .after(.seconds(20))))
    #expect(holds { phone.phone.log.lines.observerCount == 1 })
    try phone.perform("log", ["text": "not this one", "process": "wifid"])
    try phone.perform("log", ["text": "hello"])

    #expect(answer == ["Status": "RequestSuccessful"])
    #expect(try little(1) == 2)
    let record = try host.socket.read(exactly: try little(4), by: .after(.seconds(20)))
    #expect(record[9..<13].reversed().reduce(0) { $0 << 8 | Int($1) } == pid)
    #expect(record.suffix(6).elementsEqual(Array("hello".utf8) + [0]))
    host.socket.close()
    #expect(host.worker.join(by: .after(.seconds(10))))
    #expect(phone.phone.log.lines.observerCount == 0)
  }
}
