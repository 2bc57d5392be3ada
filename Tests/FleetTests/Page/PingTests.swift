import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a ping after completed rounds` {
  private static func round(_ number: Int) -> RoundPresent {
    RoundPresent(number: number, at: StageView.now, took: .seconds(1))
  }

  private final class Asked: Sendable {
    let paths = Guarded<[String]>([])
    let status = Guarded(200)

    func server() throws -> PageServer {
      try PageServer(try Listener(.tcp(host: "127.0.0.1", port: 0))) { [self] request in
        paths.with { $0.append(request.path.joined(separator: "/")) }
        return .now(.json([:], status: status.with { $0 }))
      }
    }
  }

  @Test func `comes once for a round, and not before the time between two is over`() async throws {
    let asked = Asked()
    let server = try asked.server()
    defer { server.stop() }
    let pinger = Pinger(url: "http://\(server.address)/ping/abc", every: .seconds(3_600), environment: [:]) { _ in }

    pinger.look(nil)
    pinger.look(Self.round(1))
    #expect(await eventually { pinger.figures.sent == 1 })
    pinger.look(Self.round(1))
    let isAgain = pinger.isOpen
    pinger.look(Self.round(2))

    #expect(!isAgain && !pinger.isOpen)
    #expect(asked.paths.with { $0 } == ["ping/abc"])
    #expect(pinger.figures == (1, 0))
  }

  @Test func `that fails is told once, and again when it is answered, without its address`() async throws {
    let asked = Asked()
    let server = try asked.server()
    defer { server.stop() }
    let said = Guarded<[String]>([])
    let pinger = Pinger(url: "http://\(server.address)/secret", every: .zero, environment: [:]) { line in
      said.with { $0.append(line) }
    }

    for (number, status) in [(1, 500), (2, 500), (3, 200)] {
      asked.status.with { $0 = status }
      pinger.look(Self.round(number))
      #expect(await eventually { pinger.figures.sent == number })
    }

    #expect(
      await eventually { said.with { $0.count } == 2 },
      "the last line may come a moment after the count")
    #expect(
      said.with { $0 } == [
        "The ping after a round fails: it is answered with 500.", "The ping after a round is answered again.",
      ])
  }

  @Test func `holds nobody up where its address does not answer`() async throws {
    let silent = try Listener(.tcp(host: "127.0.0.1", port: 0))
    let pinger = Pinger(url: "http://\(silent.address)/", every: .zero, environment: [:]) { _ in }
    let began = ContinuousClock.now

    pinger.look(Self.round(1))
    pinger.look(Self.round(2))

    #expect(ContinuousClock.now - began < .seconds(1))
    #expect(pinger.figures.sent == 0)
  }

  @Test func `goes by curl where names are looked up or TLS is spoken`() async throws {
    let asked = Asked()
    let server = try asked.server()
    defer { server.stop() }
    // A user and a password make it curl's, at an address that answers here.
    let pinger = Pinger(
      url: "http://u:p@\(server.address)/by-curl", every: .zero, environment: ["PATH": "/usr/bin:/bin"]
    ) { _ in }

    pinger.look(Self.round(1))

    #expect(await eventually { pinger.figures.sent == 1 })
    #expect(pinger.figures.failed == 0 && asked.paths.with { $0 } == ["by-curl"])
  }

  @Test(arguments: [
    (
      "http://127.0.0.1:9000/x?y=z#f",
      PingTarget.own(.tcp(host: "127.0.0.1", port: 9_000), host: "127.0.0.1:9000", target: "/x?y=z")
    ),
    ("http://localhost", .own(.tcp(host: "localhost", port: 80), host: "localhost", target: "/")),
    ("http://[::1]?a", .own(.tcp(host: "::1", port: 80), host: "[::1]", target: "/?a")),
    ("https://127.0.0.1/", .curl(url: "https://127.0.0.1/")),
    ("http://hc.example/uuid", .curl(url: "http://hc.example/uuid")),
    ("http://u:p@127.0.0.1/", .curl(url: "http://u:p@127.0.0.1/")),
    ("http://127.0.0.1/a b", .curl(url: "http://127.0.0.1/a b")),
  ])
  func `is our own where it can be`(_ url: String, _ target: PingTarget) {
    #expect(PingTarget(url) == target)
  }
}
