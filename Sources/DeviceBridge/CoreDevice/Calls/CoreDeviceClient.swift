import Transport
import Wire

/// A connection to one of the services in a phone's tunnel, for one call after another.
///
/// Used on the lane's thread; while it is there the tunnel does not count as idle.
final class CoreDeviceClient {
  /// How long an answer may take; nil: until the call's deadline.
  var patience: Duration?

  private let work: PhoneWork
  private let tunnel: PhoneTunnel
  private let connection: RemoteXPCConnection
  private let service: RSDService

  init(_ work: PhoneWork, _ tunnel: PhoneTunnel, _ connection: RemoteXPCConnection, _ service: RSDService) {
    self.work = work
    self.tunnel = tunnel
    self.connection = connection
    self.service = service
    work.shelf.use()
  }

  deinit {
    connection.close()
    work.shelf.leave()
  }

  func offers(_ feature: CoreDeviceFeature) -> Bool { service.offers(feature) }

  /// Whether the service names this feature, not just none at all.
  func names(_ feature: CoreDeviceFeature) -> Bool { !service.features.isEmpty && service.offers(feature) }

  /// Calls a feature.
  ///
  /// - Returns: its output, or the phone's error.
  func call(_ feature: CoreDeviceFeature, _ step: String, _ input: XPCValue = [:]) throws(PhoneError) -> CoreDeviceReply
  {
    let reply = try waiting(step) { deadline throws(RemoteXPCError) in
      try connection.request(CoreDeviceRequest(feature, input: input).body, by: deadline)
    }
    return try read(step) { () throws(ShapeError) in try CoreDeviceReply(reply.body ?? nil) }
  }

  /// Calls a feature that answers in pieces.
  ///
  /// - Returns: all pieces, or the phone's error.
  func stream(
    _ feature: CoreDeviceFeature, _ step: String, _ input: XPCValue = [:]
  ) throws(PhoneError) -> StreamEnd {
    let wanted = StreamInput(wrapping: input)
    var elements: [XPCValue] = []
    return try waiting(step) { deadline throws(RemoteXPCError) in
      try connection.request(CoreDeviceRequest(feature, input: wanted.body).body, by: deadline) {
        message -> StreamEnd? in
        if case .error(let chain)? = message.body.flatMap({ try? CoreDeviceReply($0) }) { return .error(chain) }
        guard let push = message.body.flatMap(StreamPush.init), push.channel == nil || push.channel == wanted.channel
        else { return nil }
        switch push.status {
        case .elements(let more):
          elements += more
          // No phone has so many processes or apps.
          return elements.count > Self.mostElements ? .error(Self.tooMany) : nil
        case .finished: return .elements(elements)
        case .failed(let chain): return .error(chain ?? Self.unsaid)
        }
      }
    }
  }

  /// What a stream came to.
  enum StreamEnd {
    case elements([XPCValue])
    case error(ErrorChain)
  }

  private static let mostElements = 100_000
  private static let tooMany = ErrorChain(domain: "fleetctl", code: 1, description: "the list has no end")
  private static let unsaid = ErrorChain(domain: "fleetctl", code: 2, description: "the phone gave up and said not why")

  /// Reads what a feature answered.
  func read<T>(_ step: String, _ body: () throws(ShapeError) -> T) throws(PhoneError) -> T {
    do throws(ShapeError) { return try body() } catch {
      throw .badReply(work.udid, step: step, detail: PhoneText.clean(error.sentence))
    }
  }

  private func waiting<T>(
    _ step: String, _ body: (Deadline) throws(RemoteXPCError) -> T
  ) throws(PhoneError) -> T {
    let deadline = min(work.context.deadline, patience.map { .after($0) } ?? .never)
    return try work.context.holding({ [connection] in connection.close() }) { () throws(PhoneError) in
      do throws(RemoteXPCError) { return try body(deadline) } catch {
        throw work.context.ended(at: step) ?? work.meaning(of: .connection(error), tunnel, step)
      }
    }
  }
}
