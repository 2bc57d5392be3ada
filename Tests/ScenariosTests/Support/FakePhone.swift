import DeviceBridge
import Fleet
import Transport
import Wire

@testable import Scenarios

/// A link to a phone that is what the test says; nothing is at its other end.
final class FakePhone: ScenarioLink {
  struct State: Sendable {
    var lock = LockState.unlocked
    var active = true
    var grant = "authorized"
    var error: PhoneError?
    /// What a launch ends as; nil brings the app to the front, or puts it behind the decoy.
    var launchError: PhoneError?
    var installed = true
    var isRunning = true
    /// What the kernel does to the app's process; a stopped one's door is mute.
    var isStopped = false
    /// What stopping, going on and ending it end as.
    var processError: PhoneError?
    /// Keys of the build's Info dictionary, beside its version.
    var info: [String: Plist] = [:]
    /// Names by folder of the app's container.
    var files: [String: [String]] = [:]
    /// Lines that its log says next.
    var logLines: [LogRecord] = []
    var logError: PhoneError?
    var screen: Result<Picture, PhoneError> = .failure(.absent(UDID("x")))
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
    let info: [String: Plist] = [
      "CFBundleShortVersionString": "3.2.0", "CFBundleVersion": "412", "CFBundleExecutable": "Kiosk",
    ]
    return InstalledApp(bundle: bundle, info: info.merging(state.with { $0.info }) { $1 })
  }

  func isRunning(executable: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    state.with { $0.isRunning }
  }

  func suspend(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try process("suspend \(bundle)") { $0.isStopped = true }
  }

  func resume(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try process("resume \(bundle)") { $0.isStopped = false }
  }

  func kill(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try process("kill \(bundle)") { $0.isRunning = false }
  }

  private func process(_ deed: String, _ change: (inout State) -> Void) throws(PhoneError) -> Bool {
    note(deed)
    let (error, was) = state.with { state in
      let was = state.isRunning
      if state.processError == nil { change(&state) }
      return (state.processError, was)
    }
    if let error { throw error }
    return was
  }

  func files(in folder: String, of bundle: String, by deadline: Deadline) async throws(PhoneError) -> [AppFile]? {
    state.with { state in
      state.files[folder]?.map { AppFile(name: $0, kind: .file, size: 1, modified: nil) }
    }
  }

  func screen(by deadline: Deadline) async throws(PhoneError) -> Picture { try state.with { $0.screen }.get() }

  /// Says the lines of `logLines`, and goes on until it is cancelled.
  func readLog(
    openedBy deadline: Deadline, opened: @Sendable () -> Void, take: @Sendable (LogRecord) -> Void
  ) async throws(PhoneError) {
    if let error = state.with({ $0.logError }) { throw error }
    opened()
    while !Task.isCancelled {
      let lines = state.with { state in
        defer { state.logLines = [] }
        return state.logLines
      }
      for line in lines { take(line) }
      try? await ContinuousClock().sleep(for: .milliseconds(5))
    }
  }

  func launch(_ request: LaunchRequest, by deadline: Deadline) async throws(PhoneError) {
    note("launch \(request.bundle)")
    let error = state.with { state in
      state.launches.append(request)
      if state.launchError == nil {
        state.active = request.bundle == "com.example.kiosk"
        if state.active { (state.isRunning, state.isStopped) = (true, false) }
      }
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
      if !state.isRunning { return .refused }
      if state.isStopped { return .silent(received: 0, detail: "no byte came") }
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
  /// The host's time that a sleep takes, for what goes on beside it.
  private let resting: Duration?

  init(resting: Duration? = nil) { self.resting = resting }

  var now: Duration { time.with { $0 } }
  /// The spans that became deadlines, in order.
  var deadlines: [Duration] { asked.with { $0 } }

  func advance(by span: Duration) { time.with { $0 += span } }
  func span(ofHost span: Duration) -> Duration { span }

  func sleep(for span: Duration) async throws {
    try Task.checkCancellation()
    advance(by: span)
    if let resting { try await ContinuousClock().sleep(for: resting) } else { await Task.yield() }
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
