import Transport
import Wire

/// One connection to the control socket: a request a line, an answer a line (or many, for the journal); all JSON.
///
///     {"do": ACTION, "phone": PHONE, "values": {KEY: VALUE}}  ->  {"ok": true}
///     {"list": "actions"}                                     ->  {"actions": [{"name", "summary", "keys"}]}
///     {"list": "phones"}                                      ->  {"phones": [{"number", "name", "udid", …}]}
///     {"journal": {"after": SEQ, "follow": BOOL}}             ->  {"entry": {…}} …, then {"end": true}
///
/// Whatever cannot be done is answered `{"error": SENTENCE}`.
struct ControlConnection {
  private static let patience = Duration.seconds(30)
  /// How soon a reader that has gone is noticed while nothing happens.
  private static let lookout = Duration.seconds(1)

  let socket: Socket
  let desk: FleetDesk

  func serve() {
    var lines = LineReader()
    while let line = lines.next(from: socket, by: .never) {
      guard answer(line) else { return }
    }
  }

  /// - Returns: false when the connection is over.
  private func answer(_ line: [UInt8]) -> Bool {
    guard let request = JSON(parsing: line), request.object != nil else {
      return send(Self.error("The request is no JSON object. The two programs may be of different versions."))
    }
    if let action = request["do"]?.string {
      return send(perform(action, request))
    }
    if let journal = request["journal"] {
      return sendJournal(
        after: UInt64(max(0, journal["after"]?.int ?? 0)), follow: journal["follow"]?.boolean ?? false)
    }
    switch request["list"]?.string {
    case "actions": return send(["actions": .array(FleetDesk.actions.map(Self.row))])
    case "phones": return send(["phones": .array(desk.phones.enumerated().map { Self.row($0 + 1, $1) })])
    default:
      return send(Self.error("The request is not known. The two programs may be of different versions."))
    }
  }

  private func perform(_ action: String, _ request: JSON) -> JSON {
    var values: [String: String] = [:]
    for (key, value) in request["values"]?.object ?? [:] { values[key] = value.string ?? value.line }
    do throws(ActionError) {
      try desk.perform(action, on: request["phone"]?.string ?? "", values)
      return ["ok": true]
    } catch {
      return Self.error(error.sentence)
    }
  }

  private func sendJournal(after start: UInt64, follow: Bool) -> Bool {
    var seq = start
    while true {
      for entry in desk.journal.entries(after: seq) {
        guard send(["entry": entry.json]) else { return false }
        seq = entry.seq
      }
      guard follow, !hasLeft, desk.journal.wait(after: seq, until: .after(Self.lookout)) else { break }
    }
    return send(["end": true])
  }

  /// Whether the far end has closed; it has nothing to say while it follows.
  private var hasLeft: Bool {
    do throws(StreamError) {
      return try socket.read(max: 1, by: .after(.zero)).isEmpty
    } catch {
      return error != .timedOut
    }
  }

  private func send(_ json: JSON) -> Bool {
    do throws(StreamError) {
      try socket.write(Array((json.line + "\n").utf8), by: .after(Self.patience))
      return true
    } catch {
      return false
    }
  }

  private static func error(_ sentence: String) -> JSON { ["error": .string(sentence)] }

  private static func row(_ action: PhoneAction) -> JSON {
    [
      "name": .string(action.name), "summary": .string(action.summary),
      "keys": .array(action.keys.map { .string($0) }),
    ]
  }

  private static func row(_ number: Int, _ phone: VirtualPhone) -> JSON {
    let state = phone.state.with { $0 }
    return [
      "number": .integer(Int64(number)), "name": .string(state.name), "udid": .string(phone.udid.description),
      "ios": .string(phone.preset.ios), "attached": .boolean(state.attached), "locked": .boolean(state.locked),
    ]
  }
}

/// Cuts a stream into lines; a line that is too long ends it.
struct LineReader {
  private static let limit = 1 << 20
  private var pending: [UInt8] = []

  /// - Returns: nil at the end of the stream, at the deadline, or when the line is too long.
  mutating func next(from stream: any ByteStream, by deadline: Deadline) -> [UInt8]? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(pending[..<end])
        pending.removeSubrange(...end)
        return line
      }
      guard pending.count < Self.limit else { return nil }
      do throws(StreamError) {
        let part = try stream.read(max: 1 << 16, by: deadline)
        if part.isEmpty { return nil }
        pending += part
      } catch {
        return nil
      }
    }
  }
}
