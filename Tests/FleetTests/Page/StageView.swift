import DeviceBridge
import Transport
import Wire

@testable import Fleet

/// A supervisor's view that a test sets up as it likes.
final class StageView: SupervisorView {
  struct Stage: Sendable {
    var bodies: [BodyPresent] = []
    var host = HostPresent(words: OutcomeWords(.up))
    var round: RoundPresent?
    var rows: [OutcomeReport] = []
    var trouble: RecordTrouble?
    var status: DoorAnswer?
    var asked: [UDID] = []
    var listeners: [AsyncStream<Void>.Continuation] = []
  }
  let stage: Guarded<Stage>

  init(_ stage: Stage = Stage()) { self.stage = Guarded(stage) }

  func change(_ body: @Sendable (inout Stage) -> Void) {
    let listeners = stage.with { stage in
      body(&stage)
      return stage.listeners
    }
    for listener in listeners { listener.yield() }
  }

  func bodies() -> [BodyPresent] { stage.with { $0.bodies } }
  func host() -> HostPresent { stage.with { $0.host } }
  func lastRound() -> RoundPresent? { stage.with { $0.round } }

  func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport] {
    if let trouble = stage.with({ $0.trouble }) { throw trouble }
    return stage.with { stage in Array(stage.rows.drop { ($0.seq ?? 0) <= seq }.prefix(limit)) }
  }

  func changes() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      stage.with { $0.listeners.append(continuation) }
    }
  }

  func doorStatus(of udid: UDID, within limit: Duration) async -> DoorAnswer? {
    stage.with { stage in
      stage.asked.append(udid)
      return stage.status
    }
  }
}

extension StageView {
  static let now = WallClock.moment("2026-12-20T08:30:00Z") ?? .zero

  static func udid(_ number: Int) -> UDID { UDID("00008110-\(String(format: number))") }

  static func body(
    _ number: Int, _ name: String?, _ words: OutcomeWords?, _ more: (inout BodyPresent) -> Void = { _ in }
  )
    -> BodyPresent
  {
    var body = BodyPresent(body: name, udid: udid(number), awaited: "nothing")
    body.words = words
    body.since = now - .seconds(3_600)
    body.lastAnswer = now - .seconds(4)
    body.lock = .unlocked
    more(&body)
    return body
  }

  static func row(_ seq: Int, _ name: String? = "hall", _ words: OutcomeWords = OutcomeWords(.up)) -> OutcomeReport {
    OutcomeReport(
      seq: seq, at: now - .seconds(10_000 - seq), body: name, udid: udid(1), words: words,
      was: OutcomeWords(.locked, .passcode))
  }

  static func status(_ code: Int, _ json: JSON) -> DoorAnswer {
    var message = HTTPMessage()
    message.status = code
    message.body = Array(json.line.utf8)
    return DoorAnswer(ending: .response(message), took: .milliseconds(3))
  }
}

extension String {
  /// Sixteen digits.
  fileprivate init(format number: Int) {
    let digits = "\(number)"
    self = String(repeating: "0", count: 16 - digits.count) + digits
  }
}
