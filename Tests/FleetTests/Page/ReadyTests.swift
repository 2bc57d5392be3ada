import DeviceBridge
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a body that is about to be asked for a capture` {
  private static let healthy: JSON = [
    "active": true, "cameras": ["front", "back"], "grants": ["camera": "authorized"], "capturing": .null, "by": .null,
  ]

  private static func with(_ key: String, _ value: JSON) -> JSON {
    var object = healthy.object ?? [:]
    object[key] = value
    return .object(object)
  }

  private func ask(
    _ body: BodyPresent, _ status: DoorAnswer?, _ target: String = "/api/bodies/hall/ready?for=photo&camera=front"
  ) async throws -> (answer: HTTPMessage, asked: [UDID]) {
    var stage = StageView.Stage()
    stage.bodies = [body]
    stage.status = status
    let served = try ServedPage(stage)
    let answer = try await served.get(target)
    return (answer, served.view.stage.with { $0.asked })
  }

  private static func hall(
    _ words: OutcomeWords? = OutcomeWords(.up), _ more: (inout BodyPresent) -> Void = { _ in }
  ) -> BodyPresent { StageView.body(1, "hall", words, more) }

  @Test(arguments: [
    "/api/bodies/hall/ready?for=photo&camera=front", "/api/bodies/hall/ready?for=clip&camera=back&x=y",
    "/api/bodies/000081100000000000000001/ready?for=photo&camera=front",
  ])
  func `is ready where all that a capture needs is there`(_ target: String) async throws {
    let (answer, asked) = try await ask(Self.hall(), StageView.status(200, Self.healthy), target)

    #expect(answer.status == 200)
    #expect(answer.json?["ready"] == true && answer.json?["body"] == "hall" && answer.json?["capturing"] == .null)
    #expect(asked == [StageView.udid(1)])
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var body: BodyPresent
    var sentence: String
  }

  private static let known = [
    Refusal(
      testDescription: "silent", body: hall { $0.silent = .seconds(31) },
      sentence: "hall can't take a front photo: its door has been silent for 0:31"),
    Refusal(
      testDescription: "locked", body: hall { $0.lock = .locked },
      sentence: "hall can't take a front photo: it is locked, and nobody but a person unlocks it"),
    Refusal(
      testDescription: "left alone", body: hall(OutcomeWords(.leftAlone, .hands)),
      sentence:
        "hall can't take a front photo: it is left-alone/hands: the hands' driver runs: a person or a test uses it"),
    Refusal(
      testDescription: "held", body: hall(OutcomeWords(.held, .run)),
      sentence: "hall can't take a front photo: it is held/run: a run holds it"),
    Refusal(
      testDescription: "crash-looping", body: hall(OutcomeWords(.revived, .crashLooping)),
      sentence:
        "hall can't take a front photo: it is revived/crash-looping: launched three times within an hour: "
        + "the app must be crashing"),
    Refusal(
      testDescription: "not judged", body: hall(nil),
      sentence: "hall can't take a front photo: it has not been judged yet"),
    Refusal(
      testDescription: "out of service", body: hall { $0.outOfService = "battery" },
      sentence: "hall can't take a front photo: it is out of service: battery"),
  ]

  @Test(arguments: known) func `is refused first, and not asked, for what is known of it`(_ row: Refusal) async throws {
    let (answer, asked) = try await ask(row.body, StageView.status(200, Self.healthy))

    #expect(answer.status == 409)
    #expect(answer.json == ["error": .string(row.sentence)])
    #expect(asked.isEmpty)
  }

  @Test func `may have been silent for half a minute, and have an unknown lock`() async throws {
    let body = Self.hall {
      $0.silent = .seconds(30)
      $0.lock = .unknown
    }

    #expect(try await ask(body, StageView.status(200, Self.healthy)).answer.status == 200)
  }

  private static let told: [(String, JSON, String)] = [
    ("in the background", with("active", false), "its app is not in front"),
    ("active not told", with("active", .null), "its app is not in front"),
    (
      "no grant", with("grants", ["camera": "denied"]),
      "the camera grant is denied; a person allows it once in Settings"
    ),
    (
      "never asked", with("grants", ["camera": "notDetermined"]),
      "the camera grant is notDetermined; a person allows it once in Settings"
    ),
    ("grant not told", with("grants", [:]), "the camera grant is not told; a person allows it once in Settings"),
    ("no such camera", with("cameras", ["back"]), "it has no front camera"),
    ("no cameras told", with("cameras", .null), "it has no front camera"),
    ("no object", [1, 2], "what its door tells as its status is no JSON object"),
  ]

  @Test(arguments: told) func `is refused first for what its status tells`(_ row: (String, JSON, String)) async throws {
    let (answer, _) = try await ask(Self.hall(), StageView.status(200, row.1))

    #expect(answer.status == 409)
    #expect(answer.json == ["error": .string("hall can't take a front photo: \(row.2)")])
  }

  @Test(arguments: [(401, 409), (403, 409), (423, 409), (500, 503), (503, 503), (599, 503), (302, 409)])
  func `refuses in its own sentence, and its numbers are folded`(_ own: Int, _ folded: Int) async throws {
    let status = StageView.status(own, ["error": "the camera is busy\u{1B}[2J with another capture"])

    let (answer, _) = try await ask(Self.hall(), status)

    #expect(answer.status == folded)
    #expect(
      answer.json?["error"] == "hall refused a front photo: the camera is busy\u{FFFD}[2J with another capture")
  }

  private static let silences: [(DoorAnswer.Ending?, String)] = [
    (.refused, "nothing listens on its door's port"),
    (.silent(received: 0, detail: "no byte within 10 s"), "its door did not tell its status: no byte within 10 s"),
    (.badReply(detail: "empty reply"), "its door did not tell its status: empty reply"),
    (nil, "it is no body any more, or out of service"),
  ]

  @Test(arguments: silences.indices) func `is refused where its status does not come`(_ place: Int) async throws {
    let (ending, why) = Self.silences[place]

    let (answer, _) = try await ask(Self.hall(), ending.map { DoorAnswer(ending: $0, took: .seconds(1)) })

    #expect(answer.status == 409)
    #expect(answer.json == ["error": .string("hall can't take a front photo: \(why)")])
  }

  @Test(arguments: ["", "?for=photo", "?camera=front", "?for=film&camera=front", "?for=photo&camera="])
  func `has to be told which capture is meant`(_ query: String) async throws {
    let (answer, asked) = try await ask(Self.hall(), nil, "/api/bodies/hall/ready\(query)")

    #expect(answer.status == 400 && asked.isEmpty)
    #expect(answer.json?["error"]?.string?.hasPrefix("This does not say which capture is meant.") == true)
  }

  @Test(arguments: ["hal", "HALL", "0000", "hall%00", "h%61ll2"]) func `is called by its whole name`(_ name: String)
    async throws
  {
    let (answer, _) = try await ask(Self.hall(), nil, "/api/bodies/\(name)/ready?for=photo&camera=front")

    #expect(answer.status == 404 || (name == "hall%00" && answer.status == 400))
  }
}
