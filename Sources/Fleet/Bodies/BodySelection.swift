import DeviceBridge
import Wire

/// Why what somebody typed is no body.
public enum BodySelectionError: Error, Equatable, Sendable {
  case unknown(typed: String, candidates: [String])
  case ambiguous(typed: String, candidates: [String])
  /// Attached, but fleet.yaml names other bodies only.
  case notInFile(UDID, file: String)
  /// Seen over the network only, and not named in fleet.yaml.
  case networkOnly(UDID)

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .unknown(let typed, let candidates) where candidates.isEmpty:
      "No body is called '\(typed)'. No phone is attached and fleet.yaml names none. Attach one, then: fleetctl devices"
    case .unknown(let typed, let candidates):
      "No body is called '\(typed)'. The bodies are: \(candidates.joined(separator: ", ")). See them with: fleetctl devices"
    case .ambiguous(let typed, let candidates):
      "'\(typed)' could be \(candidates.joined(separator: " or ")). Several begin like that. "
        + "Type more of the one that is meant; see them with: fleetctl devices"
    case .notInFile(let udid, let file):
      "Phone \(udid) is attached, but is no body: \(file) names others only. Add it with: fleetctl init --add"
    case .networkOnly(let udid):
      "Phone \(udid) is seen over the network only, and such phones are never connected to. Its cable may be loose. "
        + "Plug it in, then: fleetctl devices"
    }
  }

  public var exitCode: ExitCode {
    switch self {
    case .unknown, .ambiguous, .notInFile: .usage
    case .networkOnly: .harness
    }
  }
}

/// The bodies there are, and which of them somebody means.
public struct BodySelection: Sendable {
  /// With `bodies` in fleet.yaml those, in its order, attached or not; otherwise every phone attached by cable.
  public let bodies: [Body]
  private let strangers: [ListedPhone]
  private let file: String?

  /// - Parameter phones: as the mux lists them now.
  /// - Parameter known: phones that the record has seen: absent, but not unknown.
  public init(_ configuration: FleetConfiguration, phones: [ListedPhone], known: [UDID] = []) {
    file = configuration.file
    if let entries = configuration.bodies {
      bodies = entries.map { entry in Body(entry, phone: phones.first { $0.udid == entry.udid }) }
      strangers = phones.filter { phone in !entries.contains { $0.udid == phone.udid } }
    } else {
      let cabled = phones.filter { $0.transport == .usb }
      let absent = known.filter { udid in !phones.contains { $0.udid == udid } }
      bodies =
        cabled.map { Body(BodyEntry(udid: $0.udid, under: configuration), phone: $0) }
        + absent.map { Body(BodyEntry(udid: $0, under: configuration), phone: nil) }
      strangers = phones.filter { $0.transport == .network }
    }
  }

  /// These bodies, and no others.
  public init(bodies: [Body]) {
    self.bodies = bodies
    strangers = []
    file = nil
  }

  /// The body that is meant by a name, a UDID in any spelling, or an unambiguous start of either.
  ///
  /// The body may be absent: its `phone` is nil then, which is exit 3 and not 2.
  public func resolve(_ typed: String) throws(BodySelectionError) -> Body {
    if let named = bodies.first(where: { $0.name == typed }) { return named }
    let whole = UDID(typed)
    if let same = bodies.first(where: { $0.udid == whole }) { return same }
    if let stranger = strangers.first(where: { $0.udid == whole }) {
      if stranger.transport == .network { throw .networkOnly(stranger.udid) }
      throw .notInFile(stranger.udid, file: file ?? "fleet.yaml")
    }
    let begun = bodies.filter { $0.udid.begins(with: typed) || (!typed.isEmpty && ($0.name ?? "").hasPrefix(typed)) }
    guard let first = begun.first else {
      throw .unknown(typed: typed, candidates: bodies.map(Self.shown))
    }
    guard begun.count == 1 else { throw .ambiguous(typed: typed, candidates: begun.map(Self.shown)) }
    return first
  }

  /// The bodies that `--body NAME` and `--body tag:T` mean, each once, in the order of `bodies`.
  public func resolve(_ patterns: [String]) throws(BodySelectionError) -> [Body] {
    var chosen: [UDID] = []
    for pattern in patterns {
      if pattern.hasPrefix("tag:") {
        let tag = String(pattern.dropFirst(4))
        chosen += bodies.filter { $0.tags.contains(tag) }.map(\.udid)
      } else {
        chosen.append(try resolve(pattern).udid)
      }
    }
    return bodies.filter { chosen.contains($0.udid) }
  }

  private static func shown(_ body: Body) -> String {
    guard let name = body.name else { return body.udid.description }
    return "\(name) (\(body.udid))"
  }
}
