import DeviceBridge
import Fleet
import Wire

/// `fleetctl config show`: every value that holds, without touching a phone.
enum ConfigShowCommand {
  static let spec = CommandSpec(
    name: "config show", summary: "every value of the configuration, and with --origin where it came from",
    options: [.flag("origin", "say where each value came from: default, file:line, an option or a variable")],
    notes: [
      "A body's rows are what its own entry says; for all else the values above them hold. Secrets are shown as dots.",
      "--json: one object a line with key, value and origin; spans of time in seconds.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let bench = try Bench(context)
    let root = try root(of: bench.configuration)
    let origins = ConfigOrigins(file: bench.configuration.file, root: root)
    let rows = places(bench, context) + ConfigRows.rows(of: bench.configuration, origins)
    let mask = Mask(Array(bench.configuration.secrets.values))
    if context.wantsJSON {
      try context.output.results(rows.map { mask($0.json.line) })
    } else {
      var table = Table()
      for row in rows {
        let cells = [row.key, mask(row.value.text)]
        table.add(context.invocation.has("origin") ? cells + [row.origin] : cells)
      }
      try context.output.results(table.lines)
    }
    return .done
  }

  /// The file's nodes, which know their lines.
  private static func root(of configuration: FleetConfiguration) throws(Complaint) -> YAMLNode? {
    guard let file = configuration.file else { return nil }
    do throws(Problems) {
      let bytes: [UInt8]
      do throws(Problem) { bytes = try Files.host.read(file, YAMLDocument.byteLimit) } catch { throw Problems([error]) }
      return try YAMLDocument.parse(bytes, file: file)
    } catch {
      // It was read a moment ago.
      throw Complaint(
        .usage,
        "The configuration has just changed: \(error.description.printableLines). Somebody is editing it. "
          + "Run the command again: fleetctl config show.")
    }
  }

  /// What the command line and the environment decide.
  private static func places(_ bench: Bench, _ context: Context) -> [ConfigRow] {
    func named(by option: String, or variable: String) -> String? {
      if context.invocation.has(option) { return "--\(option)" }
      return context.environment[variable].map { $0.isEmpty } == false ? "$\(variable)" : nil
    }
    let file = bench.configuration.file
    let found = file == nil ? "none at the usual places" : "found there"
    return [
      ConfigRow(
        key: "file", value: file.map { .text($0) } ?? .none, origin: named(by: "config", or: "FLEETCTL_CONFIG") ?? found
      ),
      ConfigRow(
        key: "mux", value: .text(bench.mux.description),
        origin: named(by: "mux", or: "USBMUXD_SOCKET_ADDRESS") ?? ConfigOrigins.byDefault),
    ]
  }
}

/// One value, as `fleetctl config show` prints it.
struct ConfigRow: Equatable, Sendable {
  /// As fleet.yaml nests it: `door.port`.
  var key: String
  var value: ConfigValue
  var origin: String

  var json: JSON { ["key": .string(key), "value": value.json, "origin": .string(origin)] }
}

/// A value in the two forms it is shown in.
enum ConfigValue: Equatable, Sendable {
  case text(String)
  case number(Int)
  case time(Duration)
  case list([String])
  case secret
  case none

  var text: String {
    switch self {
    case .text(let text): text
    case .number(let number): String(number)
    case .time(let duration): duration.inFile
    case .list(let texts): "[\(texts.joined(separator: ", "))]"
    case .secret: Secret("").description
    case .none: "none"
    }
  }

  var json: JSON {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(Int64(number))
    case .time(let duration): .number(duration.inSeconds)
    case .list(let texts): .array(texts.map { .string($0) })
    case .secret: .string(text)
    case .none: .null
    }
  }
}

extension Duration {
  /// As fleet.yaml writes it, in the largest unit that leaves no fraction: `5m`, `90s`, `200ms`.
  fileprivate var inFile: String {
    let milliseconds = Int((inSeconds * 1000).rounded())
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
    for (unit, length) in units where milliseconds != 0 && milliseconds % length == 0 {
      return "\(milliseconds / length)\(unit)"
    }
    return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
  }
}
