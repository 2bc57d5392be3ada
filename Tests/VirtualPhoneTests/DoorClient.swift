import Testing
import Transport
import Wire

@testable import VirtualPhone

/// The host's side of the door.
struct DoorClient {
  let socket: Socket

  func send(_ request: String, fields: [String] = [], body: String = "") throws {
    var lines = ["\(request) HTTP/1.1", "Host: phone"] + fields
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    try socket.write(Array((lines + ["", body]).joined(separator: "\r\n").utf8), by: .after(.seconds(10)))
  }

  /// The next response.
  func response(by deadline: Deadline = .after(.seconds(20))) throws -> HTTPMessage {
    let parser = HTTPParser(.response, bodyLimit: 8 << 20)
    while !parser.isComplete {
      let bytes = try socket.read(max: 1 << 16, by: deadline)
      if bytes.isEmpty { try parser.finish() } else { try parser.feed(bytes) }
    }
    return parser.message
  }

  /// Everything up to the end of the connection.
  func rest(by deadline: Deadline = .after(.seconds(10))) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let bytes = try socket.read(max: 1 << 16, by: deadline)
      if bytes.isEmpty { return all }
      all += bytes
    }
  }
}

extension TestPhone {
  func door() throws -> DoorClient {
    DoorClient(socket: try #require(try connect(), "nothing listens on the door's port"))
  }

  /// One request on a connection of its own.
  func ask(_ request: String, fields: [String] = []) throws -> HTTPMessage {
    let door = try door()
    try door.send(request, fields: fields)
    return try door.response()
  }

  /// Whether the door answers a hello.
  var answers: Bool { answers(by: .after(.seconds(10))) }

  /// Whether the door takes a hello and gives no answer, or takes none.
  var isSilent: Bool { !answers(by: .after(.milliseconds(200))) }

  private func answers(by deadline: Deadline) -> Bool {
    guard let socket = try? connect() else { return false }
    let door = DoorClient(socket: socket)
    return (try? door.send("GET /hello")) != nil && (try? door.response(by: deadline)) != nil
  }

  var capturing: JSON? { (try? ask("GET /status"))?.json?["capturing"] }
}

extension HTTPMessage {
  var json: JSON? { JSON(parsing: body) }
  var error: String { json?["error"]?.string ?? "" }
}
