import DeviceBridge
import Testing
import Wire

@testable import Fleet

/// One row: a body, what is done to it, and what it must come to.
struct ReviveRow: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var words: OutcomeWords
  var launched: Bool
  var launchRequests: Int
  var rules: ReviveRules
  var body: FakeBody

  init(
    _ name: String, _ words: OutcomeWords, launched: Bool = false, requests: Int = 0,
    rules change: (inout ReviveRules) -> Void = { _ in }, _ shape: (inout FakeBody) -> Void
  ) {
    testDescription = name
    self.words = words
    self.launched = launched
    launchRequests = requests
    rules = ReviveRules()
    change(&rules)
    body = FakeBody()
    shape(&body)
  }
}

@Suite struct `a revival` {
  static let udid = FakeBody.udid
  static let mux = MuxAddress.system

  /// Numbers are those of the histories that supervision is held to, as far as one revival goes.
  static let rows: [ReviveRow] = [
    ReviveRow("the door answers: nothing is done", OutcomeWords(.up)) { $0.answersFrom = .zero },
    ReviveRow("1: the app has died and comes back", OutcomeWords(.revived), launched: true, requests: 1) {
      $0.answersAfterLaunch = .seconds(2)
    },
    ReviveRow("4: locked and silent", OutcomeWords(.locked, .passcode)) { $0.lockedFrom = .zero },
    ReviveRow("7: locked during the launch", OutcomeWords(.locked, .passcode), launched: true, requests: 1) {
      $0.locksAfterLaunch = true
    },
    ReviveRow("8: refused as Locked, lock value false", OutcomeWords(.locked, .passcode), launched: true, requests: 1) {
      $0.launches = [FakeBody.refused(.locked)]
    },
    ReviveRow("9: the door answers between lock read and launch", OutcomeWords(.up)) {
      $0.answersFrom = .milliseconds(150)
    },
    ReviveRow(
      "10: the door answers 11 s after the launch", OutcomeWords(.launchedNoAnswer, .refused), launched: true,
      requests: 1
    ) { $0.answersAfterLaunch = .seconds(11) },
    ReviveRow("10: the door answers 9.7 s after the launch", OutcomeWords(.revived), launched: true, requests: 1) {
      $0.answersAfterLaunch = .milliseconds(9_700)
    },
    ReviveRow("23: rebooted, not unlocked yet", OutcomeWords(.locked, .beforeFirstUnlock)) {
      $0.session = .untrusted(udid, .lockedBeforeFirstUnlock)
    },
    ReviveRow("24: lockdown hung, the door answers", OutcomeWords(.up)) {
      $0.answersFrom = .zero
      $0.session = .silent(udid, step: "", limit: .seconds(10))
    },
    ReviveRow("25: lockdown hung, the door silent", OutcomeWords(.unreachable, .lockdownNotAnswering)) {
      $0.session = .silent(udid, step: "", limit: .seconds(10))
    },
    ReviveRow("25: lockdown's port refused", OutcomeWords(.unreachable, .lockdownNotAnswering)) {
      $0.session = .refused(udid, port: 62_078)
    },
    ReviveRow("26: no daemon", OutcomeWords(.unreachable, .noUsbmuxd)) { $0.silence = .unreachable(.noMux(mux)) },
    ReviveRow(
      "27: the daemon goes in the answer window", OutcomeWords(.unreachable, .noUsbmuxd), launched: true, requests: 1
    ) { $0.silenceAfterLaunch = .unreachable(.noMux(mux)) },
    ReviveRow(
      "the phone leaves in the answer window", OutcomeWords(.unreachable, .detached), launched: true, requests: 1
    ) { $0.silenceAfterLaunch = .unreachable(.absent(udid)) },
    ReviveRow("28: untrusted, the door answers", OutcomeWords(.up)) {
      $0.answersFrom = .zero
      $0.session = .untrusted(udid, .stale)
    },
    ReviveRow("29: the trust dialog shows", OutcomeWords(.untrusted, .pending)) {
      $0.session = .untrusted(udid, .pending)
    },
    ReviveRow("30: only the network entry is left", OutcomeWords(.unreachable, .detached)) {
      $0.silence = .unreachable(.networkOnly(udid))
    },
    ReviveRow("32: the app is removed", OutcomeWords(.launchRefused, .notInstalled), requests: 1) {
      $0.launches = [FakeBody.refused(.notInstalled)]
    },
    ReviveRow("34: half answered", OutcomeWords(.launchedNoAnswer, .badReply), launched: true, requests: 1) {
      $0.silence = .silent(.badReply, detail: "63 of 64 bytes")
    },
    ReviveRow("accepted, never answered", OutcomeWords(.launchedNoAnswer, .noAnswer), launched: true, requests: 1) {
      $0.silence = .silent(.noAnswer, detail: "no byte")
    },
    ReviveRow("35: hands are there", OutcomeWords(.leftAlone, .hands)) { $0.hands = .running },
    ReviveRow("36: paused", OutcomeWords(.paused), rules: { $0.permit = .paused }) { _ in },
    ReviveRow("37: paused and locked", OutcomeWords(.locked, .passcode), rules: { $0.permit = .paused }) {
      $0.lockedFrom = .zero
    },
    ReviveRow("38: a run holds it", OutcomeWords(.held, .run)) { $0.lease = .held(by: Holder(pid: 1, purpose: .run)) },
    ReviveRow("a person holds it", OutcomeWords(.held, .person)) {
      $0.lease = .held(by: Holder(pid: 1, purpose: .hold))
    },
    ReviveRow("a run holds it, the door answers", OutcomeWords(.up)) {
      $0.answersFrom = .zero
      $0.lease = .held(by: Holder(pid: 1, purpose: .run))
    },
    ReviveRow("39: the run has let go and the app is back", OutcomeWords(.up)) {
      $0.answersFrom = .milliseconds(21)
      $0.lease = .taken(waited: true)
      $0.lockedFrom = .zero
    },
    ReviveRow("41: no developer image", OutcomeWords(.launchRefused, .noDeveloperImage), requests: 1) {
      $0.launches = [FakeBody.refused(.noDeveloperImage)]
    },
    ReviveRow("44: iOS 17.0 to 17.3", OutcomeWords(.launchRefused, .notOnThisIOS), requests: 1) {
      $0.launches = [FakeBody.refused(.notOnThisIOS)]
    },
    ReviveRow("45: the spacing is not over", OutcomeWords(.silent, .refused), rules: { $0.permit = .withheld }) { _ in
    },
    ReviveRow("49: others launch, and do in time", OutcomeWords(.up), rules: { $0.permit = .others }) {
      $0.answersFrom = .seconds(5)
    },
    ReviveRow("49: others launch, and do not", OutcomeWords(.silent, .refused), rules: { $0.permit = .others }) { _ in
    },
    ReviveRow("others launch, but it is locked", OutcomeWords(.locked, .passcode), rules: { $0.permit = .others }) {
      $0.lockedFrom = .seconds(3)
    },
    ReviveRow("the lock can't be read", OutcomeWords(.leftAlone, .lockUnknown)) { $0.lockIsUnknown = true },
    ReviveRow("the lock is read too slowly to be true", OutcomeWords(.leftAlone, .lockUnknown)) {
      $0.lockTakes = .milliseconds(2_100)
    },
    ReviveRow("the door hangs while it locks", OutcomeWords(.locked, .passcode)) {
      $0.silence = .silent(.noAnswer, detail: "no byte")
      $0.lockedFrom = .seconds(12)
    },
    ReviveRow("TLS fails", OutcomeWords(.hostFault, .tls)) { $0.session = .tls(udid, detail: "") },
    ReviveRow("no stamp, no launch", OutcomeWords(.hostFault, .disk)) { $0.stamp = .state(path: "/x", code: 28) },
    ReviveRow("the lock's folder can't be made", OutcomeWords(.hostFault, .permission)) {
      $0.lease = .trouble(.lock(path: "/run/lock/fleetctl", code: 13))
    },
    ReviveRow("the app ends at once", OutcomeWords(.launchedNoAnswer, .appExited), launched: true, requests: 1) {
      $0.launches = [FakeBody.refused(.appExited)]
    },
    ReviveRow("H32: the old one is in the way once", OutcomeWords(.revived), launched: true, requests: 2) {
      $0.launches = [FakeBody.refused(.failed), nil]
      $0.answersAfterLaunch = .zero
    },
    ReviveRow("it fails twice", OutcomeWords(.launchRefused, .failed), launched: true, requests: 2) {
      $0.launches = [FakeBody.refused(.failed)]
    },
    ReviveRow("H28: it fails after 30 s of silence", OutcomeWords(.launchRefused, .failed), launched: true, requests: 1)
    {
      $0.launches = [FakeBody.refused(.failed)]
      $0.launchTakes = .seconds(30)
    },
    ReviveRow("the cut launch was taken", OutcomeWords(.revived), launched: true, requests: 1) {
      $0.launches = [.lost(udid, step: "")]
      $0.answersFrom = .milliseconds(2_000)
    },
    ReviveRow("the cut launch was not taken", OutcomeWords(.launchRefused, .failed), launched: true, requests: 1) {
      $0.launches = [.lost(udid, step: "")]
    },
    ReviveRow("the phone leaves during the launch", OutcomeWords(.unreachable, .detached), launched: true, requests: 1)
    { $0.launches = [.absent(udid)] },
  ]

  @Test(arguments: rows) func `comes to one outcome`(_ row: ReviveRow) throws {
    var body = row.body

    let ending = body.revive(row.rules)

    guard case .judged(let judgement) = ending else {
      Issue.record("it ended as \(String(describing: ending))")
      return
    }
    #expect(judgement.words == row.words)
    #expect(judgement.launched == row.launched)
    #expect(body.launchRequests == row.launchRequests)
    #expect(!judgement.detail.isEmpty)
    let reasons = judgement.words.kind.reasons + judgement.words.kind.hostReasons
    if let reason = judgement.words.reason { #expect(reasons.contains(reason)) }
  }

  @Test func `46: leaves a body alone whose hands' port accepts and never answers, and calls that no outcome`() {
    var body = FakeBody()
    body.hands = .unknown(detail: "no byte within 5 s")

    let ending = body.revive()

    guard case .leftForNow(let judgement) = ending else {
      Issue.record("it ended as \(String(describing: ending))")
      return
    }
    #expect(judgement.words == OutcomeWords(.leftAlone, .hands))
    #expect(body.launchRequests == 0)
  }

  @Test func `asks no hands where the body has no port for them`() {
    var body = FakeBody()
    body.hands = .running
    body.answersAfterLaunch = .zero
    var rules = ReviveRules()
    rules.asksHands = false

    #expect(body.revive(rules)?.judgement?.words == OutcomeWords(.revived))
    #expect(!body.commands.contains(.askHands))
  }

  @Test func `takes no lock that its caller holds already`() {
    var body = FakeBody()
    body.answersAfterLaunch = .zero
    var rules = ReviveRules()
    rules.holdsPhone = true

    #expect(body.revive(rules)?.judgement?.words == OutcomeWords(.revived))
    #expect(!body.commands.contains(.takeLease))
  }

  @Test func `polls the door each second after a launch, and once more shortly before the end`() {
    var body = FakeBody()
    body.probeTakes = .zero

    _ = body.revive()

    // Two before the launch, ten in the window's ten seconds, and the last look.
    #expect(body.probes == 2 + 10 + 1)
  }

  @Test func `reads the lock again when the host slept after the reading`() {
    var body = FakeBody()
    body.hostSleeps = .seconds(600)
    body.answersAfterLaunch = .zero

    #expect(body.revive()?.judgement?.words == OutcomeWords(.revived))
    #expect(body.commands.count { $0 == .readLock } == 2)
  }

  @Test func `reads the lock again when the stamp took long`() {
    var body = FakeBody()
    body.stampTakes = .seconds(4)
    body.answersAfterLaunch = .zero

    #expect(body.revive()?.judgement?.words == OutcomeWords(.revived))
    #expect(Array(body.commands.filter { $0 != .askHands }.suffix(4).prefix(3)).contains(.readLock))
    #expect(body.commands.count { $0 == .storeStamp } == 1)
  }

  @Test func `counts silence from the first failed probe's beginning, and none where there was none`() {
    var silent = FakeBody()
    silent.silence = .silent(.noAnswer, detail: "no byte")
    silent.lockedFrom = .zero
    var up = FakeBody()
    up.answersFrom = .zero

    #expect(silent.revive()?.judgement?.silent == silent.awake)
    #expect(silent.awake > .seconds(10))
    #expect(up.revive()?.judgement?.silent == nil)
  }

  @Test func `says that refusal and lock value disagree`() throws {
    var body = FakeBody()
    body.launches = [FakeBody.refused(.locked)]

    let detail = try #require(body.revive()?.judgement?.detail)

    #expect(detail.contains("refused the launch as Locked"))
    #expect(detail.contains("reads as unlocked"))
  }

  @Test(arguments: [PhoneError.ended(udid), .badRequest(detail: "a token with a line break")])
  func `comes to no outcome by what this side ended or could not send`(_ error: PhoneError) {
    var body = FakeBody()
    body.silence = .unreachable(error)

    #expect(body.revive() == .broken(error))
  }
}

@Suite struct `a look at the door` {
  static func answer(_ ending: DoorAnswer.Ending) -> DoorLook { DoorLook(DoorAnswer(ending: ending, took: .zero)) }

  @Test(arguments: [200, 401, 404, 409, 500]) func `33: is an answer with any status`(_ status: Int) {
    var message = HTTPMessage()
    message.status = status

    #expect(Self.answer(.response(message)) == .answered(detail: "it answered \(status)"))
  }

  @Test func `tells that another app is in front, as a detail of the answer`() {
    var message = HTTPMessage()
    message.status = 200
    message.body = Array(#"{"ok":true,"active":false}"#.utf8)

    #expect(Self.answer(.response(message)) == .answered(detail: "it answered 200, with another app in front"))
  }

  @Test func `is silence of one of three kinds without a whole answer`() {
    #expect(Self.answer(.silent(received: 0, detail: "d")) == .silent(.noAnswer, detail: "d"))
    #expect(Self.answer(.silent(received: 63, detail: "d")) == .silent(.badReply, detail: "d"))
    #expect(Self.answer(.badReply(detail: "d")) == .silent(.badReply, detail: "d"))
    guard case .silent(.refused, _) = Self.answer(.refused) else {
      Issue.record("refused is not refused")
      return
    }
  }
}
