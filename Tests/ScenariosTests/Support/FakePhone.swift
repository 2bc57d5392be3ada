import DeviceBridge
import Fleet
import Transport
import Wire

@testable import Scenarios

/// A link to a phone that is what the test says; nothing is at its other end.
final class FakePhone: PhoneLink {
  struct State: Sendable {
    var lock = LockState.unlocked
    var active = true
    var grant = "authorized"
    var error: PhoneError?
    /// What a launch ends as; nil brings the app to the front, or puts it behind the decoy.
    var launchError: PhoneError?
    var installed = true
    /// Answers in place of the usual ones, by method and target; the last one stays.
    var answers: [String: [DoorAnswer.Ending]] = [:]
    var log: [String] = []
    var requests: [DoorRequest] = []
    var launches: [LaunchRequest] = []
    var isClosed = false
  }

  let udid: UDID
  let state: Guarded<State>
  /// Called with each request before it is answered; may wait. The result is how long the answer took.
  private let before: @Sendable (DoorRequest) async -> Duration

  init(
    udid: String = "00008110-000A1B2C3D4E5F60", _ change: (inout State) -> Void = { _ in },
    before: @escaping @Sendable (DoorRequest) async -> Duration = { _ in .zero }
  ) {
    self.udid = UDID(udid)
    self.before = before
    var initial = State()
    change(&initial)
    state = Guarded(initial)
  }

  var log: [String] { state.with { $0.log } }
  private func note(_ text: String) { state.with { $0.log.append(text) } }

  func facts(by deadline: Deadline) async -> PhoneFacts {
    state.with { state in
      var facts = PhoneFacts()
      facts.error = state.error
      facts.model = state.error == nil ? "iPhone12,1" : nil
      facts.ios = state.error == nil ? "16.7" : nil
      return facts
    }
  }

  func lock(by deadline: Deadline) async -> LockReading {
    state.with { LockReading(state: $0.lock, why: $0.lock == .unknown ? "the session broke" : "the phone says so") }
  }

  func app(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> InstalledApp? {
    guard state.with({ $0.installed }) else { return nil }
    return InstalledApp(bundle: bundle, info: ["CFBundleShortVersionString": "3.2.0", "CFBundleVersion": "412"])
  }

  func isRunning(executable: String, by deadline: Deadline) async throws(PhoneError) -> Bool { true }

  func launch(_ request: LaunchRequest, by deadline: Deadline) async throws(PhoneError) {
    note("launch \(request.bundle)")
    let error = state.with { state in
      state.launches.append(request)
      if state.launchError == nil { state.active = request.bundle == "com.example.kiosk" }
      return state.launchError
    }
    if let error { throw error }
  }

  func connect(port: UInt16, by deadline: Deadline) async throws(PhoneError) -> any ByteStream { throw .ended(udid) }

  func request(_ request: DoorRequest) async -> DoorAnswer {
    let took = await before(request)
    let line = "\(request.method) \(request.target)"
    let ending = state.with { state -> DoorAnswer.Ending in
      state.requests.append(request)
      if let error = state.error { return .unreachable(error) }
      if var script = state.answers[line], let first = script.first {
        if script.count > 1 { script.removeFirst() }
        state.answers[line] = script
        return first
      }
      return Self.usual(line, state)
    }
    return DoorAnswer(ending: ending, took: took)
  }

  func close() { state.with { $0.isClosed = true } }

  private static func usual(_ line: String, _ state: State) -> DoorAnswer.Ending {
    switch line {
    case "GET /hello": json(200, ["ok": true, "active": .boolean(state.active)])
    case "GET /status":
      json(
        200, ["active": .boolean(state.active), "grants": ["camera": .string(state.grant)], "capturing": nil])
    case "POST /photo?camera=front":
      state.active ? picture : json(409, ["error": "the app is not in front"])
    default: json(404, ["error": "there is nothing here"])
    }
  }

  static func json(_ status: Int, _ body: JSON) -> DoorAnswer.Ending {
    answer(status, "application/json", Array(body.line.utf8))
  }

  static func answer(_ status: Int, _ type: String, _ body: [UInt8]) -> DoorAnswer.Ending {
    var message = HTTPMessage()
    message.status = status
    message.headers = [("Content-Type", type)]
    message.body = body
    return .response(message)
  }

  /// Begins as a JPEG does, and could be found in any output that it must not be in.
  static let picture = answer(200, "image/jpeg", [0xFF, 0xD8, 0xFF, 0xE0] + Array("SECRETPIXELS".utf8))
}

/// A clock that stands still until somebody sleeps, and then is there.
final class TestClock: ScenarioClock {
  private let time = Guarded(Duration.zero)
  private let asked = Guarded<[Duration]>([])

  var now: Duration { time.with { $0 } }
  /// The spans that became deadlines, in order.
  var deadlines: [Duration] { asked.with { $0 } }

  func advance(by span: Duration) { time.with { $0 += span } }
  func span(ofHost span: Duration) -> Duration { span }

  func sleep(for span: Duration) async throws {
    try Task.checkCancellation()
    advance(by: span)
    await Task.yield()
  }

  func deadline(after span: Duration) -> Deadline {
    asked.with { $0.append(span) }
    return .never
  }
}

/// A lab whose commands do what the test says.
final class FakeLab: LabMeans {
  private let commands = Guarded<[LabCommand]>([])
  private let act: @Sendable (LabCommand) async -> LabOutcome.Ending

  init(_ act: @escaping @Sendable (LabCommand) async -> LabOutcome.Ending = { _ in .exited(0) }) { self.act = act }

  /// The commands that were run, their words joined.
  var log: [String] { commands.with { $0.map { $0.argv.joined(separator: " ") } } }
  var last: LabCommand? { commands.with { $0.last } }

  func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome {
    commands.with { $0.append(command) }
    return LabOutcome(ending: await act(command), output: "lamp broken\n")
  }
}

/// A person who does what the test says.
final class FakeOperator: Operator {
  private let asked = Guarded<[String]>([])
  private let act: @Sendable (String) -> Bool
  init(_ act: @escaping @Sendable (String) -> Bool) { self.act = act }
  var log: [String] { asked.with { $0 } }

  func ask(_ sentence: String, about body: Body, by deadline: Deadline) async -> Bool {
    asked.with { $0.append(sentence) }
    return act(sentence)
  }
}

/// A run against fake phones, with everything that came of it.
struct Stage {
  var clock = TestClock()
  var lab = FakeLab()
  var attendant: FakeOperator?
  var configuration: FleetConfiguration
  var options = ScenarioRun.Options(number: 7, version: "1.0")
  var names: [String: String] = ["00008110-000A1B2C3D4E5F60": "hall"]

  init() {
    configuration = FleetConfiguration()
    configuration.app.bundle = "com.example.kiosk"
    options.wallClock = { "2026-11-30T12:00:00.000Z" }
    options.today = CalendarDay("2026-11-30") ?? .today()
  }

  func body(_ phone: FakePhone, attached: Bool = true) -> Body {
    let entry = BodyEntry(udid: phone.udid, name: names[phone.udid.description], under: configuration)
    let listed = ListedPhone(
      udid: phone.udid, serial: phone.udid.description, deviceID: 1, transport: .usb, alsoNetwork: false)
    return Body(entry, phone: attached ? listed : nil)
  }

  func prepared(
    _ scenarios: [Scenario], on phones: [FakePhone], change: (inout Body) -> Void = { _ in },
    _ emit: @escaping @Sendable (RunEvent) -> Void
  ) -> ScenarioRun {
    var options = options
    options.clock = clock
    options.attendant = attendant
    let bodies = phones.map { phone in
      var body = body(phone)
      change(&body)
      return body
    }
    return ScenarioRun(
      scenarios: scenarios, bodies: bodies, options: options, lab: lab,
      connect: { listed in phones.first { $0.udid == listed.udid } ?? phones[0] }, emit: emit)
  }

  func run(
    _ scenarios: [Scenario], on phones: FakePhone..., change: (inout Body) -> Void = { _ in }
  ) async -> Seen {
    let events = Guarded<[RunEvent]>([])
    let run = prepared(scenarios, on: phones, change: change) { event in events.with { $0.append(event) } }
    let result = await run.run()
    return Seen(result: result, events: events.with { $0 })
  }
}

struct Seen {
  var result: ScenarioRun.Result
  var events: [RunEvent]

  var steps: [StepFinished] {
    events.compactMap { if case .stepFinished(let event) = $0.happening { event } else { nil } }
  }
  var finished: [ScenarioFinished] {
    events.compactMap { if case .scenarioFinished(let event) = $0.happening { event } else { nil } }
  }
  var verdict: Verdict? { finished.last?.verdict }
  var message: String? { finished.last?.message }
  var lines: [String] { events.map(\.json.line) }
}
