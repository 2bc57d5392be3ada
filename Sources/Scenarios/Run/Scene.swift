import DeviceBridge
import Fleet
import Transport
import Wire

/// One scenario on one body: what its steps work with.
final class Scene: Sendable {
  let scenario: Scenario
  let body: Body
  let link: any ScenarioLink
  let clock: any ScenarioClock
  let lab: any LabMeans
  let attendant: (any Operator)?
  /// Read once for the scenario; sent, never shown.
  let token: Secret?
  /// What was asked of the door, for the reports.
  let exchanges: ExchangeLog
  /// nil: nobody reads the phone's log.
  let diary: PhoneDiary?
  let stamps: any LaunchStamps
  /// The phone as the mux lists it now; nil where nobody asks it.
  let presence: (@Sendable (Body) async -> ListedPhone?)?
  /// Mounts a missing developer image, where the owner wants that; says why it could not.
  let mountImage: (@Sendable (any ScenarioLink) async -> String?)?
  /// What lab commands and people did, for the reports.
  let deeds = Deeds()
  private let state: Guarded<State>

  private struct State {
    var ios: String?
    var firstNumber: Int?
    var names: [String: String] = [:]
    var beside: [Task<Void, Never>] = []
  }

  init(
    scenario: Scenario, body: Body, link: any ScenarioLink, ios: String?, token: Secret?, clock: any ScenarioClock,
    lab: any LabMeans, attendant: (any Operator)?, diary: PhoneDiary? = nil,
    stamps: any LaunchStamps = FleetingLaunchStamps(),
    presence: (@Sendable (Body) async -> ListedPhone?)? = nil,
    mountImage: (@Sendable (any ScenarioLink) async -> String?)? = nil
  ) {
    self.mountImage = mountImage
    self.scenario = scenario
    self.body = body
    self.link = link
    self.token = token
    self.clock = clock
    self.lab = lab
    self.attendant = attendant
    exchanges = ExchangeLog(clock)
    self.diary = diary
    self.stamps = stamps
    self.presence = presence
    state = Guarded(State(ios: ios))
  }

  /// The phone's iOS version, as it was last read.
  var ios: String? {
    get { state.with { $0.ios } }
    set { state.with { $0.ios = newValue } }
  }

  /// The number under which the mux listed the phone when the scenario began.
  var firstNumber: Int? {
    get { state.with { $0.firstNumber } }
    set { state.with { $0.firstNumber = newValue } }
  }

  /// What names of the step under way stand for, beside those that every text can use.
  var names: [String: String] {
    get { state.with { $0.names } }
    set { state.with { $0.names = newValue } }
  }

  /// Does something that goes on beside the steps, and ends with the scenario at the latest.
  func beside(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    state.with { $0.beside.append(task) }
  }

  /// Ends what goes on beside the steps.
  func end() {
    let tasks = state.with { state in
      defer { state.beside = [] }
      return state.beside
    }
    for task in tasks { task.cancel() }
  }

  /// What texts in braces stand for.
  var texts: [String: String] {
    ["name": body.title, "udid": body.udid.description, "ios": ios ?? "unknown", "scenario": scenario.name]
  }
}

extension Scene {
  /// A request to the door that was made.
  struct Call {
    var ending: DoorAnswer.Ending
    /// From when it began, on the scenario's clock.
    var took: Duration
    /// What it was given was over at its end, even where it only began then.
    var ranOut: Bool
  }

  /// Sends a request to the door.
  ///
  /// - Parameter longest: cuts the request's own limit short.
  /// - Returns: nil when the run was stopped meanwhile.
  func send(_ step: RequestStep, longest: Duration? = nil) async -> Call? {
    let began = clock.now
    let values = texts.mapValues(Self.escaped)
    let line = RequestLine(method: step.line.method, target: Placeholders.fill(step.line.target, values))
    let call = body.door.call(line)
    let own = step.deadline ?? call.limit
    let limit = longest.map { min(own, $0) } ?? own
    let request = DoorRequest(
      port: body.door.port, method: call.line.method, target: call.line.target,
      headers: step.headers.map { ($0.name, Placeholders.fill($0.text, texts)) },
      body: Array((step.body.map { Placeholders.fill($0, texts) } ?? "").utf8), token: step.token.value(token),
      deadline: clock.deadline(after: limit))
    guard let answer = await unlessCancelled({ [link] in await link.request(request) }) else { return nil }
    let took = clock.span(ofHost: answer.took)
    exchanges.note(request, answer.ending, took: took)
    return Call(ending: answer.ending, took: took, ranOut: longest.map { clock.now - began >= $0 } ?? false)
  }

  /// Calls one of docs/door.md's requests by name.
  func call(_ row: DoorRow, longest: Duration? = nil) async -> Call? {
    let line = DoorSettings.usual[row] ?? RequestLine(method: "GET", target: "/\(row.rawValue)")
    return await send(RequestStep(line: line), longest: longest)
  }

  /// As a path or query can carry it.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default: escaped += "%" + Hex.encode([byte])
      }
    }
    return escaped
  }
}
