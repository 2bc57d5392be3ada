import DeviceBridge
import Testing
import Wire

@testable import Fleet

/// Random events, asked for and not, at random times; what must never be is looked for after each.
private struct Chaos {
  var random: SeededRandom
  var procedure: ReviveProcedure
  var now = HostMoment(awake: .seconds(50), elapsed: .seconds(90))
  var log: [String] = []

  // What an onlooker knows, kept apart from the procedure's own books.
  var lastLock: (state: LockState, askedAt: Duration)?
  var handsSeen = false
  var handsFree = false
  var isHeldByUs: Bool
  var hasStamp = false
  var launches = 0
  var acceptedAt: Duration?
  var broken: [String] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    var rules = ReviveRules()
    let permits: [ReviveRules.Permit] = [.granted, .granted, .granted, .granted, .paused, .withheld, .others]
    rules.permit = permits.randomElement(using: &random) ?? .granted
    rules.asksHands = Int.random(in: 0..<8, using: &random) > 0
    rules.holdsPhone = Int.random(in: 0..<8, using: &random) == 0
    isHeldByUs = rules.holdsPhone
    procedure = ReviveProcedure(rules)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// - Returns: the ending, once it has come.
  mutating func run() -> ReviveEnding? {
    take(procedure.begin(at: now))
    for step in 0..<600 where procedure.ending == nil {
      pass()
      // At first much comes unasked; later only what was asked for, so that it has to end.
      if step < 60, chance(30) {
        let event = anything()
        // What was not asked for is not to be taken for an answer to what was.
        if event.answers(procedure.pending) { continue }
        happen(event)
      } else if let pending = procedure.pending {
        happen(answer(to: pending))
      }
    }
    return procedure.ending
  }

  private mutating func pass() {
    let span = Duration.milliseconds(chance(15) ? Int.random(in: 0...4_000, using: &random) : 30)
    now.awake += span
    now.elapsed += span
    if chance(2) { now.elapsed += .seconds(600) }
  }

  private mutating func happen(_ event: ReviveEvent) {
    let asked = event.answers(procedure.pending)
    watch(event, asked)
    take(procedure.handle(event, at: now))
    log.append("\(event)")
    guard case .judged(let judgement) = procedure.ending, judgement.words.kind == .revived else { return }
    if case .door(.answered) = event {} else { broken.append("revived without an answer") }
    if let acceptedAt {
      if now.awake - acceptedAt > procedure.rules.answerWithin { broken.append("revived after its time") }
    } else {
      broken.append("revived without a launch")
    }
  }

  private var lockAskedAt: Duration?

  private mutating func watch(_ event: ReviveEvent, _ asked: Bool) {
    switch event {
    case .lock(let reading):
      if asked, let lockAskedAt { lastLock = (reading.state, lockAskedAt) }
      if !asked, reading.state != .unlocked { lastLock = (reading.state, now.elapsed) }
    case .hands(.running): handsSeen = true
    case .hands(.absent):
      if asked { (handsFree, handsSeen) = (true, false) }
    case .hands(.unknown), .hands(.unreachable): handsFree = false
    case .lease(.taken): if asked { isHeldByUs = true }
    case .stamp(nil): if asked { hasStamp = true }
    case .launch(let error):
      guard asked else { return }
      switch error {
      case nil, .silent, .lost, .badReply, .lockdown, .refused: acceptedAt = now.awake
      default: break
      }
    case .door, .lease, .session, .stamp, .rested: break
    }
  }

  private mutating func take(_ command: ReviveCommand?) {
    guard let command else { return }
    if command == .readLock { lockAskedAt = now.elapsed }
    guard case .launch = command else { return }
    launches += 1
    if launches > 2 { broken.append("a third request") }
    if procedure.rules.permit != .granted { broken.append("a launch that was not permitted") }
    if !isHeldByUs { broken.append("a launch of a phone that is not held") }
    if !hasStamp { broken.append("a launch without a stamp") }
    if procedure.rules.asksHands, !handsFree { broken.append("a launch without a look for hands") }
    if handsSeen { broken.append("a launch under hands") }
    guard let lastLock, lastLock.state == .unlocked else {
      broken.append("a launch without an unlocked phone")
      return
    }
    if now.elapsed - lastLock.askedAt > .seconds(2) { broken.append("a launch on an old reading") }
  }

  // MARK: Events

  private mutating func anything() -> ReviveEvent {
    let commands: [ReviveCommand] = [
      .probe(within: .seconds(10)), .takeLease, .openSession, .askHands, .readLock, .storeStamp, .launch(fresh: false),
      .rest(.seconds(1)),
    ]
    return answer(to: commands.randomElement(using: &random) ?? .readLock)
  }

  private mutating func error() -> PhoneError {
    let udid = FakeBody.udid
    let errors: [PhoneError] = [
      .noMux(.system), .absent(udid), .untrusted(udid, .stale), .silent(udid, step: "", limit: .seconds(1)),
      .lost(udid, step: ""), .tls(udid, detail: ""), .refused(udid, port: 1), .ended(udid),
      .lockdown(udid, step: "", token: "T", code: 1), .host(code: 24, step: ""),
    ]
    let refusals = LaunchRefusal.allCases.map { PhoneError.launchRefused(udid, $0, detail: "") }
    return (errors + refusals).randomElement(using: &random) ?? .ended(udid)
  }

  private mutating func answer(to command: ReviveCommand) -> ReviveEvent {
    switch command {
    case .probe:
      if chance(7) { return .door(.answered(detail: "it answered 200")) }
      if chance(3) { return .door(.unreachable(error())) }
      return .door(.silent(DoorSilence.allCases.randomElement(using: &random) ?? .refused, detail: "d"))
    case .takeLease:
      if chance(5) { return .lease(.held(by: Holder(pid: 1))) }
      if chance(3) { return .lease(.trouble(.lock(path: "/x", code: 13))) }
      return .lease(.taken(waited: chance(10)))
    case .openSession: return .session(chance(10) ? error() : nil)
    case .askHands:
      if chance(4) { return .hands(.running) }
      if chance(3) { return .hands(.unknown(detail: "d")) }
      return .hands(chance(3) ? .unreachable(error()) : .absent)
    case .readLock:
      let state: LockState = chance(5) ? .locked : chance(4) ? .unknown : .unlocked
      return .lock(LockReading(state: state, why: "w"))
    case .storeStamp: return .stamp(chance(5) ? .noStateFolder : nil)
    case .launch: return .launch(chance(40) ? error() : nil)
    case .rest: return .rested
    }
  }
}

@Suite struct `any order of events` {
  @Test func `launches no locked, handled or held phone, none without a stamp, and none twice`() {
    var kinds: [String: Int] = [:]
    var launches = 0
    for seed in UInt64(1)...4_000 {
      var chaos = Chaos(seed: seed)
      let ending = chaos.run()

      #expect(chaos.broken.isEmpty, "seed \(seed): \(chaos.broken) after \(chaos.log)")
      #expect(ending != nil, "seed \(seed) has no end")
      launches += chaos.launches
      kinds[ending?.judgement?.words.kind.rawValue ?? "broken", default: 0] += 1
    }

    // The search has been where it matters.
    #expect(launches > 400)
    #expect((kinds["revived"] ?? 0) > 50)
    #expect((kinds["launched-no-answer"] ?? 0) > 50)
  }
}
