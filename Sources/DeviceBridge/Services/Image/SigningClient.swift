import Glibc
import Transport
import Wire

/// Has an image signed for one phone: one HTTP exchange.
struct SigningClient {
  /// A ticket has some kilobytes.
  private static let answerLimit = 1 << 20

  let service: SigningService
  let leash: Leash
  let deadline: Deadline

  /// - Returns: the ticket.
  func ticket(for request: SigningRequest) throws(SigningFailure) -> [UInt8] {
    let parser = HTTPParser(.response, bodyLimit: Self.answerLimit)
    do {
      let socket = try Socket.connect(to: address(), by: deadline)
      defer { socket.close() }
      leash.hold(socket)
      defer { leash.letGo() }
      let body = request.bytes
      try socket.write(Array(head(body.count).utf8) + body, by: deadline)
      while !parser.isComplete {
        let part = try socket.read(max: 1 << 16, by: deadline)
        if part.isEmpty { try parser.finish() } else { try parser.feed(part) }
      }
    } catch let failure as SigningFailure {
      throw failure
    } catch let error as StreamError {
      throw .unreachable(error.sentence)
    } catch let error as HTTPError {
      throw .unreachable(error.sentence)
    } catch {
      throw .unreachable("it gives no answer")
    }
    guard parser.message.status == 200 else { throw .unreachable("it answers with HTTP \(parser.message.status)") }
    let reply: SigningReply
    do throws(ShapeError) { reply = try SigningReply(parser.message.body) } catch {
      throw .unreachable("its answer has no sensible \(error.key)")
    }
    switch reply {
    case .ticket(let ticket): return ticket
    case .refused(let status, let message): throw .refused(status: status, message: message)
    }
  }

  private func head(_ count: Int) -> String {
    """
    POST \(service.target) HTTP/1.1\r
    Host: \(service.name)\r
    User-Agent: \(SigningRequest.userAgent)\r
    Content-Type: \(SigningRequest.contentType)\r
    Content-Length: \(count)\r
    Connection: close\r
    \r

    """
  }

  /// Asks the system for the host's address; on a thread of its own, since that wait has no limit.
  private func address() throws(SigningFailure) -> SocketAddress {
    let host = service.host
    if host == "localhost" || SocketAddress.isNumeric(host) { return .tcp(host: host, port: service.port) }
    let found = Guarded<String?>(nil)
    let latch = Latch()
    _ = Worker(name: "name look-up") {
      let address = Self.numericAddress(of: host)
      found.with { $0 = address }
      latch.open()
    }
    guard leash.wait(for: latch, until: deadline), let address = found.with({ $0 }) else {
      throw .unreachable("no address is known for \(host)")
    }
    return .tcp(host: address, port: service.port)
  }

  private static func numericAddress(of host: String) -> String? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return nil }
    defer { freeaddrinfo(list) }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard
      getnameinfo(
        list.pointee.ai_addr, list.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, Int32(NI_NUMERICHOST)) == 0
    else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Why there is no ticket.
enum SigningFailure: Error {
  case unreachable(String)
  /// The service's own number and words.
  case refused(status: Int, message: String)

  var words: String {
    switch self {
    case .unreachable(let words): words
    case .refused(let status, let message): "refused with \(status): \(message)"
    }
  }
}
