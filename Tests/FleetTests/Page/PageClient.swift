import Fleet
import Glibc
import Transport
import Wire

@testable import Fleet

/// A client of the page that may say anything at all.
enum PageClient {
  /// Runs what blocks on a thread of its own: the page's answers need those that tests run on.
  static func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    let result = await withCheckedContinuation { continuation in
      _ = Worker(name: "page-client") { continuation.resume(returning: Result { try body() }) }
    }
    return try result.get()
  }

  /// Sends the text as it is, and reads one answer.
  static func say(_ text: String, to address: SocketAddress, within limit: Duration = .seconds(20)) async throws
    -> HTTPMessage
  {
    try await blocking {
      let deadline = Deadline.after(limit)
      let socket = try Socket.connect(to: address, by: deadline)
      defer { socket.close() }
      // The far end may have said no before it has read everything.
      do { try socket.write(Array(text.utf8), by: deadline) } catch {}
      return try answer(on: socket, isHead: text.hasPrefix("HEAD "), by: deadline)
    }
  }

  static func answer(on socket: Socket, isHead: Bool = false, by deadline: Deadline) throws -> HTTPMessage {
    let parser = HTTPParser(.response, bodyLimit: 64 << 20, answersHead: isHead)
    while !parser.isComplete {
      let part = try socket.read(max: 1 << 16, by: deadline)
      if part.isEmpty { try parser.finish() } else { try parser.feed(part) }
    }
    return parser.message
  }

  static func get(
    _ target: String, _ address: SocketAddress, host: String = "localhost", method: String = "GET",
    _ fields: [String] = []
  ) async throws -> HTTPMessage {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
    return try await say(lines.joined(separator: "\r\n") + "\r\n\r\n", to: address)
  }
}

extension HTTPMessage {
  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSON? { JSON(parsing: body) }
}
