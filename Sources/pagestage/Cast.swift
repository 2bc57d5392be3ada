import DeviceBridge
import Fleet
import Wire

extension StagedView {
  static func body(
    _ number: Int, _ name: String?, _ words: OutcomeWords?, _ more: (inout BodyPresent) -> Void = { _ in }
  ) -> BodyPresent {
    let digits = String(4_096 + number, radix: 16, uppercase: true)
    var body = BodyPresent(
      body: name, udid: UDID("00008110-" + String(repeating: "0", count: 16 - digits.count) + digits),
      awaited: "nothing")
    body.words = words
    body.since = WallClock.now() - .seconds(3_600 * number + 127)
    body.lastAnswer = WallClock.now() - .seconds(number % 10)
    body.lock = .unlocked
    body.usbPort = "1-2.\(number % 7 + 1)"
    body.deviceName = "iPhone \(number)"
    more(&body)
    return body
  }

  private static func silent(_ seconds: Int, _ awaited: String, _ body: inout BodyPresent) {
    body.silent = .seconds(seconds)
    body.lastAnswer = WallClock.now() - .seconds(seconds)
    body.awaited = awaited
  }

  /// One of each kind, with all that phones and people can write.
  static var cast: [BodyPresent] {
    [
      body(1, "hall", OutcomeWords(.up)),
      body(2, "stairs", OutcomeWords(.up)),
      body(3, "library", OutcomeWords(.revived)) {
        $0.revivals = 12
        $0.launches = 14
        $0.flaps = 3
      },
      body(4, "entrance", OutcomeWords(.locked, .passcode)) {
        silent(40_250, "somebody to unlock it", &$0)
        $0.lock = .locked
        $0.detail = "The lock was read as locked; a launch was not sent."
      },
      body(5, "cafe", OutcomeWords(.launchedNoAnswer, .appExited)) {
        silent(900, "the end of the spacing since the last launch", &$0)
        $0.nextLaunch = WallClock.now() + .seconds(50)
        $0.launches = 9
        $0.detail = "the app ended 0.4 s after the launch with signal 6"
      },
      body(6, "stage-left", OutcomeWords(.leftAlone, .hands)) {
        silent(50_000, "the hands' driver to end", &$0)
        $0.since = WallClock.now() - .seconds(50_000)
      },
      body(7, "stage-right", OutcomeWords(.revived, .crashLooping)) {
        $0.launches = 33
        $0.revivals = 31
      },
      body(8, "workshop", OutcomeWords(.held, .person)) {
        $0.heldBy = Holder(pid: 4_711, user: "anna", purpose: .hold, reason: "changing the battery and the glass")
        $0.awaited = "the end of the hold by anna (process 4711): changing the battery and the glass"
      },
      body(9, "garden", OutcomeWords(.paused)) {
        silent(610, "the end of the pause", &$0)
        $0.pausedUntil = WallClock.now() + .seconds(1_100)
        $0.nextLaunch = WallClock.now() + .seconds(1_100)
      },
      body(10, "roof", OutcomeWords(.unreachable, .detached)) {
        silent(7_300, "the phone on the bus", &$0)
        $0.lock = .unknown
        $0.detail = "It is not on the bus; the port 1-2.4 still shows it, so replug it."
      },
      body(11, "cellar", OutcomeWords(.untrusted, .pending)) {
        silent(80, "a session with the phone", &$0)
        $0.lock = .unknown
      },
      body(12, "annex", OutcomeWords(.launchRefused, .noDeveloperImage)) {
        silent(4_000, "a change of what the launch was refused for (no-developer-image)", &$0)
      },
      body(13, "tower", OutcomeWords(.hostFault, .tls)) { silent(20, "a session with the phone", &$0) },
      body(14, "a-body-with-a-very-long-name-that-does-not-fit-into-one-line-of-a-small-window", OutcomeWords(.up)) {
        $0.deviceName =
          String(repeating: "<img src=x onerror=alert(1)>\u{1B}[31m\u{202E}\u{0}", count: 150)
      },
      body(15, nil, OutcomeWords(.up)),
      body(16, "just-plugged-in", nil) {
        $0.lastAnswer = nil
        $0.since = nil
        $0.lock = .unknown
        $0.awaited = "the next look"
      },
      body(17, "spare", OutcomeWords(.up)) { $0.outOfService = "battery swollen, until 2026-12-20" },
      body(18, "quiet-corner", OutcomeWords(.up)) {
        silent(250, "the end of the grace", &$0)
        $0.nextLaunch = WallClock.now() + .seconds(50)
      },
    ]
  }

  static var firstRows: [OutcomeReport] {
    let words = cast.map { ($0.body, $0.udid, $0.words ?? OutcomeWords(.up)) }
    return (1...10_000).map { seq in
      let (name, udid, now) = words[seq % words.count]
      var row = OutcomeReport(
        seq: seq, at: WallClock.now() - .seconds((10_000 - seq) * 61), body: name, udid: udid, words: now,
        was: OutcomeWords(.up), launched: now.kind == .launchedNoAnswer)
      if seq.isMultiple(of: 5) {
        row.detail = "<b>the app ended</b> 0.4 s after the launch; the phone's own words follow"
      }
      if seq.isMultiple(of: 3) { row.silent = .seconds(seq % 5_000) }
      if seq.isMultiple(of: 17) {
        row.body = nil
        row.udid = nil
        row.words = OutcomeWords(.unreachable, .hub)
        row.detail = "hub 1-2 left with its five phones"
      }
      return row
    }
  }
}
