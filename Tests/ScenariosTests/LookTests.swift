import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

/// A screen of one colour with a stripe across its top, as an old phone sends it.
private func screen(width: Int = 40, height: Int = 100, stripe: Int, _ colour: [UInt8], inset: Int = 0) throws
  -> Picture
{
  func big(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  var pixels: [UInt8] = []
  for y in 0..<height {
    for x in 0..<width {
      let isStripe = y < stripe && x >= inset && x < width - inset
      // White type stands in the middle of a band.
      let isType = isStripe && y == stripe / 2 && (15..<25).contains(x)
      pixels += isType ? [255, 255, 255] : isStripe ? colour : [30, 30, 60]
    }
  }
  let (bits, directory) = (8 + pixels.count, 8 + pixels.count + 6)
  let entries: [(tag: UInt16, type: UInt16, count: Int, value: Int)] = [
    (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8),
    (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, pixels.count),
  ]
  var bytes = Array("MM".utf8) + [0, 42] + big(UInt32(directory)) + pixels + [0, 8, 0, 8, 0, 8]
  bytes += big(UInt16(entries.count))
  for entry in entries {
    bytes += big(entry.tag) + big(entry.type) + big(UInt32(entry.count))
    bytes += entry.type == 3 && entry.count == 1 ? big(UInt16(entry.value)) + [0, 0] : big(UInt32(entry.value))
  }
  return try #require(Picture(bytes + [0, 0, 0, 0]))
}

private let red: [UInt8] = [219, 26, 31]

@Suite struct `a look at the phone` {
  private let stage = Stage()

  private func run(_ step: String, _ change: (inout FakePhone.State) -> Void) async throws -> Seen {
    await stage.run([try scenario(steps: step)], on: FakePhone(change))
  }

  @Test func `finds keys of the build that are there, are not, and hold a text`() async throws {
    let step = """
        - app:
            absent: [UIBackgroundModes, Other]
            present: [NSCameraUsageDescription]
            contains: {NSCameraUsageDescription: Nothing is kept, List: two}
      """

    let good = try await run(step) {
      $0.info = ["NSCameraUsageDescription": "Looks. Nothing is kept.", "List": ["one", "two"]]
    }
    let bad = try await run(step) { $0.info = ["UIBackgroundModes": ["audio"], "List": ["one"]] }
    let gone = try await run(step) { $0.installed = false }

    #expect(good.verdict == .passed)
    #expect(
      bad.message
        == "expected no UIBackgroundModes, NSCameraUsageDescription, NSCameraUsageDescription containing 'Nothing is kept', "
        + "List containing 'two'; came UIBackgroundModes is [audio], no NSCameraUsageDescription, "
        + "NSCameraUsageDescription is absent, List is [one] in com.example.kiosk 3.2.0 (412)")
    #expect(gone.message == "expected com.example.kiosk installed; came it is not")
  }

  @Test(
    arguments: [
      ("{none: 'tmp/clip-*.mov'}", ["clip.mov", "clap-1.mov"], nil),
      ("{none: 'tmp/clip-*.mov'}", ["clip-1.mov"], "expected no file tmp/clip-*.mov; came 1: clip-1.mov"),
      ("{some: 'tmp/clip-?.mov'}", ["clip-1.mov", "clip-12.mov"], nil),
      ("{some: 'tmp/clip-?.mov'}", ["clip-12.mov"], "expected a file tmp/clip-?.mov; came none"),
      ("{none: 'gone/*'}", [], nil),
    ] as [(String, [String], String?)])
  func `finds files by their names`(_ look: String, _ names: [String], _ message: String?) async throws {
    let seen = try await run("  - files: \(look)") { $0.files["tmp"] = names }

    #expect(seen.message == message)
  }

  @Test(arguments: [
    ("*", "anything", true), ("a*b", "ab", true), ("a*b", "axxb", true), ("a*b", "axxc", false), ("?", "", false),
    ("a?c", "abc", true), ("*.mov", ".mov", true), ("**x*", "yxz", true), ("a*a*b", "aab", true), ("", "", true),
    ("", "x", false), ("a*", "ba", false),
  ])
  func `takes stars and question marks in a name`(_ pattern: String, _ name: String, _ fits: Bool) {
    #expect(Glob.matches(name, pattern) == fits)
  }

  @Test func `sees the red band, its height and its colour`() async throws {
    let up = try screen(stripe: 8, red)
    let down = try screen(stripe: 0, red)

    let seen = try await run("  - screen: {band: red}") { $0.screen = .success(up) }
    let unseen = try await run("  - screen: {band: red}") { $0.screen = .success(down) }

    #expect(seen.verdict == .passed)
    #expect(
      seen.steps[0].came
        == "8 of 100 rows red from side to side, up to 40 of 40 pixels wide, mean sRGB 0.86 0.10 0.12 (accepted: full "
        + "width, 2 to 25 % of the height, sRGB 0.76–0.96 0.00–0.22 0.02–0.24)")
    #expect(
      unseen.message?.hasPrefix(
        "expected the red band at the top of the screen; came 0 of 100 rows red from side to side, up to 0 of 40 pixels "
          + "wide, mean sRGB 0.12 0.12 0.24 (accepted: ") == true)
  }

  @Test func `takes no other stripe for the band, and says of the whole screen that it is no band either`() async throws
  {
    let green = try screen(stripe: 8, [26, 219, 31])
    let narrow = try screen(stripe: 8, red, inset: 4)
    let everything = try screen(stripe: 100, red)

    for picture in [green, narrow, everything] {
      let seen = try await run("  - screen: {band: red}") { $0.screen = .success(picture) }
      #expect(seen.verdict == .failed, "\(picture)")
    }
    let gone = try await run("  - screen: {no-band: red}") { $0.screen = .success(green) }
    let still = try await run("  - screen: {no-band: red}") { $0.screen = .success(everything) }
    #expect(gone.verdict == .passed)
    #expect(still.verdict == .failed)
  }

  @Test func `is skipped where the phone gives no picture of its screen`() async throws {
    let seen = try await run("  - screen: {band: red}") {
      $0.screen = .failure(.launchRefused(UDID("x"), .notOnThisIOS, detail: ""))
    }

    #expect(seen.verdict == .skipped)
    #expect(seen.message?.hasPrefix("needs a picture of the screen, but: ") == true)
  }

  @Test func `finds a line in the log since the scenario began, and says when there is none`() async throws {
    let box = Guarded<(phone: FakePhone?, line: String)>((nil, "old: ready"))
    let phone = FakePhone(before: { _ in
      let (phone, line) = box.with { $0 }
      phone?.state.with { $0.logLines = [LogRecord(text: line)] }
      return .zero
    })
    box.with { $0.phone = phone }
    let plan = try scenario(steps: "  - request: GET /hello\n  - log: {contains: 'ready on {name}'}\n    within: 3s")
    var stage = stage
    // The log's own reader needs real time.
    stage.clock = TestClock(resting: .milliseconds(5))

    let silent = await stage.run([plan], on: phone)
    box.with { $0.line = "Kiosk[9] ready on hall\u{1B}[31m" }
    let found = await stage.run([plan], on: phone)

    #expect(silent.message == "expected a line in the phone's log with 'ready on hall', within 3 s; came at last none")
    #expect(found.steps[1].came == "Kiosk[9] ready on hall\u{FFFD}[31m")
  }

  @Test func `is an error where the log cannot be read`() async throws {
    let seen = try await run("  - log: {contains: x}") { $0.logError = .absent(UDID("x")) }

    #expect(seen.verdict == .error)
    #expect(seen.message?.hasPrefix("the phone's log is not read: Phone x is not on the bus.") == true)
  }

  @Test func `runs a command of the lab, whose failure is no fault of the app's`() async throws {
    var stage = stage
    stage.lab = FakeLab { $0.argv[0] == "good" ? .exited(0) : .exited(2) }

    let good = await stage.run([try scenario(steps: "  - command: [good, '{udid}']")], on: FakePhone())
    let bad = await stage.run([try scenario(steps: "  - command: [bad]")], on: FakePhone())

    #expect(good.verdict == .passed)
    #expect(good.steps[0].came == "lamp broken")
    #expect(good.steps[0].deeds == ["$ good 00008110-000A1B2C3D4E5F60", "  lamp broken"])
    #expect(bad.verdict == .error)
    #expect(bad.message == "the command 'bad' ended with 2: lamp broken")
  }

  @Test func `asks the operator, and is skipped before anything where nobody stands by`() async throws {
    let plan = try scenario(
      steps: "  - arrange: in-background\n  - operator: Look at {name}", recovers: "  - door: answers")
    var stage = stage
    let phone = FakePhone()

    let alone = await stage.run([plan], on: phone)
    #expect(phone.log == [])
    let person = FakeOperator { _ in true }
    stage.attendant = person
    let attended = await stage.run([plan], on: phone)

    #expect(alone.verdict == .skipped)
    #expect(alone.message == "line 4 asks the operator, and nobody stands by. Run with --attended")
    #expect(attended.verdict == .passed)
    #expect(person.log == ["Look at hall"])
  }

  @Test func `revives, and holds the outcome against what was expected`() async throws {
    let plan = { (outcome: String) in try scenario(steps: "  - revive: \(outcome)") }
    let locked = FakePhone {
      $0.isRunning = false
      $0.lock = .locked
    }
    var stage = stage
    stage.configuration.hands.port = nil

    let up = await stage.run([try plan("up")], on: FakePhone())
    let revived = await stage.run([try plan("revived")], on: FakePhone { $0.isRunning = false })
    let kept = await stage.run([try plan("locked/passcode")], on: locked)
    let wrong = await stage.run([try plan("revived")], on: locked)
    let broken = await stage.run([try plan("up")], on: FakePhone { $0.error = .absent(UDID("x")) })

    #expect(up.verdict == .passed && revived.verdict == .passed && kept.verdict == .passed)
    #expect(locked.log == [])
    #expect(wrong.verdict == .failed)
    #expect(wrong.message?.hasPrefix("expected the outcome revived; came locked/passcode: ") == true)
    #expect(broken.verdict == .error)
  }

  @Test func `repeats steps, and runs them for each value with its name filled in`() async throws {
    let phone = FakePhone()
    let plan = try scenario(
      steps: """
          - repeat: 2
            steps:
              - request: GET /hello
          - for-each: {camera: [front, back], "n": [100, 201]}
            steps:
              - start: one
                request: POST /photo?camera={camera}
              - finish: one
                expect: {status: "{n}"}
        """)

    #expect(plan.steps.map(\.line) == [5, 5, 8, 10, 8, 10, 8, 10, 8, 10])
    let seen = await stage.run([plan], on: phone)

    // The first status that is expected is 100.
    #expect(seen.verdict == .failed)
    #expect(seen.message?.hasPrefix("expected status 100; came status 200") == true)
    #expect(phone.state.with { $0.requests.map(\.target) } == ["/hello", "/hello", "/photo?camera=front"])
  }

  @Test func `judges a request that is started again under its old name by its own finish`() async throws {
    let plan = try scenario(
      steps: """
          - start: one
            request: GET /hello
          - finish: one
            expect: {status: 200}
          - start: one
            request: GET /nothing
          - finish: one
            expect: {status: 404}
        """)

    #expect(await stage.run([plan], on: FakePhone()).finished.map(\.message) == [nil])
  }

  @Test func `fills in what --var gave, and knows no name without it`() throws {
    let text = "scenario: x\nsteps:\n  - request: POST /photo?camera={camera}\n    deadline: '{limit}'\n"

    let read = try ScenarioFile.parse(Array(text.utf8), file: "f", variables: ["camera": "back", "limit": "3s"])

    guard case .request(let step) = read.steps[0].action else { throw Trouble("\(read.steps)") }
    #expect(step.line.target == "/photo?camera=back" && step.deadline == .seconds(3))
    #expect(throws: Problems.self) { try ScenarioFile.parse(Array(text.utf8), file: "f") }
  }
}

@Suite struct `a JPEG that is looked at` {
  /// Markers and lengths of a picture; its pixels are nothing.
  private static func jpeg(exif: Bool = true, gps: Bool = true, width: UInt8 = 40, height: UInt8 = 30) -> [UInt8] {
    let tiff: [UInt8] =
      Array("II".utf8) + [42, 0, 8, 0, 0, 0]
      + (gps ? [1, 0, 0x25, 0x88, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0] : [0, 0, 0, 0, 0, 0])
      + [1, 0, 2, 0, 5, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let payload = Array("Exif".utf8) + [0, 0] + tiff
    let app1 = exif ? [0xFF, 0xE1, 0, UInt8(payload.count + 2)] + payload : []
    return [0xFF, 0xD8] + app1 + [0xFF, 0xC0, 0, 11, 8, 0, height, 0, width, 1, 1, 0x11, 0]
      + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 1, 2, 3, 0xFF, 0xD9]
  }

  private func seen(_ expect: String, _ body: [UInt8]) async throws -> Seen {
    await Stage().run(
      [try scenario(steps: "  - request: GET /x\n    expect: {jpeg: \(expect)}")],
      on: FakePhone { $0.answers["GET /x"] = [FakePhone.answer(200, "image/jpeg", body)] })
  }

  @Test func `shows its size, its EXIF and whether that names a place`() async throws {
    let whole = Self.jpeg()

    #expect(try await seen("{exif: true, gps: true, width: 40, height: {min: 20, max: 30}}", whole).verdict == .passed)
    #expect(try await seen("{exif: true, gps: false}", Self.jpeg(gps: false)).verdict == .passed)
    #expect(try await seen("{exif: false}", Self.jpeg(exif: false)).verdict == .passed)
    let wrong = try await seen("{exif: false, gps: false, width: {min: 41}}", whole)
    #expect(
      wrong.message?.hasPrefix(
        "expected exif false, gps false, width 41 to 65535; came exif true, gps true, width 40: status 200, image/jpeg, "
      )
        == true)
  }

  @Test func `is none when it ends early, or is something else`() async throws {
    for body in [Array(Self.jpeg().dropLast()), Array(Self.jpeg().prefix(20)) + [0xFF, 0xD9], Array("hello".utf8), []] {
      let seen = try await seen("{width: 40}", body)
      #expect(seen.message?.contains("the body is no whole JPEG") == true)
    }
  }

  @Test func `never harms whoever looks, whatever its bytes`() {
    var random = SeededRandom(seed: 7)
    let whole = Self.jpeg()
    for _ in 0..<3_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 2..<bytes.count - 2, using: &random)] = UInt8.random(in: 0 ... .max, using: &random)
      }
      if let facts = JPEGFacts(bytes) { #expect(facts.width > 0 && facts.height > 0) }
    }
  }
}
