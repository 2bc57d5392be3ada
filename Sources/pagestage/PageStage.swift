import DeviceBridge
import Fleet
import Glibc
import Transport
import Wire

/// Serves the supervisor's page over bodies of every kind, for a browser that looks at it. It says where it listens, goes
/// one scene on with each line that it is given, and ends with its input. An argument is the file of a token.
enum PageStage {
  static func run() -> Int32 {
    let view = StagedView()
    var settings = SupervisorPage.Settings(SuperviseSettings(), socket: nil, version: "0.0.0-stage")
    settings.listen = "127.0.0.1:0"
    settings.tokenFile = CommandLine.arguments.dropFirst().first
    do {
      let page = try SupervisorPage(view: view, settings: settings)
      try page.start()
      defer { page.stop() }
      say("http://\(page.addresses[0])/")
      while readLine() != nil {
        view.nextScene()
        say("done")
      }
      return 0
    } catch {
      say(error.sentence)
      return 3
    }
  }

  private static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// Bodies of every kind that change when they are told to.
final class StagedView: SupervisorView {
  private struct State {
    var bodies = StagedView.cast
    var host = HostPresent(words: OutcomeWords(.up))
    var rows = StagedView.firstRows
    var scene = 0
    var listeners: [AsyncStream<Void>.Continuation] = []
  }
  private let state = Guarded(State())

  func bodies() -> [BodyPresent] { state.with { $0.bodies } }
  func host() -> HostPresent { state.with { $0.host } }
  func lastRound() -> RoundPresent? {
    RoundPresent(number: 4_711, at: WallClock.now() - .seconds(4), took: .seconds(2))
  }

  func rows(after seq: Int, limit: Int) async throws(RecordTrouble) -> [OutcomeReport] {
    state.with { state in Array(state.rows.drop { ($0.seq ?? 0) <= seq }.prefix(limit)) }
  }

  func changes() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      state.with { $0.listeners.append(continuation) }
    }
  }

  func doorStatus(of udid: UDID, within limit: Duration) async -> DoorAnswer? { nil }

  /// First a body falls silent; then one leaves and another comes; then the daemon goes.
  func nextScene() {
    let listeners = state.with { state in
      state.scene += 1
      switch state.scene {
      case 1:
        let silent = OutcomeWords(.silent, .refused)
        state.bodies[0].words = silent
        state.bodies[0].silent = .seconds(301)
        state.bodies[0].lastAnswer = WallClock.now() - .seconds(301)
        state.bodies[0].since = WallClock.now()
        state.bodies[0].awaited = "the end of the spacing since the last launch"
        state.bodies[0].nextLaunch = WallClock.now() + .seconds(90)
        state.rows.append(
          OutcomeReport(
            seq: (state.rows.last?.seq ?? 0) + 1, at: WallClock.now(), body: state.bodies[0].body,
            udid: state.bodies[0].udid, words: silent, was: OutcomeWords(.up), detail: "the connect was refused",
            silent: .seconds(301)))
        state.bodies[1].lastAnswer = WallClock.now()
      case 2:
        state.bodies.remove(at: 1)
        state.bodies.append(Self.body(90, "newcomer", OutcomeWords(.up)))
      default:
        state.host = HostPresent(words: OutcomeWords(.unreachable, .noUsbmuxd))
        state.host.since = WallClock.now()
        state.host.detail =
          "Nothing listens at /var/run/usbmuxd. The daemon is not running. Start it: systemctl start usbmuxd"
      }
      return state.listeners
    }
    for listener in listeners { listener.yield() }
  }
}
