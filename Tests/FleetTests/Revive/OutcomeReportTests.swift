import DeviceBridge
import Testing
import Wire

@testable import Fleet

@Suite struct `an outcome that is told` {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")

  static func report(
    _ words: OutcomeWords, silent: Duration? = nil, launched: Bool = false, error: PhoneError? = nil
  ) -> OutcomeReport {
    var report = OutcomeReport(
      at: .seconds(1_800_000_000), body: "hall", udid: udid, words: words, detail: "so it is", silent: silent,
      launched: launched)
    report.error = error
    return report
  }

  @Test func `has the record's keys, and null for what is absent`() {
    let row = Self.report(OutcomeWords(.locked, .passcode), silent: .milliseconds(312_500), launched: true)
    let bare = OutcomeReport(at: .zero, body: nil, udid: nil, words: OutcomeWords(.up))

    #expect(
      row.json.line == """
        {"at":"2027-01-15T08:00:00.000Z","body":"hall","detail":"so it is","launched":true,"outcome":"locked",\
        "reason":"passcode","seq":null,"silent_s":312.5,"udid":"00008110-000A1B2C3D4E5F60","was":null}
        """)
    #expect(
      bare.json.line == """
        {"at":"1970-01-01T00:00:00.000Z","body":null,"detail":null,"launched":false,"outcome":"up",\
        "reason":null,"seq":null,"silent_s":null,"udid":null,"was":null}
        """)
  }

  @Test func `never says 0 s of silence of a body that was silent`() {
    #expect(Self.report(OutcomeWords(.revived), silent: .zero).json["silent_s"] == .number(0.001))
    #expect(Self.report(OutcomeWords(.revived), silent: .seconds(4)).json["silent_s"] == .integer(4))
    #expect(Self.report(OutcomeWords(.revived), silent: .microseconds(1_999_900)).json["silent_s"] == .number(1.999))
  }

  static let every: [OutcomeWords] = OutcomeKind.allCases.flatMap { kind in
    let reasons = kind.reasons + kind.hostReasons
    let bare = reasons.isEmpty || kind == .revived ? [OutcomeWords(kind)] : []
    return bare + reasons.map { OutcomeWords(kind, $0) }
  }

  @Test(arguments: every) func `is told in three parts unless the door answers`(_ words: OutcomeWords) {
    let sentence = Self.report(words).sentence

    if words.reviveExitCode == .done {
      #expect(sentence == nil)
    } else {
      #expect(sentence?.split(separator: ". ").count == 3)
      #expect(sentence?.contains("fleetctl ") == true)
    }
  }

  @Test(arguments: every) func `is read from its words as it was written`(_ words: OutcomeWords) {
    #expect(OutcomeWords(text: words.text) == words)
  }

  @Test(arguments: ["", "/", "up/", "Up", "locked/hands", "locked/passcode/x", "revived/none"])
  func `is not read from other words`(_ text: String) { #expect(OutcomeWords(text: text) == nil) }

  @Test func `is told in the phone's own words where it has some`() {
    let error = PhoneError.launchRefused(Self.udid, .notInstalled, detail: "com.example.kiosk")

    #expect(Self.report(OutcomeWords(.launchRefused, .notInstalled), error: error).sentence == error.sentence)
  }

  @Test func `is an exit code by its kind`() {
    let codes = Dictionary(grouping: OutcomeKind.allCases) { OutcomeWords($0).reviveExitCode }

    #expect(codes[.done] == [.up, .revived])
    #expect(codes[.no] == [.silent, .locked, .held, .paused, .launchedNoAnswer, .launchRefused, .leftAlone])
    #expect(codes[.harness] == [.untrusted, .unreachable, .hostFault])
  }
}
