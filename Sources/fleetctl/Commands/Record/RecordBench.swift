import DeviceBridge
import Fleet
import Transport
import Wire

/// What commands work with that read the record and ask the supervisor, and touch no phone.
struct RecordBench: Sendable {
  let configuration: FleetConfiguration
  let reader: RecordReader
  /// Where a supervisor listens; nil where there is no state folder.
  private let socket: String?

  init(_ context: Context) throws(Complaint) {
    configuration = try context.configuration()
    reader = try context.record(of: configuration)
    socket = (try? StateFolder.find(context.environment)).map { SupervisorClient.socket(in: $0) }
    context.output.detail("record: \(reader.path)".printable)
    context.output.detail("supervisor: \(socket ?? "no state folder")".printable)
  }

  /// Bodies as a running supervisor has them, in its order.
  func supervised() async -> Result<[BodyPresent], SupervisorClient.Trouble> {
    guard let socket else { return .failure(.notRunning(socket: "")) }
    return await onThread("supervisor") {
      do throws(SupervisorClient.Trouble) {
        return .success(try SupervisorClient.bodies(socket: socket).compactMap { BodyPresent($0) })
      } catch {
        return .failure(error)
      }
    }
  }

  /// Bodies as the record has them: those of fleet.yaml where it names any, else all that were ever seen.
  func recorded() async throws(RecordTrouble) -> [BodyPresent] {
    let latest = try await reader.latest()
    let past = try await reader.past().1
    let rows = Dictionary(latest.compactMap { row in row.udid.map { ($0, row) } }) { $1 }
    guard let entries = configuration.bodies else {
      let rest = past.keys.filter { rows[$0] == nil }.sorted { $0.bare < $1.bare }
      return latest.compactMap { row in row.udid.map { BodyPresent($0, name: row.body, row, past[$0]) } }
        + rest.map { BodyPresent($0, name: nil, nil, past[$0]) }
    }
    let today = CalendarDay.today()
    return entries.map { entry in
      var present = BodyPresent(entry.udid, name: entry.name, rows[entry.udid], past[entry.udid])
      if let out = entry.outOfService, out.holds(on: today) { present.outOfService = out.reason }
      return present
    }
  }

  /// All that fleet.yaml names and all that the record has ever seen; without a record the former.
  func everyone() async throws(RecordTrouble) -> [BodyPresent] {
    do throws(RecordTrouble) {
      let named = try await recorded()
      let rows = try await reader.latest()
      let others = rows.compactMap { row in
        row.udid.flatMap { udid in
          named.contains { $0.udid == udid } ? nil : BodyPresent(udid, name: row.body, row, nil)
        }
      }
      return named + others
    } catch {
      guard case .missing = error else { throw error }
      return (configuration.bodies ?? []).map { BodyPresent($0.udid, name: $0.name, nil, nil) }
    }
  }

  /// Both: the supervisor's word where one runs, else the record's.
  ///
  /// - Returns: the bodies, and why they are the record's.
  func bodies() async throws(Complaint) -> (bodies: [BodyPresent], unsupervised: SupervisorClient.Trouble?) {
    switch await supervised() {
    case .success(let bodies): return (bodies, nil)
    case .failure(let trouble):
      do throws(RecordTrouble) { return (try await recorded(), trouble) } catch {
        if case .missing = error, case .notRunning = trouble { throw Complaint(.harness, Self.nothing(reader.path)) }
        throw Complaint(error)
      }
    }
  }

  private static func nothing(_ path: String) -> String {
    "No supervisor runs, and there is no record at \(path.printable) yet. Nothing has been supervised with this "
      + "configuration. Start it: fleetctl supervise"
  }
}

/// Runs what blocks on a thread of its own.
func onThread<R: Sendable>(_ name: String, _ work: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    _ = Worker(name: name) { continuation.resume(returning: work()) }
  }
}

/// Finds the body that somebody means among those that are told of.
enum RecordedBodies {
  /// - Returns: nil where none is meant.
  /// - Throws: exit code 2 where several are.
  static func find(_ typed: String, among bodies: [BodyPresent]) throws(Complaint) -> BodyPresent? {
    if let named = bodies.first(where: { $0.body == typed }) { return named }
    if let same = bodies.first(where: { $0.udid == UDID(typed) }) { return same }
    let begun = bodies.filter {
      $0.udid.begins(with: typed) || (!typed.isEmpty && ($0.body ?? "").hasPrefix(typed))
    }
    guard begun.count > 1 else { return begun.first }
    let error = BodySelectionError.ambiguous(typed: typed, candidates: begun.map(\.title))
    throw Complaint(error.exitCode, error.sentence.printable)
  }

  static func unknown(_ typed: String, among bodies: [BodyPresent]) -> Complaint {
    let names = bodies.map(\.title).joined(separator: ", ")
    let known = bodies.isEmpty ? "Neither fleet.yaml nor the record names any." : "The bodies are: \(names)."
    return Complaint(.usage, "No body is called '\(typed)'. \(known) See them with: fleetctl status".printable)
  }
}
