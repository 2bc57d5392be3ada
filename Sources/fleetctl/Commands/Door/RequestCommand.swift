import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl request`: any request to the door.
enum RequestCommand {
  static let spec = CommandSpec(
    name: "request", summary: "any door request; a picture is described, never written",
    positionals: [
      .body,
      PositionalSpec(label: "METHOD", help: "GET, POST …"),
      PositionalSpec(
        label: "PATH",
        help: "path and query, such as /photo?camera=front; the door's usual ones are sent in fleet.yaml's form"),
    ],
    options: [
      .value("header", "NAME:VALUE", "a header field", repeats: true),
      .value("data", "TEXT", "the request's body"),
    ] + DoorCalls.options, notes: DoorCalls.notes)

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    let line = try context.usage { () throws(UsageError) in try requestLine(invocation) }
    let headers = try context.usage { () throws(UsageError) in try fields(invocation) }
    let body = Array((invocation.value("data") ?? "").utf8)
    return try await DoorCalls(context).run(
      { door in
        let call = door.call(line)
        let request = DoorRequest(
          port: door.port, method: call.line.method, target: call.line.target, headers: headers, body: body,
          deadline: .never)
        return (request, call.limit)
      }, idempotent: ["GET", "HEAD", "OPTIONS"].contains(line.method))
  }

  private static func requestLine(_ invocation: Invocation) throws(UsageError) -> RequestLine {
    let (method, path) = (invocation.one("METHOD").uppercased(), invocation.one("PATH"))
    guard let line = RequestLine("\(method) \(path)") else {
      throw .contradiction(
        "'\(method.printable) \(path.printable)' is no request. "
          + "A method is letters, a path begins with / and has no blanks.", command: spec.name)
    }
    return line
  }

  private static func fields(_ invocation: Invocation) throws(UsageError) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    for text in invocation.values("header") {
      guard let colon = text.firstIndex(of: ":"), colon != text.startIndex,
        !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
      else {
        throw .badValue(option: "header", value: text, wanted: "one line NAME:VALUE", command: spec.name)
      }
      let value = text[text.index(after: colon)...].drop { $0 == " " }
      fields.append((String(text[..<colon]), String(value)))
    }
    return fields
  }
}
