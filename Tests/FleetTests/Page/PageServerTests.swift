import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `the page's server` {
  /// One that tells what it was asked.
  private func echo(_ limits: PageServer.Limits = PageServer.Limits()) throws -> PageServer {
    try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0)), limits: limits) { request in
      .now(.json(["path": .array(request.path.map(JSON.string)), "host": .text(request.host)]))
    }
  }

  @Test func `reads a request's path, query and fields`() async throws {
    let server = try echo()
    defer { server.stop() }

    let answer = try await PageClient.get("/api/bodies/h%C3%A4ll%2F1/ready?for=photo", server.address)

    #expect(answer.status == 200)
    #expect(answer.json?["path"] == ["api", "bodies", "häll/1", "ready"])
    #expect(answer.json?["host"] == "localhost")
    #expect(answer.header("Cache-Control") == "no-store" && answer.header("X-Frame-Options") == "DENY")
  }

  @Test(arguments: [
    "GET /%zz HTTP/1.1", "GET /%00 HTTP/1.1", "GET /a%0Ab HTTP/1.1", "GET /%ff%fe HTTP/1.1", "GET * HTTP/1.1",
    "GET http://x/ HTTP/1.1", "GET /?a=%1 HTTP/1.1", "GET /%1 HTTP/1.1", "GET noslash HTTP/1.1",
  ])
  func `refuses an address that is none`(_ line: String) async throws {
    let server = try echo()
    defer { server.stop() }

    let answer = try await PageClient.say("\(line)\r\nHost: localhost\r\nConnection: close\r\n\r\n", to: server.address)

    #expect(answer.status == 400)
    #expect(answer.json?["error"]?.string?.hasPrefix("This is no address of the page") == true)
  }

  @Test func `survives what is not HTTP, and answers the next client`() async throws {
    let server = try echo()
    defer { server.stop() }
    let long = String(repeating: "x", count: 200_000)
    let odd = [
      "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", "GET / HTTP/1.1\r\n: :\r\n\r\n", "\r\n\r\n\r\n", "é è\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n", "\(long)",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
      String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 50),
    ]

    for text in odd {
      let answer = try? await PageClient.say(text, to: server.address, within: .milliseconds(300))
      #expect(answer.map { $0.status == 200 || $0.status >= 400 } ?? true, "\(text.prefix(40)): \(answer?.status ?? 0)")
    }

    #expect(try await PageClient.get("/", server.address).status == 200)
    #expect(await eventually { server.waiting == 0 }, "of what was not answered, nothing is kept")
  }

  @Test func `takes a body that nobody asked for, and cuts off one that does not end`() async throws {
    let server = try echo()
    defer { server.stop() }
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"

    let small = try await PageClient.say("\(head)Content-Length: 4\r\n\r\nabcd", to: server.address)
    let began = ContinuousClock.now
    let large = try? await PageClient.say(
      "\(head)Content-Length: 99000000\r\n\r\n" + String(repeating: "x", count: 300_000), to: server.address)

    #expect(small.status == 200)
    // It is not waited for until it stops sending.
    #expect(large == nil && ContinuousClock.now - began < .seconds(9))
  }

  @Test func `answers more clients than it has places, one after the other`() async throws {
    var limits = PageServer.Limits()
    limits.connections = 4
    let server = try echo(limits)
    defer { server.stop() }
    let address = server.address

    // They hold all places, and say nothing.
    let idle = try await PageClient.blocking {
      try (0..<4).map { _ in try Socket.connect(to: address, by: .after(.seconds(5))) }
    }
    #expect(await eventually { server.connections.count == 4 })
    async let late = PageClient.get("/", address)
    idle[0].close()

    #expect(try await late.status == 200)
    for socket in idle { socket.close() }
  }

  @Test func `cuts a client off whose time is over, however it trickles`() async throws {
    var limits = PageServer.Limits()
    limits.spans.request = .milliseconds(20)
    let server = try echo(limits)
    defer { server.stop() }
    let address = server.address
    let socket = try await PageClient.blocking { try Socket.connect(to: address, by: .after(.seconds(5))) }
    defer { socket.close() }
    try socket.write(Array("GET / HTTP/1.1\r\nHost: local".utf8), by: .after(.seconds(5)))
    #expect(await eventually { server.connections.count == 1 })

    #expect(
      await eventually {
        server.cutLate()
        return server.connections.count == 0
      })

    let rest = try await PageClient.blocking { try socket.read(max: 100, by: .after(.seconds(20))) }
    #expect(rest.isEmpty)
  }

  @Test func `lets a slow answer hold nobody else up, and says when it took too long`() async throws {
    let gate = OneShot<Void>()
    let server = try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0))) { request in
      switch request.path {
      case ["slow"]:
        .later(within: .seconds(20)) {
          await gate.value()
          return .json(["slow": true])
        }
      case ["stuck"]:
        .later(within: .milliseconds(20)) {
          try? await ContinuousClock().sleep(for: .seconds(60))
          return .json([:])
        }
      default: .now(.json([:]))
      }
    }
    defer { server.stop() }
    let address = server.address
    async let slow = PageClient.get("/slow", address)

    let stuck = try await PageClient.get("/stuck", address)
    let other = try await PageClient.get("/", address)
    gate.give(())

    #expect(stuck.status == 503 && stuck.json?["error"]?.string?.hasPrefix("The answer took too long") == true)
    #expect(other.status == 200)
    #expect(try await slow.json == ["slow": true])
  }

  @Test func `stops while clients wait for answers and for events`() async throws {
    let quiet = Quiet()
    let server = try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0))) { request in
      request.path == ["events"]
        ? .events(quiet)
        : .later(within: .seconds(60)) {
          try? await ContinuousClock().sleep(for: .seconds(60))
          return .json([:])
        }
    }
    let address = server.address
    async let waiting = PageClient.get("/wait", address)
    async let events = PageClient.get("/events", address)
    #expect(await eventually { server.streamCount == 1 && server.waiting == 2 })

    server.stop()

    #expect(try await waiting.status == 503)
    #expect(try await events.status == 200)
  }

  private struct Quiet: EventSource {
    func next() -> [UInt8] { [] }
  }

  /// Tells a word each time it is woken.
  private final class Words: EventSource {
    let words = Guarded<[String]>([])
    func next() -> [UInt8] {
      words.with { words in
        defer { words = [] }
        return words.flatMap { Array("data: \($0)\n\n".utf8) }
      }
    }
  }

  @Test func `tells a client of events what comes, and lets go of one that has left`() async throws {
    let words = Words()
    let server = try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0))) { _ in .events(words) }
    defer { server.stop() }
    let address = server.address
    let socket = try await PageClient.blocking {
      let socket = try Socket.connect(to: address, by: .after(.seconds(5)))
      try socket.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), by: .after(.seconds(5)))
      return socket
    }
    #expect(await eventually { server.streamCount == 1 })
    words.words.with { $0 = ["one"] }
    server.wakeStreams()
    let said = try await PageClient.blocking {
      var text = ""
      while !text.contains("data: one") {
        text += String(decoding: try socket.read(max: 1_000, by: .after(.seconds(20))), as: UTF8.self)
      }
      return text
    }

    socket.close()

    #expect(said.contains("text/event-stream"))
    #expect(
      await eventually {
        server.beatStreams()
        return server.streamCount == 0
      })
  }

  @Test func `serves no more live pages than it may`() async throws {
    var limits = PageServer.Limits()
    limits.streams = 2
    let server = try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0)), limits: limits) { _ in
      .events(Quiet())
    }
    defer { server.stop() }
    let address = server.address
    let open = try await PageClient.blocking {
      try (0..<2).map { _ in
        let socket = try Socket.connect(to: address, by: .after(.seconds(5)))
        try socket.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), by: .after(.seconds(5)))
        return socket
      }
    }
    defer { for socket in open { socket.close() } }
    #expect(await eventually { server.streamCount == 2 })

    let third = try await PageClient.get("/", address)

    #expect(third.status == 503 && third.header("Retry-After") == "30")
    #expect(third.json?["error"]?.string?.hasPrefix("As many live pages are open") == true)
  }
}
