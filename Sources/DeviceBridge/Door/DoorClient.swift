import Transport
import Wire

/// One HTTP/1.1 exchange with the app's server through the phone's port, on a connection of its own or a kept one.
struct DoorClient: Sendable {
  /// An answer larger than this is no answer of a door.
  static let bodyLimit = 16 << 20

  private let route: PhoneRoute
  private let leash: Leash
  private let kept: KeptConnections

  init(_ route: PhoneRoute, _ leash: Leash, _ kept: KeptConnections = KeptConnections()) {
    self.route = route
    self.leash = leash
    self.kept = kept
  }

  func ending(of request: DoorRequest) -> DoorAnswer.Ending {
    if let problem = request.problem { return .unreachable(.badRequest(detail: problem)) }
    if request.canKeepConnection, let connection = kept.take(request.port),
      let ending = ending(of: request, on: connection)
    {
      return ending
    }
    let limit = request.deadline.remaining
    do throws(PhoneError) {
      let (socket, phone) = try route.connection(port: request.port, by: request.deadline, leash)
      leash.hold(socket)
      let (ending, isReusable) = exchange(request, within: limit, on: socket)
      leash.letGo()
      if isReusable { kept.put(KeptConnection(socket, phone), for: request.port) } else { socket.close() }
      guard case .badReply = ending else { return ending }
      // A cable that was pulled ends connections too, and that is not the app's doing.
      let step = "answering \(request.method) \(request.target)"
      return route.loss(of: phone, step: step, leash).map(DoorAnswer.Ending.unreachable) ?? ending
    } catch .refused {
      return .refused
    } catch .muxSilent where limit < .seconds(1) && request.deadline.hasPassed {
      // So little time says nothing about the daemon.
      return .unreachable(.silent(route.udid, step: "reaching its port \(request.port)", limit: limit))
    } catch {
      return .unreachable(error)
    }
  }

  /// - Returns: nil when the far end had closed the connection before it had read the request: that says nothing about
  ///   the door, and a new connection does.
  private func ending(of request: DoorRequest, on connection: KeptConnection) -> DoorAnswer.Ending? {
    let socket = connection.socket
    leash.hold(socket)
    let (ending, isReusable) = exchange(request, within: request.deadline.remaining, on: socket)
    leash.letGo()
    if isReusable { kept.put(connection, for: request.port) } else { socket.close() }
    switch ending {
    case .badReply: return nil
    case .response, .refused, .silent, .unreachable: return ending
    }
  }

  /// - Parameter limit: the whole request's time, its connect included.
  /// - Returns: also whether the connection can carry another request.
  private func exchange(
    _ request: DoorRequest, within limit: Duration, on stream: any ByteStream
  ) -> (DoorAnswer.Ending, isReusable: Bool) {
    let parser = HTTPParser(
      .response, bodyLimit: Self.bodyLimit, keptBody: request.keptBody, answersHead: request.method == "HEAD")
    let ending = ending(of: request, within: limit, on: stream, parser)
    let isReusable = request.canKeepConnection && parser.message.keepsAlive && parser.surplus.isEmpty && !leash.isCut
    return (ending, isReusable)
  }

  private func ending(
    of request: DoorRequest, within limit: Duration, on stream: any ByteStream, _ parser: HTTPParser
  ) -> DoorAnswer.Ending {
    do throws(StreamError) {
      try stream.write(request.bytes, by: request.deadline)
    } catch .timedOut {
      return .silent(received: 0, detail: "the request was not taken within \(limit.shown)")
    } catch {
      // The app may have answered and closed before it had read everything.
    }
    var received = 0
    do {
      while !parser.isComplete {
        let part = try stream.read(max: 1 << 16, by: request.deadline)
        received += part.count
        if part.isEmpty { try parser.finish() } else { try parser.feed(part) }
      }
      return .response(parser.message)
    } catch  where leash.isCut {
      return .unreachable(.ended(route.udid))
    } catch let error as HTTPError {
      return .badReply(detail: PhoneText.clean(error.sentence))
    } catch StreamError.timedOut {
      return .silent(received: received, detail: Self.missing(parser, received, limit))
    } catch {
      return .badReply(detail: received == 0 ? HTTPError.empty.sentence : "reset after \(received) bytes")
    }
  }

  /// How much had come when the time was up.
  private static func missing(_ parser: HTTPParser, _ received: Int, _ limit: Duration) -> String {
    let within = "within \(limit.shown)"
    if received == 0 { return "no byte \(within)" }
    guard parser.headIsComplete else { return "a head of \(received) bytes without an end \(within)" }
    guard let promised = parser.promised else { return "\(parser.bodyBytes) bytes without an end \(within)" }
    return "\(parser.bodyBytes) of \(promised) bytes \(within)"
  }
}
