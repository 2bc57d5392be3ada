import DeviceBridge
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `an open page` {
  /// What a browser would be told, as pairs of event and data, read until a condition holds.
  private final class Reader: Sendable {
    private let socket: Socket
    private let text = Guarded("")

    init(_ address: SocketAddress, _ query: String, _ fields: String = "") async throws {
      socket = try await PageClient.blocking {
        let socket = try Socket.connect(to: address, by: .after(.seconds(5)))
        let head = "GET /events?\(query) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
        try socket.write(Array(head.utf8), by: .after(.seconds(5)))
        return socket
      }
    }

    deinit { socket.close() }

    func until(_ part: String) async throws -> String {
      let (socket, text) = (socket, text)
      return try await PageClient.blocking {
        while !text.with({ $0.contains(part) }) {
          let bytes = try socket.read(max: 1 << 16, by: .after(.seconds(20)))
          if bytes.isEmpty { throw Trouble("ended before \(part)") }
          text.with { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        return text.with { $0 }
      }
    }
  }

  private func stage() -> StageView.Stage {
    var stage = StageView.Stage()
    stage.bodies = [StageView.body(1, "hall", OutcomeWords(.up)), StageView.body(2, "stairs", OutcomeWords(.up))]
    stage.rows = (1...3).map { StageView.row($0) }
    return stage
  }

  private func mark(of served: ServedPage) async throws -> String {
    let text = try await served.get("/").text
    let mark = try #require(text.firstMatch(of: /data-mark="([^"]+)"/)).1
    return String(mark).replacing("&amp;", with: "&")
  }

  @Test func `is told what changes, and nothing that it shows already`() async throws {
    let served = try ServedPage(stage())
    let reader = try await Reader(served.address, try await mark(of: served))

    served.view.change { stage in
      stage.bodies[1].words = OutcomeWords(.silent, .refused)
      stage.rows.append(StageView.row(4, "stairs", OutcomeWords(.silent, .refused)))
    }
    // Cards and rows are read one after the other, so either may come first.
    _ = try await reader.until("event: card")
    let said = try await reader.until("id: 4\n")

    #expect(said.contains("nothing listens on the door"))
    #expect(said.components(of: "event: card") == 1 && said.components(of: "event: row") == 1)
    #expect(!said.contains("<h3>hall"))
  }

  @Test func `is told of a new answer in a few bytes`() async throws {
    let served = try ServedPage(stage())
    let reader = try await Reader(served.address, try await mark(of: served))

    served.view.change { $0.bodies[0].lastAnswer = StageView.now }
    let said = try await reader.until("event: answers")

    #expect(said.contains("\"body-\(StageView.udid(1))\":\"2026-12-20T08:30:00.000Z\""))
    #expect(!said.contains("event: card"))
  }

  @Test func `is told which bodies are left`() async throws {
    let served = try ServedPage(stage())
    let reader = try await Reader(served.address, try await mark(of: served))

    served.view.change { $0.bodies.removeFirst() }
    let said = try await reader.until("event: bodies")

    #expect(said.contains("data: [\"body-\(StageView.udid(2))\"]"))
  }

  @Test func `gets the rows that it missed while its line was broken`() async throws {
    let served = try ServedPage(stage())
    let mark = try await mark(of: served)
    served.view.change { $0.rows += (4...6).map { StageView.row($0) } }

    let said = try await Reader(served.address, mark, "Last-Event-ID: 4\r\n").until("id: 6")

    #expect(said.components(of: "event: row") == 2)
  }

  @Test func `of a supervisor that has ended is told everything anew`() async throws {
    let served = try ServedPage(stage())

    let said = try await Reader(served.address, "era=another&state=900&row=2").until("id: 3")

    #expect(said.components(of: "event: card") == 2 && said.components(of: "event: row") == 1)
  }

  @Test func `goes on with a record that was begun anew`() async throws {
    var old = stage()
    old.rows = (1...40).map { StageView.row($0) }
    let served = try ServedPage(old)
    let reader = try await Reader(served.address, try await mark(of: served))

    served.view.change { $0.rows = [StageView.row(1, "anew")] }
    let said = try await reader.until("id: 1\n")

    #expect(said.contains("<b>anew</b>"))
  }

  @Test func `shows the newest rows of ten thousand, and the rest is there for programs`() async throws {
    var stage = stage()
    stage.rows = (1...10_000).map { StageView.row($0) }
    let served = try ServedPage(stage)

    let text = try await served.get("/").text
    let rows = try await served.get("/api/outcomes?after=9000&limit=1000")

    served.view.change { stage in stage.rows += (10_001...10_060).map { StageView.row($0) } }
    let later = try await served.get("/").text

    #expect(text.components(of: "<li value=") == 50 && later.components(of: "<li value=") == 50)
    #expect(later.contains("<li value=\"10060\">"))
    #expect(text.contains("<li value=\"10000\">") && text.contains("<li value=\"9951\">"))
    #expect(rows.json?.array?.count == 1_000)
  }

  @Test func `shows safely what phones, runs and people call themselves`() async throws {
    let hostile = String(repeating: "<script>alert(1)</script>\u{0}\u{1B}]0;x\u{7}\u{202E}\u{2028}\"'&", count: 100)
    var stage = stage()
    stage.bodies = [
      StageView.body(1, "a<b>\"'&\u{202E}", OutcomeWords(.held, .person)) {
        $0.deviceName = hostile
        $0.detail = hostile
        $0.usbPort = hostile
        $0.awaited = hostile
        $0.silent = .seconds(1)
        $0.heldBy = Holder(pid: 1, user: hostile.oneLine(), purpose: .hold, reason: hostile.oneLine())
      },
      StageView.body(2, "out", OutcomeWords(.up)) { $0.outOfService = hostile },
    ]
    stage.host = HostPresent(words: OutcomeWords(.hostFault, .disk))
    stage.host.detail = hostile
    stage.rows = [StageView.row(1, hostile)]
    stage.rows[0].detail = hostile
    let served = try ServedPage(stage)

    let page = try await served.get("/").text
    let events = try await Reader(served.address, "").until("id: 1\n")
    let bodies = try await served.get("/api/bodies").text

    #expect(page.components(of: "<script") == 1 && !page.contains("<b>\"'"))
    #expect(page.contains("&lt;script&gt;alert(1)"))
    for (what, text) in [("page", page), ("events", events), ("bodies", bodies)] {
      #expect(!text.unicodeScalars.contains { $0.steers && $0 != "\n" && $0 != "\r" }, "\(what)")
      #expect(text.utf8.count < 60_000, "\(what)")
    }
    let told = events.split(separator: "\n").filter { $0.hasPrefix("data: ") }
    #expect(told.count >= 4 && told.allSatisfy { JSON(parsing: Array($0.dropFirst(6).utf8)) != nil })
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
