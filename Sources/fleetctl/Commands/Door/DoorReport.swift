import DeviceBridge
import Wire
import Fleet

/// How one request to a door ended, for people and for programs.
struct DoorReport: Sendable {
  /// fleet.yaml's name of the phone, else its identifier.
  var name: String
  var body: String?
  var udid: UDID
  /// Method and path as they were sent.
  var request: String
  var port: UInt16
  var answer: DoorAnswer
  /// Longest for the whole answer, where somebody said so.
  var given: Duration?

  var code: ExitCode {
    switch answer.ending {
    case .response(let message): (200..<300).contains(message.status) ? .done : .no
    case .refused, .silent, .badReply: .no
    case .unreachable(let error): error.isUsage ? .usage : .harness
    }
  }

  /// What goes to standard output: a line about the answer, then its text; nothing where none came.
  var lines: [String] {
    guard let message = answer.response else { return [] }
    let content = DoorContent(message)
    let about = [
      "\(name) \(message.status)", content.type, content.summary, answer.took.shown,
    ].compactMap { $0 }.joined(separator: ", ")
    return [about.printable] + content.lines
  }

  /// What keeps the answer from being a yes: what happened, the likely cause, what to type next.
  var sentence: String? {
    let named = name.printable
    if let given, isHasty {
      return "The time given, \(given.shown), was over before \(named) had answered \(request). So little time says "
        + "nothing about app, phone or daemon. Give it more: fleetctl request \(named) \(request) --deadline 10s."
    }
    return switch answer.ending {
    case .response(let message) where (200..<300).contains(message.status): nil
    case .response(let message):
      "\(named) answered \(request) with \(message.status)\(DoorContent(message).reason). \(Self.cause(message.status)) "
        + "See how the phone is: fleetctl devices."
    case .refused:
      "Nothing is listening on the phone's port \(port); is the app running? It may have ended, be in the background, "
        + "or use another port. Bring it to the front: fleetctl launch \(named)."
    case .silent(_, let detail):
      "\(named) did not answer \(request) within \(answer.took.shown)\(Self.clause(detail)). "
        + "The app may hang, be suspended or wait for something. Start it afresh: fleetctl launch \(named) --fresh."
    case .badReply(let detail):
      "\(named) gave no whole HTTP response to \(request)\(Self.clause(detail)). The app may have ended in the middle, "
        + "or something else listens on port \(port). Ask again: fleetctl hello \(named)."
    case .unreachable(let error): error.sentence
    }
  }

  /// Nothing came in a time in which not every healthy phone answers.
  private var isHasty: Bool {
    guard let given, given < .seconds(1) else { return false }
    switch answer.ending {
    case .silent(received: 0, _), .unreachable(.silent), .unreachable(.muxSilent): return true
    case .response, .refused, .silent, .badReply, .unreachable: return false
    }
  }

  /// {body, udid, request, outcome, status, type, headers, json, text, size, took_s, error}; absent values null.
  var json: JSON {
    let message = answer.response
    let content = message.map(DoorContent.init)
    return [
      "body": .text(body), "udid": .string(udid.description), "request": .string(request),
      "outcome": .string(outcome), "status": message.map { .integer(Int64($0.status)) } ?? .null,
      "type": .text(content?.type), "headers": message.map(Self.headers) ?? .null,
      "json": content?.json ?? .null, "text": .text(content?.text), "picture": content?.picture ?? .null,
      "size": message.map { .integer(Int64($0.body.count)) } ?? .null, "took_s": .number(answer.took.roundedSeconds),
      "error": .text(sentence),
    ]
  }

  private var outcome: String {
    switch answer.ending {
    case .response: "response"
    case .refused: "refused"
    case .silent: "silent"
    case .badReply: "bad-reply"
    case .unreachable: "unreachable"
    }
  }

  private static func headers(_ message: HTTPMessage) -> JSON {
    .object(
      Dictionary(message.headers.map { ($0.name.lowercased(), .string($0.value)) }) { first, second in
        .string([first.string, second.string].compactMap { $0 }.joined(separator: ", "))
      })
  }

  private static func clause(_ detail: String) -> String { detail.isEmpty ? "" : " (\(detail.printable))" }

  private static func cause(_ status: Int) -> String {
    switch status {
    case 401: "The door wants a token, and the one that was sent is missing or wrong."
    case 404: "The app's door has no such path, or another server answers there."
    case 400..<500: "The app refuses it as things stand."
    case 500..<600: "The app could not do it."
    default: "That is no answer to such a request."
    }
  }
}

extension PhoneError {
  /// What was typed is wrong, not the phone or the cable.
  var isUsage: Bool { if case .badRequest = self { true } else { false } }
}
