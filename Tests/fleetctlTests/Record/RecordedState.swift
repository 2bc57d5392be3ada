import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

/// A state folder with a record of its own, for commands that read it; no daemon is there to be asked.
final class RecordedState: Sendable {
  static let hall = UDID("00008110-000A1B2C3D4E5F60")
  static let stairs = UDID("00008101-000A1B2C3D4E001E")
  /// 2026-11-30, 12:00 UTC.
  static let noon = Duration.seconds(1_796_040_000)
  static let limit = Duration.seconds(20)

  let folder = TestFolder()
  private let server = Guarded<PageServer?>(nil)

  deinit { server.with { $0 }?.stop() }

  var path: String { folder.file("fleet.sqlite") }
  var reader: RecordReader { RecordReader(path) }

  var environment: [String: String] {
    [
      "STATE_DIRECTORY": folder.path, "TZ": "Europe/Berlin", "FLEETCTL_LOCK_FOLDER": folder.file("locks"),
      "USBMUXD_SOCKET_ADDRESS": folder.file("mux"),
      "FLEETCTL_CONFIG": folder.write("version: 1\napp: {bundle: com.example.kiosk}\n", to: "fleet.yaml"),
    ]
  }

  func open() async throws -> Record { try await Record.open(path).record }

  func run(_ arguments: String...) async -> Fleetctl.Done {
    await Fleetctl.run(arguments, environment: environment)
  }

  static func row(
    _ seq: Int, _ words: OutcomeWords, of udid: UDID? = hall, after seconds: Int = 0, was: OutcomeWords? = nil,
    detail: String? = nil, silent: Duration? = nil
  ) -> OutcomeReport {
    OutcomeReport(
      seq: seq, at: noon + .seconds(seconds), body: udid == hall ? "hall" : udid == stairs ? "stairs" : nil, udid: udid,
      words: words, was: was, detail: detail, silent: silent)
  }

  /// Writes rows that follow each other.
  func write(_ rows: OutcomeReport...) async throws {
    let record = try await open()
    for row in rows { try await record.store(LedgerEntry(row: row), within: Self.limit) }
    try await record.close(within: Self.limit)
  }

  /// From now on somebody answers who has these bodies.
  func supervise(_ bodies: BodyPresent...) throws {
    let socket = SupervisorClient.socket(in: StateFolder(path: folder.path))
    let list = JSON.array(bodies.map(\.json))
    let made = try PageServer(try Listener(.unix(path: socket))) { _ in .now(.json(list)) }
    server.with { $0 = made }
  }
}
