import DeviceBridge
import Fleet
import Glibc
import Transport
import VirtualPhone
import Wire

@testable import Scenarios

/// What keeps a test from being one.
struct Trouble: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Virtual phones behind a socket, and scenarios run against them through the real bridge.
final class Bench: Sendable {
  let fleet: VirtualFleet
  private let folder: String
  private let scale: Double
  private let token: String?

  init(_ ios: [String], phones: Int? = nil, scale: Double = 1, token: String? = nil) throws {
    // As the executable does: OpenSSL writes to whatever has just been closed.
    signal(SIGPIPE, SIG_IGN)
    var template = Array("/tmp/scenarios-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder: \(Errno.text(errno))") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    var options = VirtualFleet.Options(address: .unix(path: "\(folder)/mux"))
    options.phones = phones ?? ios.count
    options.ios = ios
    options.timeScale = scale
    options.token = token
    fleet = try VirtualFleet(options)
    self.scale = scale
    self.token = token
  }

  deinit {
    fleet.stop()
    rmdir(folder)
  }

  var mux: MuxAddress { .unix(path: "\(folder)/mux") }
  var lab: VirtualLab { VirtualLab(fleet) }

  /// The phones as bodies, with the virtual lab's commands as fleet.yaml would name them.
  func bodies(_ change: (inout FleetConfiguration) -> Void = { _ in }) async throws -> [Body] {
    var configuration = FleetConfiguration()
    configuration.app.bundle = "com.example.kiosk"
    configuration.arrange = VirtualLab.means
    if token != nil { configuration.door.tokenFile = "token" }
    change(&configuration)
    let phones = try await Mux(address: mux).phones(by: .after(.seconds(10)))
    return BodySelection(configuration, phones: phones).bodies
  }

  /// Runs scenarios and returns what came of it.
  func run(
    _ scenarios: [Scenario], on bodies: [Body], keepsLog: Bool = false,
    _ look: @escaping @Sendable (RunEvent) -> Void = { _ in },
    options change: (inout ScenarioRun.Options) -> Void = { _ in }, lab: (any LabMeans)? = nil
  ) async -> Seen {
    let events = Guarded<[RunEvent]>([])
    var options = ScenarioRun.Options(number: 1, version: "test")
    options.clock = Scenarios.ScaledClock(scale: scale)
    options.keepsLog = keepsLog
    options.presence = { [mux] body in
      let phones = (try? await Mux(address: mux).phones(by: .after(.seconds(5)))) ?? []
      return phones.first { $0.udid == body.udid }
    }
    change(&options)
    let token = token
    options.files = Files(exists: { _ in true }, read: { _, _ throws(Problem) in Array((token ?? "").utf8) })
    let run = ScenarioRun(
      scenarios: scenarios, bodies: bodies, options: options, lab: lab ?? self.lab,
      connect: { [mux] in PhoneLane($0, mux: mux) }
    ) { event in
      events.with { $0.append(event) }
      look(event)
    }
    let result = await run.run()
    return Seen(result: result, events: events.with { $0 })
  }

  /// A shipped scenario.
  static func shipped(_ name: String) throws -> Scenario {
    let here = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    return try ScenarioFile.parse(path: "/\(here)/scenarios/\(name).yaml")
  }
}

/// The lab of virtual phones, without the processes that `fleetctl virtual do` would be.
struct VirtualLab: LabMeans {
  let fleet: VirtualFleet
  init(_ fleet: VirtualFleet) { self.fleet = fleet }

  /// As fleet.yaml would name it.
  static let means: [BodyState: ArrangeMeans] = [
    .locked: means("lock"), .unlocked: means("unlock"), .inFront: means("foreground"),
    .inBackground: means("background"), .listenerDead: means("kill-listener"),
    .cameraBusy: means("hold-camera", undo: "release-camera"),
    .cameraStuck: means("stick-camera", undo: "unstick-camera"), .cameraGranted: means("grant"),
    .cameraDenied: means("revoke"), .appInstalled: means("install-app"),
    .rebooted: means("reboot image=mounted"), .beforeFirstUnlock: means("reboot image=mounted"),
  ]

  private static func means(_ action: String, undo: String? = nil) -> ArrangeMeans {
    func command(_ action: String) -> [String] {
      ["virtual", "{udid}"] + action.split(separator: " ").map(String.init)
    }
    return ArrangeMeans(command: command(action), undo: undo.map { LabDeed(command: command($0)) })
  }

  func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome {
    guard command.argv.count >= 3, command.argv[0] == "virtual" else {
      return LabOutcome(ending: .notStarted("no such command"), output: "")
    }
    do throws(ActionError) {
      let pairs = command.argv.dropFirst(3).map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
      let values = Dictionary(pairs.map { ($0[0], $0.last ?? "") }, uniquingKeysWith: { $1 })
      try fleet.perform(command.argv[2], on: command.argv[1], values)
      return LabOutcome(ending: .exited(0), output: "")
    } catch {
      return LabOutcome(ending: .exited(1), output: error.sentence)
    }
  }
}
