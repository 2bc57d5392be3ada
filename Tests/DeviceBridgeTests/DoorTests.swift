import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `a request to the door` {
  private static let port: UInt16 = 8130

  /// A phone whose port answers each connection with these bytes, after it has read the request, and then closes it
  /// or leaves it open.
  private struct Door {
    let bench: Bench
    let lane: PhoneLane
    let requests = Guarded<[String]>([])

    init() async throws {
      bench = try Bench("16.7")
      lane = try await bench.lane()
    }

    func serve(_ bytes: [UInt8], open: Bool = false, pause: Duration = .zero) {
      let requests = requests
      bench.fleet.phones[0].ports.listen(port) { socket in
        let request = (try? socket.read(max: 1 << 16, by: .patient)) ?? []
        requests.with { $0.append(String(decoding: request, as: UTF8.self)) }
        for part in pause == .zero ? [bytes] : bytes.map({ [$0] }) {
          guard (try? socket.write(part, by: .patient)) != nil else { return }
          _ = Latch().wait(until: .after(pause))
        }
        if open { while let more = try? socket.read(max: 1024, by: .patient), !more.isEmpty {} }
      }
    }

    func serve(_ text: String, open: Bool = false) { serve(Array(text.utf8), open: open) }

    func ask(
      _ method: String = "GET", _ target: String = "/hello", headers: [(name: String, value: String)] = [],
      body: [UInt8] = [], token: String? = nil, within limit: Duration = .seconds(20)
    ) async -> DoorAnswer {
      await lane.request(
        DoorRequest(
          port: port, method: method, target: target, headers: headers, body: body, token: token,
          deadline: .after(limit)))
    }
  }

  @Test func `gives the whole response`() async throws {
    let door = try await Door()
    door.serve("HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", open: true)

    let answer = await door.ask()

    #expect(answer.response?.status == 409)
    #expect(answer.response?.header("content-type") == "application/json")
    #expect(answer.response?.body == Array("{}".utf8))
    #expect(answer.took > .zero)
  }

  @Test func `is one request with its host, length and token, and nothing else`() async throws {
    let door = try await Door()
    door.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    _ = await door.ask(
      "POST", "/photo?camera=front", headers: [("X-Name", "Tür")], body: Array("abc".utf8), token: "s3cret")
    _ = await door.ask()

    let host = "Host: 127.0.0.1:8130\r\nAccept: */*\r\n"
    #expect(
      door.requests.with { $0 } == [
        "POST /photo?camera=front HTTP/1.1\r\n\(host)Authorization: Bearer s3cret\r\nX-Name: Tür\r\n"
          + "Content-Length: 3\r\nConnection: close\r\n\r\nabc",
        "GET /hello HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
      ])
  }

  @Test func `H34: is refused where nothing listens, in plain words`() async throws {
    let door = try await Door()

    let answer = await door.ask()
    let error = await #expect(throws: PhoneError.self) { try await door.lane.connect(port: 8080, by: .patient) }

    if case .refused = answer.ending {} else { Issue.record("\(answer.ending)") }
    #expect(error == .refused(door.lane.udid, port: 8080))
    #expect(error?.sentence.hasPrefix("Nothing is listening on the phone's port 8080; is the app running?") == true)
    // In network byte order: 36895 on the wire, which the virtual mux has turned back.
    #expect(door.bench.connects(to: 8080) == 1)
  }

  @Test(arguments: [
    "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nETag: \"a\"\r\n\r\n",
  ])
  func `H38: takes an answer that ends by closing`(_ bytes: String) async throws {
    let door = try await Door()
    door.serve(bytes)

    #expect(await door.ask().response?.body == Array("hello".utf8))
  }

  @Test(arguments: [
    ("", "empty reply"), ("HTTP/1.1 200 OK\r\nContent-Ty", "the reply ended inside its head"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + String(repeating: "x", count: 63), "promised 64 bytes, got 63"),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "the reply ended inside its chunks, after 5 bytes"
    ),
  ])
  func `H38 H39: is a bad reply when it ends too soon`(_ bytes: String, _ detail: String) async throws {
    let door = try await Door()
    door.serve(bytes)

    #expect(await door.ask().badReply == detail)
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
  ])
  func `H57: is a bad reply when it is no HTTP`(_ bytes: String) async throws {
    let door = try await Door()
    door.serve(bytes)

    #expect(await door.ask().badReply != nil)
  }

  @Test func `H39: is silent at the deadline when a byte is missing, and says how many came`() async throws {
    let door = try await Door()
    door.serve("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + String(repeating: "x", count: 63), open: true)

    let answer = await door.ask(within: .seconds(2))

    #expect(answer.silence?.hasPrefix("63 of 64 bytes") == true)
    #expect(answer.took < .seconds(5))
  }

  @Test func `H35: is silent when it is taken and never answered`() async throws {
    let door = try await Door()
    door.serve("", open: true)

    #expect(await door.ask(within: .seconds(2)).silence?.hasPrefix("no byte within ") == true)
  }

  @Test func `is not kept waiting by bytes that trickle in`() async throws {
    let door = try await Door()
    door.serve(
      Array("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n".utf8) + [UInt8](repeating: 0x78, count: 9000),
      pause: .milliseconds(10))

    let answer = await door.ask(within: .seconds(2))

    #expect(answer.silence != nil)
    #expect(answer.took < .seconds(5))
  }

  @Test func `is a bad reply when the body has no end`() async throws {
    let door = try await Door()
    door.bench.fleet.phones[0].ports.listen(Self.port) { socket in
      let part = [UInt8](repeating: 0, count: 1 << 20)
      try? socket.write(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8), by: .patient)
      while (try? socket.write(part, by: .patient)) != nil {}
    }

    #expect(await door.ask().badReply == "the reply is larger than 16777216 bytes")
  }

  @Test(arguments: [200, 500])
  func `H40: goes by its status when the text is no UTF-8`(_ status: Int) async throws {
    let door = try await Door()
    let body: [UInt8] = [0x7B, 0x22, 0x6D, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0xBD, 0x22, 0x7D]
    door.serve(Array("HTTP/1.1 \(status) X\r\nContent-Length: 11\r\n\r\n".utf8) + body)

    let response = await door.ask().response

    #expect(response?.status == status)
    #expect(response?.body == body)
    #expect(JSON(parsing: response?.body ?? []) == nil)
  }

  @Test func `takes the answer of an app that closes before it has read the request`() async throws {
    let door = try await Door()
    door.bench.fleet.phones[0].ports.listen(Self.port) { socket in
      try? socket.write(Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".utf8), by: .patient)
      socket.endSending()
      _ = Latch().wait(until: .after(.milliseconds(100)))
    }

    let answer = await door.ask("POST", "/x", body: [UInt8](repeating: 1, count: 4 << 20))

    #expect(answer.response?.status == 401)
  }

  @Test(arguments: [
    ("GET", "/a b", "X", "1"), ("GET", "/a\r\nX: 1", "X", "1"), ("GET", "a", "X", "1"), ("GET", "/ä", "X", "1"),
    ("GE T", "/", "X", "1"), ("", "/", "X", "1"), ("GET", "/", "X", "1\r\nY: 2"), ("GET", "/", "X Y", "1"),
    ("GET", "/", "", "1"), ("GET", "/", "Content-Length", "1"), ("GET", "/", "X", "\u{0}"),
  ])
  func `is not sent when it would become another request`(
    _ method: String, _ target: String, _ name: String, _ value: String
  ) async throws {
    let door = try await Door()
    door.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    let answer = await door.ask(method, target, headers: [(name, value)])

    if case .unreachable(.badRequest) = answer.ending {} else { Issue.record("\(answer.ending)") }
    #expect(door.requests.with { $0 }.isEmpty)
  }

  @Test func `does not show a token that cannot be sent`() {
    let request = DoorRequest(port: 1, method: "GET", target: "/", token: "s3cret\n", deadline: .patient)

    #expect(request.problem?.contains("token") == true)
    #expect(request.problem?.contains("s3cret") == false)
  }

  @Test func `runs beside others, also beside a hung lane`() async throws {
    let door = try await Door()
    try door.bench.do("lockdown-fault", ["kind": "hang", "request": "QueryType"])
    door.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let hung = Task { await door.lane.facts(by: .after(.seconds(20))) }

    let statuses = await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await door.ask().response?.status } }
      return await group.reduce(into: [Int?]()) { $0.append($1) }
    }

    #expect(statuses == [Int?](repeating: 200, count: 8))
    hung.cancel()
    _ = await hung.value
  }

  @Test func `ends when its task is cancelled or its lane closed`() async throws {
    let door = try await Door()
    door.serve("", open: true)
    let first = Task { await door.ask() }
    #expect(await eventually { door.requests.with { $0.count } == 1 })
    first.cancel()
    let cancelled = await first.value
    let second = Task { await door.ask() }
    #expect(await eventually { door.requests.with { $0.count } == 2 })

    door.lane.close()
    let closed = await second.value

    for answer in [cancelled, closed] {
      if case .unreachable(.ended) = answer.ending {} else { Issue.record("\(answer.ending)") }
    }
  }

  @Test func `H16: of an absent phone is no refusal of the app's`() async throws {
    let door = try await Door()
    try door.bench.do("detach")

    let answer = await door.ask()

    if case .unreachable(.absent) = answer.ending {} else { Issue.record("\(answer.ending)") }
  }

  @Test func `never goes to another phone that has got the number`() async throws {
    let mine = "00008101-000A1B2C3D4E001E"
    let other = "00008101-000A1B2C3D4E0020"
    let listed = Guarded(mine)
    let connects = Guarded(0)
    let mux = try FakeMux { socket in
      while let request = FakeMux.request(on: socket) {
        if request["MessageType"]?.string == "Connect" { connects.with { $0 += 1 } }
        FakeMux.send(["DeviceList": [FakeMux.entry(1, listed.with { $0 })]], on: socket)
      }
    }
    let phone = ListedPhone(udid: UDID(mine), serial: mine, deviceID: 1, transport: .usb, alsoNetwork: false)
    let lane = PhoneLane(phone, mux: mux.address)
    listed.with { $0 = other }

    let answer = await lane.request(DoorRequest(port: 1, method: "GET", target: "/", deadline: .patient))

    if case .unreachable(.absent(UDID(mine))) = answer.ending {} else { Issue.record("\(answer.ending)") }
    #expect(connects.with { $0 } == 0)
  }
}

extension DoorAnswer {
  fileprivate var badReply: String? { if case .badReply(let detail) = ending { detail } else { nil } }
  fileprivate var silence: String? { if case .silent(_, let detail) = ending { detail } else { nil } }
}
