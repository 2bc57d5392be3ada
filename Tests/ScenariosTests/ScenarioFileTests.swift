import DeviceBridge
import Fleet
@testable import Scenarios
import Testing
import Wire

/// A scenario out of its text.
func scenario(_ text: String, file: String = "s.yaml") throws -> Scenario {
  try ScenarioFile.parse(Array(text.utf8), file: file)
}

/// A scenario of some steps, with `recovers` where they are given.
func scenario(steps: String, recovers: String? = nil, head: String = "") throws -> Scenario {
  try scenario("scenario: test\n\(head)steps:\n\(steps)\n" + (recovers.map { "recovers:\n\($0)\n" } ?? ""))
}

/// What a scenario is refused for, one `line:column: sentence` a problem.
private func refusal(_ text: String) -> [String] {
  do throws(Problems) {
    _ = try ScenarioFile.parse(Array(text.utf8), file: "f")
    return []
  } catch {
    return error.list.map { String($0.description.dropFirst(2)) }
  }
}

private let everyKind =
  "arrange, request, start, finish, until, launch, revive, lock, door, ready, app, files, screen, log, repeat, for-each, wait, "
  + "operator, command"

@Suite struct `a scenario file` {
  @Test func `is read as the documentation writes it`() throws {
    let read = try Bench.shipped("camera-busy")

    #expect(read.name == "camera-busy")
    #expect(read.about == "A still asked for during a clip waits for nobody and is told why.")
    #expect(read.tags == ["release", "nightly"])
    #expect(read.needs.map(\.state) == [.unlocked, .cameraGranted])
    #expect(read.steps.map(\.line) == [6, 7, 9, 11, 13])
    #expect(
      read.steps.map(\.text) == [
        "arrange in-front", "start clip: request POST /clip?camera=back&seconds=4", "until request GET /status",
        "request POST /photo?camera=front", "finish clip",
      ])
    guard case .request(let refused) = read.steps[3].action else { throw Trouble("\(read.steps[3])") }
    #expect(refused.expectation.status == 423)
    #expect(refused.expectation.within == .seconds(1))
    #expect(refused.expectation.json.map(\.path.description) == ["error"])
    #expect(refused.expectation.json.map(\.matcher) == [.contains("busy")])
    guard case .request(let back) = read.recovers[0].action else { throw Trouble("\(read.recovers[0])") }
    #expect(back.expectation.type == "image/jpeg")
    #expect(back.retryWithin == .seconds(10))
    #expect(read.hash.count == 64)
  }

  @Test func `takes every step of this version`() throws {
    let read = try scenario(
      steps: """
          - arrange: locked
          - request: POST /x?who={name}
            headers: {X-Kind: "{ios}", Accept: text/plain}
            body: '{"a": 1}'
            token: wrong
            deadline: 5s
            expect:
              status: 401
              json: {"cameras[0]": {one-of: [front, back]}, a.b: null, c: {exists: false}, d: {matches: "^x", contains: y}}
              header: {Allow: POST, X-Count: 010}
              size: {min: 10}
            retry-within: 1500ms
          - request: GET /hello
            expect: {answer: refused, within: 1s}
          - start: one
            request: GET /slow
            token: none
          - finish: one
          - until: {lock: unlocked}
            within: 3s
            every: 1s
          - launch: {arguments: [-v], environment: {A: b}, fresh: true}
          - launch:
          - lock: locked
            within: 2s
          - door: silent
            for: 5s
          - wait: 2s
        """, recovers: "  - door: answers\n    within: 60s")

    #expect(read.steps.count == 11)
    guard case .request(let request) = read.steps[1].action else { throw Trouble("\(read.steps[1])") }
    #expect(
      request.headers == [NamedText(name: "X-Kind", text: "{ios}"), NamedText(name: "Accept", text: "text/plain")])
    #expect(request.body == "{\"a\": 1}")
    #expect(request.token == .wrong)
    #expect(request.deadline == .seconds(5))
    #expect(request.retryWithin == .milliseconds(1_500))
    #expect(request.expectation.size == 10...Int.max)
    #expect(
      request.expectation.json.map(\.matcher) == [
        .oneOf(["front", "back"]), .equals(.null), .exists(false), .all([.matches("^x"), .contains("y")]),
      ])
    // A header's value is text as it is written.
    #expect(request.expectation.headers.map(\.matcher) == [.equals("POST"), .equals("010")])
    #expect(
      read.steps[5].action == .until(UntilStep(condition: .lock(.unlocked), within: .seconds(3), every: .seconds(1))))
    #expect(read.steps[7].action == .launch(LaunchStep()))
    #expect(read.steps[9].action == .door(DoorStep(answers: false, within: nil, throughout: .seconds(5))))
  }

  @Test func `H51: hands texts on as they are typed`() throws {
    let read = try scenario(
      steps:
        "  - launch: {environment: {FLAG: YES, COUNTRY: NO, MODE: on, LEVEL: 010, RATE: 1e3}, arguments: [true, ~]}")

    guard case .launch(let launch) = read.steps[0].action else { throw Trouble("\(read.steps[0])") }
    #expect(launch.environment.map(\.name) == ["FLAG", "COUNTRY", "MODE", "LEVEL", "RATE"])
    #expect(launch.environment.map(\.text) == ["YES", "NO", "on", "010", "1e3"])
    #expect(launch.arguments == ["true", "~"])
  }

  @Test func `H51: takes true and false only where it wants one of them`() {
    #expect(
      refusal("scenario: x\nsteps:\n  - launch: {fresh: yes}\n") == [
        "3:21: 'yes' is neither true nor false, the only two words taken here"
      ])
  }

  @Test func `H52: is refused for a key that stands twice, naming both lines`() {
    let text =
      "scenario: x\nsteps:\n  - request: GET /a\n    expect: {status: 200}\n    expect: {status: 201}\nsteps: []\n"

    #expect(
      refusal(text) == [
        "5:5: 'expect' stands here and already in line 4; a key may stand once",
        "6:1: 'steps' stands here and already in line 2; a key may stand once",
      ])
  }

  @Test func `H53: has its name also behind a byte order mark`() throws {
    let bytes = [0xEF, 0xBB, 0xBF] + Array("scenario: smoke\nsteps:\n  - request: GET /hello\n".utf8)

    #expect(try ScenarioFile.parse(bytes, file: "f").name == "smoke")
  }

  @Test func `H54: means the same with CR LF`() throws {
    let text = "scenario: x\nabout: |\n  one\n  two\nsteps:\n  - request: GET /hello\n"

    var windows = try scenario(text.replacing("\n", with: "\r\n"))

    windows.hash = try scenario(text).hash
    #expect(windows == (try scenario(text)))
    #expect(windows.steps.count == 1)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var text: String
    var sentences: [String]
    init(_ text: String, _ sentences: String...) {
      self.text = text
      self.sentences = sentences
    }
    var testDescription: String { text.replacing("\n", with: "⏎") }

    /// The text is the third line: a step.
    static func step(_ text: String, _ sentences: String...) -> Refused {
      var row = Refused("scenario: x\nsteps:\n  - \(text)\n")
      row.sentences = sentences
      return row
    }
  }

  @Test(arguments: [
    Refused("- a\n", "1:1: a scenario is a mapping of keys and values, not a list"),
    Refused("scenario: x\n", "1:1: a scenario needs 'steps'"),
    Refused("steps:\n  - wait: 1s\n", "1:1: a scenario needs 'scenario'"),
    Refused("scenario: x\nsteps: []\n", "2:8: steps is empty; it needs at least one step"),
    Refused("scenario: x\nsteps:\n", "2:7: steps is a list of steps, not nothing"),
    Refused("scenario: x\nsteps: {wait: 1s}\n", "2:8: steps is a list of steps, not a mapping"),
    Refused(
      "scenario: x\nstep:\n  - wait: 1s\n", "2:1: 'step' is no key of a scenario; 'steps' is meant?"),
    Refused(
      "scenario: x\nneeds: [unlockd, rebooted, camera-granted]\nsteps:\n  - wait: 1s\n",
      "2:9: 'unlockd' is not known here; 'unlocked' is meant?",
      "2:18: rebooted takes the app out of service, so the scenario needs 'recovers', which shows that it is back"),
    Refused(
      "scenario: x\nsteps:\n  - wait: 1s\nrecovers: []\n", "4:11: recovers is empty; it needs at least one step"),
    Refused(
      "scenario: x\nsteps:\n  - wait: 1s\n  - arrange: in-background\n",
      "4:5: in-background takes the app out of service, so the scenario needs 'recovers', which shows that it is back"),
    Refused(
      "scenario: x\nquarantine: {until: 2026-13-01, on: []}\nsteps:\n  - wait: 1s\n",
      "2:13: quarantine needs 'reason'", "2:21: '2026-13-01' is no day; one is written 2026-12-20",
      "2:37: on is empty; leave it out where the fault is known on every body"),
    Refused(
      "scenario: x\nquarantine: {reason: y, until: soon, on: []}\nsteps:\n  - wait: 1s\n",
      "2:32: 'soon' is no day; one is written 2026-12-20",
      "2:42: on is empty; leave it out where the fault is known on every body"),
    Refused(
      "scenario: x\nabout: Still: asked\nsteps:\n  - wait: 1s\n",
      "2:13: not YAML: mapping values are not allowed in this context; put quotes around a text with ': '"),
    Refused(
      "scenario: x\nabout: {name} waits\nsteps:\n  - wait: 1s\n",
      "2:15: not YAML while parsing a block mapping: did not find expected key; "
        + "put quotes around a text with { } or ': '"),
    Refused(
      "scenario: x\nabout: {name}\nsteps:\n  - wait: 1s\n",
      "2:8: a text is expected here, not a mapping; put quotes around a text that begins with { or ["),
    .step("wait 1s", "3:5: a step is a mapping such as 'request: GET /hello', not a text"),
    .step(
      "{}", "3:5: a step is empty; it does one of: \(everyKind)"),
    .step("reqest: GET /hello", "3:5: 'reqest' is no step; 'request' is meant?"),
    .step(
      "shake: hard",
      "3:5: 'shake' is no step; a step does one of: \(everyKind)"),
    .step("screen: {band: blue}", "3:20: 'blue' is no colour that is looked for; the band is red"),
    .step("screen: {band: red, no-band: red}", "3:25: 'no-band' stands beside 'band'; a step looks for one of them"),
    .step(
      "screen: {}",
      "3:13: there is nothing to look for here; write {none: …} or {some: …}, {band: red} or {no-band: red}"),
    .step("repeat: 3\n    steps: []", "4:12: steps is empty; it needs at least one step"),
    .step("repeat: 0\n    steps: [wait: 1s]", "3:13: 0 is not in 1 to 1000"),
    .step("repeat: 3", "3:5: 'repeat' needs 'steps'"),
    .step("for-each: {camera: [front]}", "3:5: 'for-each' needs 'steps'"),
    .step(
      "for-each: {camera: []}\n    steps: [wait: 1s]", "3:24: 'camera' has no values; the steps would not be run at all"
    ),
    .step("for-each: {name: [a]}\n    steps: [wait: 1s]", "3:16: 'name' has a meaning already; call it something else"),
    .step(
      "for-each: {camera: [front, back]}\n    steps: [{request: 'GET /{camra}'}]",
      "4:23: {camra} has no value here; a text can use {name}, {udid}, {ios}, {scenario}, the names of a for-each around it, and those of --var"
    ),
    .step(
      "for-each: {camera: [front, back]}\n    steps: [wait: \"{camera}\"]",
      "4:19: 'front' is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d",
      "4:19: 'back' is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d"),
    .step(
      "start: clip\n    request: GET /x\n  - repeat: 2\n    steps: [finish: clip]\n  - finish: clip",
      "6:13: 'clip' was started outside of these steps; finish it where it was started"),
    .step("operator: 'Unlock {nme}'", "3:15: {nme} has no value here; {name} is meant?"),
    .step("operator: Unlock it\n    within: 5s", "4:5: 'within' does not go with 'operator'"),
    .step("revive: lockd", "3:13: 'lockd' is no outcome; 'locked' is meant?"),
    .step("revive: locked/passcod", "3:13: 'passcod' is no reason of locked; 'passcode' is meant?"),
    .step("revive: up/hands", "3:13: 'hands' is no reason of up; it has none"),
    .step(
      "app: {absent: X}", "3:19: a list of texts is expected here, not a text"),
    .step("files: {none: tmp/}", "3:19: 'tmp/' is no path in the app's container; one is written tmp/clip-*.mov"),
    .step("files: {none: '*/x'}", "3:19: * and ? stand in the last part of a path only: tmp/clip-*.mov"),
    .step("log: {contains: ''}", "3:21: every line holds the empty text; name one that is looked for"),
    .step("command: x", "3:14: a list of texts is expected here, not a text"),
    .step("command: ['']", "3:14: a command is a list of the program and its arguments: [program, argument]"),
    .step("arrange: suspendd", "3:14: 'suspendd' is not known here; 'suspended' is meant?"),
    .step("arrange: in-font", "3:14: 'in-font' is not known here; 'in-front' is meant?"),
    .step("request: GET hello", "3:14: 'GET hello' is no request; one is a method and a path: GET /hello"),
    .step(
      "request: GET /{camera}",
      "3:14: {camera} has no value here; a text can use {name}, {udid}, {ios}, {scenario}, the names of a for-each around it, and those of --var"
    ),
    .step(
      "request: GET /x\n    expct: {status: 200}", "4:5: 'expct' is no key of 'request'; 'expect' is meant?"),
    .step("request: GET /x\n    within: 3s", "4:5: 'within' does not go with 'request'"),
    .step(
      "request: GET /x\n    deadline: 5",
      "4:15: '5' is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d"),
    .step(
      "request: GET /x\n    token: right",
      "4:12: 'right' is not known here; write none or wrong, or leave token out to send the configured one"),
    .step(
      "request: GET /x\n    headers: {'A B': c}",
      "4:14: 'A B' is no header field; names are letters, digits and hyphens, values one line"),
    .step(
      "request: GET /x\n    headers: {A: \"b\\nc\"}",
      "4:14: 'A' is no header field; names are letters, digits and hyphens, values one line"),
    .step("request: GET /x\n    expect: {}", "4:13: expect is empty; it names what must be true of the answer"),
    .step("request: GET /x\n    expect: {status: ok}", "4:22: 'ok' is no whole number"),
    .step("request: GET /x\n    expect: {status: 99}", "4:22: 99 is not in 100 to 599"),
    .step("request: GET /x\n    expect: {type: jpeg}", "4:20: 'jpeg' is no media type; one is written image/jpeg"),
    .step(
      "request: GET /x\n    expect: {jpeg: {exif: yes}}",
      "4:27: 'yes' is neither true nor false, the only two words taken here"),
    .step("request: GET /x\n    expect: {jpeg: {}}", "4:20: jpeg is empty; it names one of: exif, gps, width, height"),
    .step(
      "request: GET /x\n    expect: {jpeg: {width: {min: 5, max: 4}}}",
      "4:28: the range can never be: min 5 is over max 4"),
    .step("request: POST /x\n    body: 'for {nam}'", "4:11: {nam} has no value here; {name} is meant?"),
    .step(
      "request: GET /x\n    expect: {answer: late}",
      "4:22: 'late' is not known here; it is one of: refused, none, closed"),
    .step(
      "request: GET /x\n    expect: {answer: none, status: 200}",
      "4:28: 'status' cannot be true of no answer; 'answer' stands alone"),
    .step("request: GET /x\n    expect: {size: {min: 5, max: 4}}", "4:20: size can never be: min 5 is over max 4"),
    .step(
      "request: GET /x\n    expect: {json: {a..b: 1}}",
      "4:21: 'a..b' is no path; one is written grants.camera or cameras[0]"),
    .step(
      "request: GET /x\n    expect: {json: {a: {contain: b}}}",
      "4:25: 'contain' is no key of an expected value; 'contains' is meant?"),
    .step(
      "request: GET /x\n    expect: {json: {a: {exists: no}}}",
      "4:33: 'no' is neither true nor false, the only two words taken here"),
    .step("request: GET /x\n    expect: {json: {a: {matches: '['}}}", "4:34: '[' is no regular expression"),
    .step("request: GET /x\n    expect: {json: {a: {one-of: b}}}", "4:33: one-of is a list of values, not a text"),
    .step("start: clip\n    request: GET /x", "3:5: 'clip' is started and never finished; add: finish: clip"),
    .step("start: clip", "3:5: 'start' needs 'request'"),
    .step(
      "start: clip\n    request: GET /x\n    expect: {status: 200}\n  - finish: clip",
      "5:5: 'expect' does not go with 'start'"),
    .step("finish: clip", "3:5: nothing called 'clip' was started before"),
    .step(
      "start: clip\n    request: GET /x\n  - finish: clp\n  - finish: clip",
      "5:5: nothing called 'clp' was started before; 'clip' is meant?"),
    .step("start: clip\n    request: GET /x\n  - finish: clip\n  - finish: clip", "6:5: 'clip' was finished already"),
    .step("until: {request: GET /x}", "3:5: 'until' needs 'within'"),
    .step(
      "until: {request: GET /x, retry-within: 1s}\n    within: 1s",
      "3:30: 'retry-within' is no key of until; its keys are: request, headers, body, token, deadline, expect, lock"),
    .step(
      "until: {lock: unlocked, request: GET /x}\n    within: 1s",
      "3:29: 'request' is no key of until: {lock: …}; its keys are: lock"),
    .step(
      "request: GET /x\n    headers: {Content-Length: 5}",
      "4:14: the header Content-Length is set by fleetctl itself; leave it out"),
    .step(
      "request: GET /früh",
      "3:14: 'GET /früh' is no request; one is a method and a path: GET /hello. "
        + "Letters outside ASCII are written %C3%BC in it"),
    .step("launch: {environment: {A=B: c}}", "3:27: 'A=B' is no name of an environment variable"),
    .step("lock: open", "3:11: 'open' is no state of the lock; write locked or unlocked"),
    .step("lock: unknown", "3:11: 'unknown' is no state of the lock; write locked or unlocked"),
    .step("door: open", "3:11: 'open' is nothing that the door does; write answers or silent"),
    .step("launch: now", "3:13: launch is a mapping of keys and values, not a text"),
    .step("wait: -1s", "3:11: '-1s' is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d"),
  ])
  func `is refused with place and meaning, all problems at once`(_ row: Refused) {
    #expect(refusal(row.text) == row.sentences)
  }

  @Test func `is never empty of steps by mistake`() {
    #expect(refusal("scenario: x\nsteps: [wait: 1s]\n") == [])
    #expect(refusal("") == ["1:1: the file is empty"])
  }
}
