import Transport
import Wire

/// The server's side of one HTTP/1.1 connection: requests in, one after another, within bounds.
struct HTTPConnection {
  /// Bytes of a request's head that are taken.
  static let headLimit = 64 << 10
  /// Bytes of a request's body that are taken.
  static let bodyLimit = 1 << 20

  enum Arrival: Equatable {
    case request(HTTPMessage)
    /// What came is no request that is taken; the connection is of no more use after this answer.
    case refused(DoorReply)
    case gone
  }

  let socket: Socket
  private var surplus: [UInt8] = []

  init(_ socket: Socket) { self.socket = socket }

  /// Waits for a whole request; whoever owns the socket ends the wait by shutting it down.
  mutating func next() -> Arrival {
    let parser = HTTPParser(.request, bodyLimit: Self.bodyLimit)
    var bytes = surplus
    surplus = []
    var headSize = 0
    var mayWait = true
    while true {
      if !bytes.isEmpty {
        do {
          try parser.feed(bytes)
        } catch .tooLarge {
          return .refused(.refusal(413, "the request's body is larger than \(Self.bodyLimit) bytes"))
        } catch {
          return .refused(.refusal(400, error.sentence))
        }
        if parser.isComplete {
          surplus = parser.surplus
          return .request(parser.message)
        }
        if !parser.headIsComplete {
          headSize += bytes.count
          if headSize > Self.headLimit {
            return .refused(.refusal(431, "the request's head is larger than \(Self.headLimit) bytes"))
          }
        } else if mayWait, parser.message.header("Expect")?.lowercased() == "100-continue" {
          // The caller holds its body back until it is told.
          mayWait = false
          guard send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return .gone }
        }
      }
      guard let next = try? socket.read(max: 1 << 14, by: .never), !next.isEmpty else { return .gone }
      bytes = next
    }
  }

  /// - Returns: false when the far end has gone, or takes nothing for 30 s.
  func send(_ bytes: [UInt8]) -> Bool { (try? socket.write(bytes, by: .after(.seconds(30)))) != nil }
}
