import Transport
import Wire

/// A wrong answer that the door is made to give, whatever it is asked.
struct DoorFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// The tester's own bytes, then the connection closes.
    case raw
    /// Closes without a byte.
    case empty
    /// Promises 64 bytes, sends 63, closes.
    case half
    /// The same, and the connection stays open.
    case halfOpen = "half-open"
    /// HTTP/1.0 without a length; the body ends with the connection.
    case noLength = "no-length"
    /// The same in HTTP/1.1 with `Connection: close`.
    case noLength11 = "no-length-1.1"
    /// Ends inside the head.
    case headCut = "head-cut"
    /// Takes the request and never answers.
    case silent
    /// Resets the connection.
    case reset
    /// Bytes that are no HTTP.
    case notHTTP = "not-http"
    /// Status 200 with half an emoji in its JSON.
    case surrogate
    /// The same with status 500.
    case surrogate500 = "surrogate-500"
    /// A right answer, one byte a second of phone time.
    case drip
    /// A body that never ends.
    case endless
  }

  let kind: Kind
  /// For `raw`.
  var bytes: [UInt8] = []
  /// Only requests of this path; nil concerns all.
  var path: String?

  func concerns(_ path: String) -> Bool { self.path == nil || self.path == path }

  /// What is sent before the connection ends, or stays.
  var reply: [UInt8] {
    switch kind {
    case .raw: bytes
    case .empty, .silent, .reset: []
    case .half, .halfOpen:
      Self.text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 64\r\n\r\n")
        + [UInt8](repeating: UInt8(ascii: "x"), count: 63)
    case .noLength: Self.text("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")
    case .noLength11: Self.text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhello")
    case .headCut: Self.text("HTTP/1.1 200 OK\r\nContent-Type: text/pl")
    case .notHTTP: Self.text("SSH-2.0-OpenSSH_9.2\r\n")
    case .surrogate: DoorReply(status: 200, body: Self.loneSurrogate).bytes(keepAlive: false)
    case .surrogate500: DoorReply(status: 500, body: Self.loneSurrogate).bytes(keepAlive: false)
    case .drip: DoorReply.json(["ok": true, "name": "Kiosk", "version": "0", "active": true]).bytes(keepAlive: false)
    case .endless: Self.text("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n")
    }
  }

  /// `{"m":"…"}` with the first half of a surrogate pair, which is no UTF-8.
  private static let loneSurrogate: [UInt8] = [0x7B, 0x22, 0x6D, 0x22, 0x3A, 0x22, 0xED, 0xA0, 0xBD, 0x22, 0x7D]

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
}

extension KioskApp {
  /// Gives the wrong answer; the connection ends when this returns.
  func misbehave(_ fault: DoorFault, on connection: HTTPConnection, of process: AppProcess) {
    switch fault.kind {
    case .raw, .empty, .half, .noLength, .noLength11, .headCut, .notHTTP, .surrogate, .surrogate500:
      _ = connection.send(fault.reply)
    case .reset: connection.socket.reset()
    case .silent, .halfOpen:
      guard connection.send(fault.reply) else { return }
      // What else comes is taken and not answered.
      while let more = try? connection.socket.read(max: 1 << 14, by: .never), !more.isEmpty {}
    case .drip:
      for byte in fault.reply {
        guard connection.send([byte]),
          surroundings.clock.wait(until: surroundings.clock.now + .seconds(1), unless: process.ended)
        else { return }
      }
    case .endless:
      let filling = [UInt8](repeating: UInt8(ascii: "."), count: 1 << 14)
      var next = fault.reply
      while connection.send(next) { next = filling }
    }
  }
}
