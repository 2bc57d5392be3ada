import Transport

/// Something wrong with a service, because somebody asked for it; it begins with the service's start.
struct ServiceFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// Takes what comes and never answers.
    case hang
    /// The connection ends before the service has said anything.
    case close
    /// The first thing that the service says is garbage of the same length.
    case garbage
    /// The connection ends in the middle of the first thing that the service says.
    case half
    /// Byte by byte, with a pause of phone time after each.
    case drip
    /// The service's TLS handshake begins and goes no further.
    case tlsHang = "tls-hang"
    /// The service runs without TLS, and its start says so.
    case clear
    /// The start is refused with an error.
    case refuse
    /// The start names a port on which nobody listens.
    case noPort = "no-port"
  }

  static let anyService = "all"
  static let defaultError = LockdownError.invalidService
  /// Of `drip`, in phone time.
  static let pause = Duration.milliseconds(100)

  var kind: Kind
  /// A name that StartService knows, or `all`.
  var service: String
  /// Of `refuse`.
  var error = ServiceFault.defaultError
  /// So many starts more; nil until it is taken away.
  var left: Int?
}

extension PhoneState {
  /// The fault of the service that is being started, counted down.
  mutating func takeServiceFault(_ service: String) -> ServiceFault? {
    guard
      let index = serviceFaults.firstIndex(where: { $0.service == service || $0.service == ServiceFault.anyService })
    else { return nil }
    let fault = serviceFaults[index]
    if let left = fault.left {
      serviceFaults[index].left = left - 1
      if left <= 1 { serviceFaults.remove(at: index) }
    }
    return fault
  }
}

/// A service's stream whose first message is spoilt on its way out; the service itself knows nothing of it.
final class SpoiltStream: ByteStream {
  let stream: any ByteStream
  private let socket: Socket?
  private let kind: ServiceFault.Kind
  private let clock: any PhoneClock
  private let hasSpoken = Guarded(false)

  init(_ stream: any ByteStream, on socket: Socket?, _ kind: ServiceFault.Kind, clock: any PhoneClock) {
    self.stream = stream
    self.socket = socket
    self.kind = kind
    self.clock = clock
  }

  func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] { try stream.read(max: max, by: deadline) }

  func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError) {
    let isFirst = hasSpoken.with { hasSpoken in
      defer { hasSpoken = true }
      return !hasSpoken
    }
    switch kind {
    case .garbage where isFirst:
      // What a frame says about its length stays true, so that the rest is read.
      let head = bytes.prefix(4)
      try stream.write(head + bytes.dropFirst(4).map { $0 ^ 0xA5 }, by: deadline)
    case .half where isFirst:
      try stream.write(Array(bytes.prefix(bytes.count / 2)), by: deadline)
      stream.shutdown()
      throw .closed
    case .drip:
      for byte in bytes {
        // The pauses belong to the fault, not to the caller's patience.
        try stream.write([byte], by: max(deadline, .after(.seconds(1))))
        try clock.rest(ServiceFault.pause, on: socket)
      }
    case .garbage, .half, .hang, .close, .tlsHang, .clear, .refuse, .noPort:
      try stream.write(bytes, by: deadline)
    }
  }

  func shutdown() { stream.shutdown() }

  func close() { stream.close() }
}
