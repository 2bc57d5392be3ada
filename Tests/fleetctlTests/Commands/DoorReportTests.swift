import DeviceBridge
import Testing
import Wire

@testable import fleetctl
import Fleet

@Suite struct `a door's answer` {
  static func message(_ status: Int, _ type: String?, _ body: [UInt8]) -> HTTPMessage {
    var message = HTTPMessage()
    message.status = status
    if let type { message.headers = [("Content-Type", type), ("Set-Cookie", "a"), ("set-cookie", "b")] }
    message.body = body
    return message
  }

  static func report(_ ending: DoorAnswer.Ending, request: String = "GET /hello") -> DoorReport {
    DoorReport(
      name: "hall", body: "hall", udid: UDID("00008110-000A1B2C3D4E5F60"), request: request, port: 8127,
      answer: DoorAnswer(ending: ending, took: .milliseconds(12)))
  }

  static let udid = UDID("00008110-000A1B2C3D4E5F60")

  struct Ending: Sendable, CustomTestStringConvertible {
    var label: String
    var ending: DoorAnswer.Ending
    var code: ExitCode
    var sentence: String?
    var testDescription: String { label }
  }

  static let endings = [
    Ending(label: "200", ending: .response(message(200, "application/json", Array("{}".utf8))), code: .done),
    Ending(label: "204", ending: .response(message(204, nil, [])), code: .done),
    Ending(
      label: "409",
      ending: .response(message(409, "application/json", Array(#"{"error":"the app is not in front"}"#.utf8))),
      code: .no,
      sentence:
        "hall answered GET /hello with 409: the app is not in front. The app refuses it as things stand. "
        + "See how the phone is: fleetctl devices."),
    Ending(
      label: "H40: 500 with text that is not UTF-8",
      ending: .response(
        message(500, "application/json", [0x7B, 0x22, 0x6D, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0xBD, 0x22, 0x7D])),
      code: .no,
      sentence:
        "hall answered GET /hello with 500. The app could not do it. See how the phone is: fleetctl devices."),
    Ending(
      label: "H34: refused", ending: .refused, code: .no,
      sentence:
        "Nothing is listening on the phone's port 8127; is the app running? It may have ended, be in the background, "
        + "or use another port. Bring it to the front: fleetctl launch hall."),
    Ending(
      label: "H39: silent", ending: .silent(received: 120, detail: "63 of 64 bytes"), code: .no,
      sentence:
        "hall did not answer GET /hello within 12 ms (63 of 64 bytes). The app may hang, be suspended or wait for "
        + "something. Start it afresh: fleetctl launch hall --fresh."),
    Ending(
      label: "H39: cut", ending: .badReply(detail: "promised 64 bytes, got 63"), code: .no,
      sentence:
        "hall gave no whole HTTP response to GET /hello (promised 64 bytes, got 63). The app may have ended in the "
        + "middle, or something else listens on port 8127. Ask again: fleetctl hello hall."),
    Ending(
      label: "absent", ending: .unreachable(.absent(udid)), code: .harness, sentence: PhoneError.absent(udid).sentence),
    Ending(
      label: "a header that cannot be sent", ending: .unreachable(.badRequest(detail: "a line break")), code: .usage,
      sentence: PhoneError.badRequest(detail: "a line break").sentence),
  ]

  @Test(arguments: endings) func `becomes an exit code and a sentence of three parts`(_ row: Ending) {
    let report = Self.report(row.ending)

    #expect(report.code == row.code)
    #expect(report.sentence == row.sentence)
    #expect(report.json["error"] == .text(row.sentence))
  }

  @Test(arguments: [
    DoorAnswer.Ending.silent(received: 0, detail: "no byte"), .unreachable(.muxSilent(.system, detail: "no reply")),
    .unreachable(.silent(udid, step: "reaching it", limit: .milliseconds(1))),
  ]) func `that had hardly any time blames nobody`(_ ending: DoorAnswer.Ending) {
    var hasty = Self.report(ending)
    hasty.given = .milliseconds(1)
    var patient = Self.report(ending)
    patient.given = .seconds(2)

    #expect(
      hasty.sentence
        == "The time given, 1 ms, was over before hall had answered GET /hello. So little time says nothing about app, "
        + "phone or daemon. Give it more: fleetctl request hall GET /hello --deadline 10s.")
    #expect(patient.sentence == Self.report(ending).sentence)
  }

  @Test func `is shown as a line about it and its text`() {
    let report = Self.report(
      .response(Self.message(200, "application/json; charset=utf-8", Array(#"{"ok": true}"#.utf8))))

    #expect(report.lines == ["hall 200, application/json, 12 bytes, 12 ms", #"{"ok":true}"#])
    #expect(Self.report(.refused).lines.isEmpty)
  }

  @Test func `cannot steer the terminal`() {
    let report = Self.report(.response(Self.message(200, "text/plain\u{1B}", Array("a\u{1B}[2Jb\nc\n".utf8))))

    #expect(report.lines == [#"hall 200, text/plain\u{1B}, 9 bytes, 12 ms"#, #"a\u{1B}[2Jb"#, "c"])
  }

  @Test func `as JSON has every key, absent values null`() {
    let answered = Self.report(.response(Self.message(200, "application/json", Array(#"{"ok":true}"#.utf8)))).json
    let refused = Self.report(.refused).json

    let keys: Set = [
      "body", "udid", "request", "outcome", "status", "type", "headers", "json", "text", "picture", "size", "took_s",
      "error",
    ]
    #expect(Set(answered.object?.keys.map { $0 } ?? []) == keys)
    #expect(Set(refused.object?.keys.map { $0 } ?? []) == keys)
    #expect(answered["json"] == ["ok": true])
    #expect(answered["headers"]?["set-cookie"] == "a, b")
    #expect(answered["took_s"] == 0.012)
    #expect(refused["status"] == .null)
    #expect(refused["outcome"] == "refused")
  }

  struct Picture: Sendable, CustomTestStringConvertible {
    var label: String
    var type: String?
    var bytes: [UInt8]
    var testDescription: String { label }
  }

  @Test(arguments: [
    Picture(label: "JPEG", type: "image/jpeg", bytes: [0xFF, 0xD8, 0xFF, 0xE0] + Array("secret".utf8)),
    Picture(
      label: "JPEG under another name", type: "text/plain", bytes: [0xFF, 0xD8, 0xFF, 0xE1] + Array("secret".utf8)),
    Picture(label: "PNG without a type", type: nil, bytes: [0x89, 0x50, 0x4E, 0x47] + Array("secret".utf8)),
    Picture(label: "a clip", type: "video/quicktime", bytes: Array("secret".utf8)),
    Picture(label: "a clip under another name", type: nil, bytes: Array("0000ftypqt  secret".utf8)),
    Picture(label: "a sound", type: "audio/mp4", bytes: Array("secret".utf8)),
    Picture(label: "unknown bytes", type: "application/octet-stream", bytes: Array("secret".utf8) + [0]),
  ]) func `that is a picture or a clip is described and never shown`(_ picture: Picture) {
    let report = Self.report(.response(Self.message(200, picture.type, picture.bytes)), request: "POST /photo")

    let shown = report.lines.joined() + report.json.line
    #expect(!shown.contains("secret"))
    #expect(report.lines.count == 1)
    #expect(report.lines[0].contains("\(picture.bytes.count) bytes"))
    #expect(report.json["text"] == .null && report.json["json"] == .null)
  }
}
