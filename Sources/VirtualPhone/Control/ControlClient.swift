import Transport
import Wire

/// Talks to a running fleet's control socket: what `fleetctl virtual do` and `virtual journal` use.
public struct ControlClient: Sendable {
  private static let patience = Duration.seconds(30)
  private let path: String

  /// - Parameter path: the control socket, as `FLEETCTL_VIRTUAL` names it.
  public init(path: String) { self.path = path }

  /// One row of `virtual do --list`.
  public struct Action: Equatable, Sendable {
    public let name: String
    public let summary: String
    /// `Key` stands for any name that begins with a capital letter.
    public let keys: [String]

    /// Those of this program's own phones, without asking any.
    public static var all: [Action] {
      FleetDesk.actions.map { Action(name: $0.name, summary: $0.summary, keys: $0.keys) }
    }
  }

  /// One phone of the fleet.
  public struct Phone: Equatable, Sendable {
    /// From 1.
    public let number: Int
    public let name: String
    public let udid: String
    public let ios: String
    public let attached: Bool
    public let locked: Bool
  }

  /// Does one action to one phone; returns when it is done.
  ///
  /// - Throws: the fleet's own refusal, with its candidates, or that it does not answer.
  public func perform(_ action: String, on phone: String, _ values: [String: String] = [:]) throws(ActionError) {
    _ = try ask(
      ["do": .string(action), "phone": .string(phone), "values": .object(values.mapValues { .string($0) })])
  }

  public func actions() throws(ActionError) -> [Action] {
    let answer = try ask(["list": "actions"])
    return (answer["actions"]?.array ?? []).map { row in
      Action(
        name: row["name"]?.string ?? "", summary: row["summary"]?.string ?? "",
        keys: (row["keys"]?.array ?? []).compactMap(\.string))
    }
  }

  public func phones() throws(ActionError) -> [Phone] {
    let answer = try ask(["list": "phones"])
    return (answer["phones"]?.array ?? []).map { row in
      Phone(
        number: row["number"]?.int ?? 0, name: row["name"]?.string ?? "", udid: row["udid"]?.string ?? "",
        ios: row["ios"]?.string ?? "", attached: row["attached"]?.boolean ?? false,
        locked: row["locked"]?.boolean ?? false)
    }
  }

  /// The journal's entries, oldest first, each handed over as it comes.
  ///
  /// - Parameters:
  ///   - follow: go on with new entries until the fleet ends or `each` answers false.
  ///   - each: one entry (`JournalEntry.json`); false ends the reading.
  public func journal(
    after seq: UInt64 = 0, follow: Bool = false, _ each: (JSON) -> Bool
  ) throws(ActionError) {
    let socket = try connect()
    defer { socket.close() }
    try send(["journal": ["after": .integer(Int64(clamping: seq)), "follow": .boolean(follow)]], on: socket)
    var lines = LineReader()
    while let line = lines.next(from: socket, by: follow ? .never : .after(Self.patience)) {
      guard let answer = JSON(parsing: line) else { throw silent }
      if answer["end"] != nil { return }
      guard let entry = answer["entry"] else { throw refusal(answer) }
      if !each(entry) { return }
    }
    // The fleet has ended: so has what it had to tell.
    if !follow { throw silent }
  }

  // MARK: - Asking

  private func ask(_ request: JSON) throws(ActionError) -> JSON {
    let socket = try connect()
    defer { socket.close() }
    try send(request, on: socket)
    var lines = LineReader()
    guard let line = lines.next(from: socket, by: .after(Self.patience)), let answer = JSON(parsing: line) else {
      throw silent
    }
    if answer["error"] != nil { throw refusal(answer) }
    return answer
  }

  private func connect() throws(ActionError) -> Socket {
    do throws(StreamError) {
      return try Socket.connect(to: .unix(path: path), by: .after(.seconds(5)))
    } catch {
      throw ActionError(
        "The virtual fleet cannot be reached at \(path): \(error.sentence). It may have ended, or the path may be "
          + "another. Start one: fleetctl virtual.")
    }
  }

  private func send(_ request: JSON, on socket: Socket) throws(ActionError) {
    do throws(StreamError) {
      try socket.write(Array((request.line + "\n").utf8), by: .after(Self.patience))
    } catch {
      throw silent
    }
  }

  private func refusal(_ answer: JSON) -> ActionError {
    ActionError(answer["error"]?.string ?? silent.sentence)
  }

  private var silent: ActionError {
    ActionError(
      "The virtual fleet at \(path) gave no answer. It may be ending, or something else listens there. "
        + "Start one: fleetctl virtual.")
  }
}
