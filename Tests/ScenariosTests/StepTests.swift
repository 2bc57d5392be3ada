import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `a step` {
  private let stage = Stage()

  private func result(_ step: String, _ change: (inout FakePhone.State) -> Void = { _ in }) async throws -> Seen {
    await stage.run([try scenario(steps: step)], on: FakePhone(change))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var expect: String
    var ending: DoorAnswer.Ending
    /// nil: it holds.
    var message: String?
    var testDescription: String { expect }
  }

  private static let hello = FakePhone.json(200, ["ok": true, "n": 3, "s": "abc", "list": ["a", "b"], "null": nil])

  @Test(arguments: [
    Row(expect: "{status: 200, type: application/json}", ending: hello),
    Row(expect: "{json: {ok: true, n: 3.0, s: abc, list: [a, b], \"list[1]\": b, \"null\": null}}", ending: hello),
    Row(expect: "{json: {s: {contains: b, matches: '^a.c$', one-of: [x, abc]}, list: {contains: a}}}", ending: hello),
    Row(expect: "{json: {gone: {exists: false}, n: {exists: true}, 'list[2]': {exists: false}}}", ending: hello),
    Row(expect: "{header: {content-type: {contains: json}}, size: {min: 1, max: 999}}", ending: hello),
    Row(
      expect: "{status: 423, json: {s: {contains: z}}}", ending: hello,
      message: "expected status 423, s contains \"z\"; came s is \"abc\": status 200, application/json, "
        + #"{"list":["a","b"],"n":3,"null":null,"ok":true,"s":"abc"}, after 0 s"#),
    Row(
      expect: "{json: {n: '3'}}", ending: FakePhone.json(200, ["n": 3]),
      message: #"expected n = "3"; came n is 3: status 200, application/json, {"n":3}, after 0 s"#),
    Row(
      expect: "{json: {gone: null}}", ending: FakePhone.json(200, [:]),
      message: "expected gone = null; came gone is absent: status 200, application/json, {}, after 0 s"),
    Row(
      expect: "{type: image/jpeg}", ending: FakePhone.answer(200, "text/plain; charset=utf-8", Array("hi".utf8)),
      message: "expected type image/jpeg; came status 200, text/plain; charset=utf-8, hi, after 0 s"),
    Row(
      expect: "{size: {min: 100}, header: {X: y}}", ending: FakePhone.picture,
      message:
        "expected at least 100 bytes, header X = \"y\"; came X is absent: status 200, image/jpeg, 16 bytes, after 0 s"
    ),
    Row(
      expect: "{status: 200}", ending: .refused,
      message: "expected status 200; came refused: nothing listens on the door's port after 0 s"),
    Row(expect: "{answer: refused}", ending: .refused),
    Row(expect: "{answer: none}", ending: .silent(received: 0, detail: "no byte within 1 s")),
    Row(
      expect: "{answer: none}", ending: .silent(received: 120, detail: "63 of 64 bytes within 1 s"),
      message: "expected no answer; came no answer (63 of 64 bytes within 1 s) after 0 s"),
    Row(expect: "{answer: closed}", ending: .badReply(detail: "empty reply")),
    Row(
      expect: "{answer: closed}", ending: hello,
      message: "expected the connection closed before a complete answer; came status 200, application/json, "
        + #"{"list":["a","b"],"n":3,"null":null,"ok":true,"s":"abc"}, after 0 s"#),
  ])
  func `holds or fails by what came`(_ row: Row) async throws {
    let seen = try await result("  - request: GET /x\n    expect: \(row.expect)") {
      $0.answers["GET /x"] = [row.ending]
    }

    #expect(seen.message == row.message)
    #expect(seen.verdict == (row.message == nil ? .passed : .failed))
  }

  @Test func `H39: does not hold for a part of an answer`() async throws {
    let seen = try await result("  - request: GET /x\n    expect: {json: {a: {contains: b}}}") {
      $0.answers["GET /x"] = [.badReply(detail: "promised 64 bytes, got 63")]
    }

    #expect(seen.verdict == .failed)
    #expect(seen.message == "expected a contains \"b\"; came bad reply (promised 64 bytes, got 63) after 0 s")
  }

  @Test func `H40: fails as a bad reply where the JSON is not UTF-8, and holds by status alone`() async throws {
    let body: [UInt8] = [0x7B, 0x22, 0x6D, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0xBD, 0x22, 0x7D]
    let half = FakePhone.answer(200, "application/json", body)

    let byStatus = try await result("  - request: GET /x\n    expect: {status: 200}") { $0.answers["GET /x"] = [half] }
    let byJSON = try await result("  - request: GET /x\n    expect: {json: {m: {exists: true}}}") {
      $0.answers["GET /x"] = [half]
    }

    #expect(byStatus.verdict == .passed)
    #expect(byJSON.verdict == .failed)
    #expect(
      byJSON.message
        == "expected m exists; came bad-reply: the body is no JSON in UTF-8: status 200, application/json, 11 bytes, after 0 s"
    )
  }

  @Test func `is not held up by a pattern that takes too long`() async throws {
    let plan = try scenario(steps: "  - request: GET /x\n    expect: {json: {a: {matches: '^(a+)+$'}}}")
    let body: JSON = ["a": .string(String(repeating: "a", count: 12) + "b")]
    let phone = FakePhone { $0.answers["GET /x"] = [FakePhone.json(200, body)] }
    let scene = Scene(
      scenario: plan, body: stage.body(phone), link: phone, ios: nil, token: nil, clock: stage.clock, lab: stage.lab,
      attendant: nil)
    guard case .request(let step) = plan.steps[0].action else { throw Trouble("\(plan)") }

    let hasty = await StepRunner(scene: scene, patternLimit: .milliseconds(1)).request(step)
    let patient = await StepRunner(scene: scene, patternLimit: .seconds(60)).request(step)

    #expect(
      hasty
        == .broken(
          "the pattern was not found within 1 ms; write one that repeats nothing inside a repetition"))
    #expect(!patient.isHeld)
  }

  @Test func `without an expectation wants a complete answer of any kind`() async throws {
    let answered = try await result("  - request: GET /nothing")
    let silent = try await result("  - request: GET /x") {
      $0.answers["GET /x"] = [.silent(received: 0, detail: "no byte")]
    }

    #expect(answered.verdict == .passed)
    #expect(silent.message == "expected a complete answer; came no answer (no byte) after 0 s")
  }

  @Test func `fails an answer that comes too late`() async throws {
    let clock = stage.clock
    let phone = FakePhone(before: { _ in
      clock.advance(by: .milliseconds(1_300))
      return .milliseconds(1_300)
    })

    let seen = await stage.run(
      [try scenario(steps: "  - request: GET /hello\n    expect: {status: 200, within: 1s}")], on: phone)

    #expect(seen.message?.hasPrefix("expected the whole answer within 1 s; came status 200") == true)
    #expect(seen.message?.hasSuffix("after 1.3 s") == true)
    #expect(seen.steps[0].seconds == 1.3)
  }

  @Test func `describes a picture and never shows it`() async throws {
    let seen = try await result(
      "  - request: POST /photo?camera=front\n    expect: {status: 201}\n  - request: GET /x")

    #expect(seen.message == "expected status 201; came status 200, image/jpeg, 16 bytes, after 0 s")
    #expect(!seen.lines.joined().contains("SECRETPIXELS"))
  }

  @Test func `shows no picture that comes under a false name`() async throws {
    let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array("SECRETPIXELS".utf8)

    let seen = try await result("  - request: GET /x\n    expect: {json: {a: 1}}") {
      $0.answers["GET /x"] = [FakePhone.answer(200, "application/json", bytes)]
    }

    #expect(seen.verdict == .failed)
    #expect(!seen.lines.joined().contains("SECRETPIXELS"))
  }

  @Test func `makes an answer's control characters visible`() async throws {
    let seen = try await result("  - request: GET /x\n    expect: {status: 201}") {
      $0.answers["GET /x"] = [FakePhone.answer(200, "text/plain", Array("\u{1B}[31mred\u{7}\n".utf8))]
    }

    #expect(seen.message == "expected status 201; came status 200, text/plain, \u{FFFD}[31mred\u{FFFD}, after 0 s")
  }

  // MARK: - Time

  @Test func `with retry-within asks until it holds`() async throws {
    let busy = FakePhone.json(423, ["error": "busy"])
    let seen = try await result("  - request: GET /x\n    expect: {status: 200}\n    retry-within: 10s") {
      $0.answers["GET /x"] = [busy, busy, busy, FakePhone.json(200, [:])]
    }

    #expect(seen.verdict == .passed)
    #expect(seen.steps[0].seconds == 0.6)
  }

  @Test func `with retry-within gives up at its end, and says what came last`() async throws {
    let seen = try await result("  - request: GET /x\n    expect: {status: 200}\n    retry-within: 1s") {
      $0.answers["GET /x"] = [FakePhone.json(423, ["error": "busy"])]
    }

    #expect(
      seen.message
        == "expected status 200, within 1 s; came at last status 423, application/json, {\"error\":\"busy\"}, after 0 s"
    )
    #expect(seen.steps[0].seconds == 0.8)
  }

  @Test func `with retry-within lets no request outlive it, and keeps what said more`() async throws {
    let clock = stage.clock
    let phone = FakePhone {
      $0.answers["GET /x"] = [FakePhone.json(423, [:]), .silent(received: 0, detail: "no byte")]
    } before: { _ in
      clock.advance(by: .milliseconds(900))
      return .milliseconds(900)
    }

    let seen = await stage.run(
      [try scenario(steps: "  - request: GET /x\n    expect: {status: 200}\n    retry-within: 2s")], on: phone)

    #expect(clock.deadlines == [.seconds(2), .milliseconds(900)])
    #expect(seen.message?.contains("came at last status 423") == true)
  }

  @Test(arguments: [
    "request: GET /x\n    expect: {status: 200}\n    retry-within: 5s",
    "until: {request: GET /x, expect: {status: 200}}\n    within: 5s",
  ]) func `is no fault of the app's when the phone was away in between`(_ step: String) async throws {
    let away = DoorAnswer.Ending.unreachable(.absent(UDID("00008110-000A1B2C3D4E5F60")))

    let seen = try await result("  - \(step)") { $0.answers["GET /x"] = [.refused, away, .refused] }
    let healed = try await result("  - \(step)") { $0.answers["GET /x"] = [away, FakePhone.json(200, [:])] }

    #expect(seen.verdict == .error)
    #expect(
      seen.message?.contains("is not on the bus") == true && seen.message?.contains("expected status 200") == true)
    #expect(healed.verdict == .passed)
  }

  @Test(
    arguments: [
      (
        "request: GET /status\n    expect: {status: 200, within: 1s}\n    retry-within: 9s",
        "status 200, the whole answer within 1 s, within 9 s"
      ),
      ("request: GET /status", "a complete answer"),
      ("until: {request: GET /status, expect: {json: {active: true}}}\n    within: 3s", "active = true, within 3 s"),
      ("until: {lock: unlocked}\n    within: 3s", "the phone unlocked, within 3 s"),
      ("lock: unlocked", "the phone unlocked"), ("door: answers\n    for: 2s", "the door to answer, for 2 s"),
      ("wait: 1s", nil), ("launch:", nil),
    ] as [(String, String?)])
  func `says what it expected, also where it came`(_ step: String, _ expected: String?) async throws {
    let held = try await result("  - \(step)")
    let refused = try await result("  - request: GET /x\n    expect: {answer: refused}") {
      $0.answers["GET /x"] = [.refused]
    }

    #expect(held.verdict == .passed)
    #expect(held.steps[0].expected == expected)
    #expect(refused.steps[0].expected == "the connect refused")
  }

  @Test func `until asks at its own pace`() async throws {
    let no = FakePhone.json(200, ["capturing": nil])
    let seen = try await result(
      "  - until: {request: GET /x, expect: {json: {capturing: back}}}\n    within: 5s\n    every: 1s"
    ) { $0.answers["GET /x"] = [no, no, FakePhone.json(200, ["capturing": "back"])] }

    #expect(seen.verdict == .passed)
    #expect(seen.steps[0].seconds == 2)
  }

  @Test func `reads the lock, once or until`() async throws {
    let once = try await result("  - lock: locked")
    let until = try await result("  - until: {lock: locked}\n    within: 1s")
    let unknown = try await result("  - lock: locked\n    within: 1s") { $0.lock = .unknown }

    #expect(once.message == "expected the phone locked; came the phone is unlocked")
    #expect(until.message == "expected the phone locked, within 1 s; came at last the phone is unlocked")
    #expect(unknown.verdict == .error)
    #expect(unknown.message == "the lock cannot be read: the session broke")
  }

  @Test func `door looks once, until, or all the time`() async throws {
    let silent = DoorAnswer.Ending.silent(received: 0, detail: "no byte")
    let hello = FakePhone.json(200, [:])
    func seen(_ step: String, _ script: [DoorAnswer.Ending]) async throws -> Seen {
      try await result("  - door: \(step)") { $0.answers["GET /hello"] = script }
    }

    #expect(try await seen("answers", [hello]).verdict == .passed)
    #expect(
      try await seen("answers", [.refused]).message?.hasPrefix("expected the door to answer; came refused") == true)
    #expect(try await seen("silent", [silent]).verdict == .passed)
    #expect(try await seen("silent", [hello]).message?.hasPrefix("expected the door silent; came status 200") == true)
    let healed = try await seen("answers\n    within: 60s", [.refused, .refused, hello])
    #expect(healed.verdict == .passed)
    let broken = try await seen("silent\n    for: 5s", [.refused, .refused, .refused, hello])
    #expect(broken.verdict == .failed)
    #expect(broken.steps[0].seconds == 3)
    #expect(try await seen("silent\n    for: 5s", [.refused]).steps[0].seconds == 5)
  }

  @Test func `waits on the scenario's clock`() async throws {
    let seen = try await result("  - wait: 90s")

    #expect(seen.steps[0].seconds == 90)
  }

  @Test func `has the caller's clock where it names none`() async throws {
    _ = try await result(
      """
        - request: GET /hello
        - request: POST /photo?camera=front
        - request: POST /clip?camera=back&seconds=4
        - request: GET /other
        - request: GET /hello
          deadline: 3s
      """)

    #expect(stage.clock.deadlines == [.seconds(10), .seconds(20), .seconds(24), .seconds(10), .seconds(3)])
  }

  // MARK: - What is sent

  @Test func `sends its texts filled in, in the form that fleet.yaml gives`() async throws {
    var stage = stage
    stage.configuration.door.forms[.photo] = RequestLine(method: "PUT", target: "/cameras/{camera}/still")
    stage.names["00008110-000A1B2C3D4E5F60"] = "großer saal"
    let phone = FakePhone()

    _ = await stage.run(
      [
        try scenario(
          steps: """
              - request: POST /photo?camera=front&by={name}
              - request: POST /x?{scenario}&{ios}
                headers: {X-Name: "{name} {nobody}"}
                body: '{"who": "{udid}"}'
            """)
      ], on: phone)

    let sent = phone.state.with { $0.requests }
    #expect(sent.map(\.target) == ["/cameras/front/still?by=gro%C3%9Fer%20saal", "/x?test&16.7"])
    #expect(sent[0].method == "PUT")
    #expect(sent[1].headers.map(\.value) == ["großer saal {nobody}"])
    #expect(String(decoding: sent[1].body, as: UTF8.self) == #"{"who": "00008110-000A1B2C3D4E5F60"}"#)
    #expect(sent[0].port == 8127)
  }

  @Test func `sends the configured token, none, or a wrong one, and no output shows it`() async throws {
    var stage = stage
    stage.configuration.door.tokenFile = "t"
    stage.options.files = Files(
      exists: { _ in true }, read: { _, _ throws(Problem) in Array("hunter2\n".utf8) })
    let phone = FakePhone {
      $0.answers["GET /x"] = [FakePhone.json(200, ["you": "sent hunter2"])]
    }
    let step =
      "  - request: GET /x\n    token: none\n  - request: GET /x\n    token: wrong\n"
      + "  - request: GET /x\n    expect: {json: {you: nothing}}"

    let seen = await stage.run([try scenario(steps: step)], on: phone)

    let tokens = phone.state.with { $0.requests.map(\.token) }
    #expect(tokens == [nil, "wrong", "hunter2"])
    #expect(seen.message?.contains("you is \"sent •••\"") == true)
    #expect(!seen.lines.joined().contains("hunter2"))
  }

  @Test func `launches with arguments and environment, and fails an app that ends at once`() async throws {
    let step = "  - launch: {arguments: [-v, '{name}'], environment: {FLAG: YES}, fresh: true}"
    let phone = FakePhone()
    let good = await stage.run([try scenario(steps: step)], on: phone)
    let crashed = try await result(step) { $0.launchError = .launchRefused(UDID("x"), .appExited, detail: "") }
    let locked = try await result(step) { $0.launchError = .launchRefused(UDID("x"), .locked, detail: "") }

    #expect(good.verdict == .passed)
    #expect(
      phone.state.with { $0.launches } == [
        LaunchRequest(
          bundle: "com.example.kiosk", arguments: ["-v", "hall"], environment: [(name: "FLAG", value: "YES")],
          fresh: true)
      ])
    #expect(crashed.verdict == .failed)
    #expect(locked.verdict == .error)
  }

  @Test func `collects what was started, judged by its finish`() async throws {
    let steps =
      "  - start: one\n    request: GET /x\n  - request: GET /hello\n  - finish: one\n    expect: {status: 200}"
    let good = try await result(steps) { $0.answers["GET /x"] = [FakePhone.json(200, [:])] }
    let bad = try await result(steps) { $0.answers["GET /x"] = [FakePhone.json(500, [:])] }

    #expect(good.verdict == .passed)
    #expect(good.steps.map(\.step) == ["start one: request GET /x", "request GET /hello", "finish one"])
    #expect(bad.verdict == .failed)
    #expect(bad.finished[0].line == 6)
  }
}
