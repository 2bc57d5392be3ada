import DeviceBridge
import Wire

/// What the page answers at each of its addresses.
struct PageRoutes: Sendable {
  let hub: LiveHub
  private let view: any SupervisorView
  private let settings: SupervisorPage.Settings
  private let pinger: Pinger?

  /// For what asks the record's disk.
  private static let rowsLimit = Duration.seconds(10)
  /// For a door's status; docs/door.md's clock of the caller.
  private static let statusLimit = Duration.seconds(10)
  private static let mostRows = 1_000

  init(view: any SupervisorView, settings: SupervisorPage.Settings, pinger: Pinger?) {
    self.view = view
    self.settings = settings
    self.pinger = pinger
    hub = LiveHub(view, era: Self.random(), now: settings.now)
  }

  /// - Parameters:
  ///   - pages: how many live pages are open.
  ///   - wake: has them told what is new.
  func reply(to request: PageRequest, pages: () -> Int, wake: @escaping @Sendable () -> Void) -> PageReply {
    guard request.method == "GET" || request.method == "HEAD" else {
      return .now(.refusal(405, PageSentence.readOnly, headers: ["Allow": "GET, HEAD"]))
    }
    switch request.path {
    case []: return .later(within: Self.rowsLimit) { await page() }
    case ["events"]: return events(request, wake)
    case ["healthz"]: return .now(health(view.lastRound()))
    case ["metrics"]: return .now(metrics(pages: pages()))
    case ["api", "bodies"]: return .now(.json(.array(view.bodies().map(\.json))))
    case ["api", "outcomes"]: return outcomes(request)
    case let path where path.count == 4 && path[0] == "api" && path[1] == "bodies" && path[3] == "ready":
      return ready(path[2], request)
    default: return .now(.refusal(404, PageSentence.notFound))
    }
  }

  // MARK: - For people

  private func page() async -> PageResponse {
    var trouble: String?
    do throws(RecordTrouble) { try await hub.refresh() } catch { trouble = error.sentence }
    let nonce = Self.random()
    // The mark first: what changes from here on is told again, which is better than never.
    let mark = hub.mark
    let document = PageDocument(
      bodies: view.bodies(), host: view.host(), round: view.lastRound(), rows: hub.rows, rowsTrouble: trouble,
      mark: mark, time: PageTime(now: settings.now()), version: settings.version)
    return PageResponse(
      200, type: "text/html; charset=utf-8", headers: ["Content-Security-Policy": PageDocument.policy(nonce: nonce)],
      document.html(nonce: nonce))
  }

  private func events(_ request: PageRequest, _ wake: @escaping @Sendable () -> Void) -> PageReply {
    let hub = hub
    // Nothing was drawn while nobody looked.
    Task {
      try? await hub.refresh()
      wake()
    }
    return .events(hub.source(from: LiveMark(request, hub.mark)))
  }

  // MARK: - For programs

  private func health(_ round: RoundPresent?) -> PageResponse {
    PageHealth(every: settings.every, answerWithin: settings.answerWithin).answer(round, at: settings.now())
  }

  private func metrics(pages: Int) -> PageResponse {
    let round = view.lastRound()
    let metrics = FleetMetrics(
      bodies: view.bodies(), host: view.host(), round: round, roundsAreWell: health(round).status == 200,
      pages: pages, pings: pinger?.figures,
      process: .now(), version: settings.version)
    return PageResponse(200, type: FleetMetrics.type, metrics.text)
  }

  private func outcomes(_ request: PageRequest) -> PageReply {
    guard let after = Self.number(request.query["after"], else: 0), after >= 0,
      let limit = Self.number(request.query["limit"], else: 100), (1...Self.mostRows).contains(limit)
    else { return .now(.refusal(400, PageSentence.badRows)) }
    let view = view
    return .later(within: Self.rowsLimit) {
      do throws(RecordTrouble) {
        return .json(.array(try await view.rows(after: after, limit: limit).map(\.json)))
      } catch {
        return .refusal(503, error.sentence)
      }
    }
  }

  private func ready(_ name: String, _ request: PageRequest) -> PageReply {
    guard let kind = request.query["for"].flatMap(CaptureWish.Kind.init), let camera = request.query["camera"],
      !camera.isEmpty
    else { return .now(.refusal(400, PageSentence.badWish)) }
    let bodies = view.bodies()
    guard let body = bodies.first(where: { $0.body == name }) ?? bodies.first(where: { $0.udid == UDID(name) }) else {
      return .now(.refusal(404, PageSentence.noBody(name)))
    }
    let wish = CaptureWish(kind: kind, camera: camera)
    if let answer = wish.refusal(by: body) { return .now(.json(answer.json, status: answer.status)) }
    let view = view
    return .later(within: Self.statusLimit + .seconds(1)) {
      let status = await view.doorStatus(of: body.udid, within: Self.statusLimit)
      let answer = wish.answer(by: body, status)
      return .json(answer.json, status: answer.status)
    }
  }

  private static func number(_ text: String?, else missing: Int) -> Int? { text.map { Int($0) } ?? missing }

  /// 32 hexadecimal digits that nobody can guess.
  private static func random() -> String {
    var source = SystemRandomNumberGenerator()
    return Hex.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &source) }, uppercase: false)
  }
}
