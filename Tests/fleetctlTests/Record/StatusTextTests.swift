import DeviceBridge
import Testing
import Wire

@testable import Fleet
@testable import fleetctl

@Suite struct `a line of status` {
  private static let now = Duration.seconds(1_796_040_000)

  private static func body(
    _ name: String?, _ words: OutcomeWords?, since: Int = 0, silent: Int? = nil, launch: Int? = nil
  ) -> BodyPresent {
    var body = BodyPresent(body: name, udid: RecordedState.hall, awaited: "nothing")
    body.words = words
    body.since = now - .seconds(since)
    body.silent = silent.map { .seconds($0) }
    body.nextLaunch = launch.map { now + .seconds($0) }
    return body
  }

  private func line(_ body: BodyPresent, isSupervised: Bool = true) -> String? {
    StatusText(style: .plain, now: Self.now).lines([body], isSupervised: isSupervised).first
  }

  @Test(arguments: [
    (body("hall", OutcomeWords(.up), since: 1_814_400), "✓ hall  up 3w"),
    (body("hall", OutcomeWords(.revived), since: 86_400 * 3), "✓ hall  up, revived 3d ago"),
    (body("hall", OutcomeWords(.up), since: 9, silent: 250, launch: 50), "~ hall  silent 4:10, may act in 0:50"),
    (body("hall", OutcomeWords(.up), since: 9, silent: 250), "~ hall  silent 4:10"),
    (body("hall", OutcomeWords(.locked, .passcode), since: 7_300), "– hall  locked/passcode 2h"),
    (
      body("hall", OutcomeWords(.launchedNoAnswer, .refused), since: 60, launch: 240),
      "✗ hall  launched-no-answer/refused 1:00"
    ),
    (body("hall", OutcomeWords(.silent, .refused), since: 60, launch: 0), "✗ hall  silent/refused 1:00, may act now"),
    (body("hall", OutcomeWords(.unreachable, .lockdownNotAnswering), since: 60), "! hall  lockdown-not-answering 1:00"),
    (body("hall", OutcomeWords(.revived, .crashLooping), since: 60), "✗ hall  revived/crash-looping 1:00"),
    (body("hall", nil), "· hall  not judged yet"),
  ]) func `says the outcome, and beside it how it is now`(_ row: (BodyPresent, String)) {
    #expect(line(row.0) == row.1)
  }

  @Test func `says that it is paused, or out of service, or never seen`() {
    var paused = Self.body("hall", OutcomeWords(.up))
    paused.pausedUntil = Self.now
    var out = paused
    out.outOfService = "battery"

    #expect(line(paused) == "✓ hall  up 0:00, paused")
    #expect(line(out) == "· hall  out of service: battery")
    #expect(line(Self.body("hall", nil), isSupervised: false) == "· hall  not seen yet")
  }

  @Test func `has 45 columns at most, whatever the body and its outcome are called`() {
    let names = [nil, "a", "the phone beside the stairs", "日本語の電話機の名前", "bell \u{7} and \u{1B}[31m"]
    let spans = [0, 3_599, 86_400, 90_000_000]
    var lines = 0
    for name in names {
      for kind in OutcomeKind.allCases {
        for reason in [nil] + (kind.reasons + kind.hostReasons).map(Optional.some) {
          for span in spans {
            var body = Self.body(name, OutcomeWords(kind, reason), since: span, silent: span, launch: span)
            body.pausedUntil = Self.now
            let line = line(body) ?? ""
            lines += 1
            #expect(DisplayWidth.of(line) <= 45 && !line.unicodeScalars.contains(where: \.steers), "\(line)")
          }
        }
      }
    }
    #expect(lines > 500)
  }

  @Test func `tells bodies apart whose names begin alike`() {
    let bodies = ["the phone beside the stairs", "the phone beside the door"].map {
      Self.body($0, OutcomeWords(.up), since: 60)
    }

    let lines = StatusText(style: .plain, now: Self.now).lines(bodies, isSupervised: true)

    #expect(lines == ["✓ …de the stairs  up 1:00", "✓ …side the door  up 1:00"])
  }

  @Test func `stands before those of bodies that are better off`() {
    let words: [OutcomeWords] = [
      OutcomeWords(.up), OutcomeWords(.locked, .passcode), OutcomeWords(.silent, .refused), OutcomeWords(.revived),
      OutcomeWords(.unreachable, .detached),
    ]
    let bodies = words.enumerated().map { Self.body("b\($0)", $1) }

    let lines = StatusText(style: .plain, now: Self.now).lines(bodies, isSupervised: true)

    #expect(lines.map { String($0.dropFirst(2).prefix(2)) } == ["b2", "b4", "b1", "b0", "b3"])
  }
}

@Suite struct `a moment that somebody types` {
  private static let now = Duration.seconds(1_796_040_000)

  @Test(arguments: [
    ("2026-11-30T12:00:00Z", 1_796_040_000), ("2h", 1_796_040_000 - 7_200), ("400d", 1_796_040_000 - 34_560_000),
  ]) func `is a time with its zone, or a span before now`(_ row: (String, Int)) {
    #expect(Moment.read(row.0, now: Self.now) == .seconds(row.1))
  }

  @Test func `is a day or a time of it on the wall here`() throws {
    let day = try #require(Moment.read("2026-11-30", now: Self.now))
    let minute = try #require(Moment.read("2026-11-30 08:30", now: Self.now))

    #expect(WallClock.local(WallClock.rfc3339(day))?.hasPrefix("2026-11-30 00:00:00 ") == true)
    #expect(WallClock.local(WallClock.rfc3339(minute))?.hasPrefix("2026-11-30 08:30:00 ") == true)
    #expect(Moment.read("2026-11-30T08:30:00", now: Self.now) == minute)
  }

  @Test(arguments: ["", "yesterday", "2026-13-01", "2026-02-31", "2026-11-30T25:00", "2026-11-3", "-2h", "12:00"])
  func `is nothing else`(_ text: String) {
    #expect(Moment.read(text, now: Self.now) == nil)
  }
}
