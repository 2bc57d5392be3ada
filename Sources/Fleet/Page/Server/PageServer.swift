import CMicroHTTPD
import Glibc
import Transport

/// An HTTP server on one listening socket: libmicrohttpd with one thread, bounds on what a client may cost, and a deadline
/// for each.
final class PageServer: Sendable {
  struct Limits: Sendable {
    /// Clients at once; further ones wait in the backlog.
    var connections: UInt32 = 96
    /// Live pages among them.
    var streams = 32
    /// Of memory for one client: a head that does not fit is refused.
    var connectionBytes = 32 << 10
    var spans = PageConnections.Spans()
  }

  private static let farewell = Duration.milliseconds(500)

  typealias Handler = @Sendable (PageRequest) -> PageReply

  let address: SocketAddress
  let connections: PageConnections
  private let listener: Listener
  private let limits: Limits
  private let handler: Handler
  private struct State: @unchecked Sendable {
    var daemon: OpaquePointer?
    var isStopping = false
    var exchanges: [ObjectIdentifier: PageExchange] = [:]
    var streams: [ObjectIdentifier: EventStream] = [:]
  }
  private let state = Awaited(State())

  /// Begins to serve.
  init(_ listener: Listener, limits: Limits = Limits(), _ handler: @escaping Handler) throws(PageTrouble) {
    self.listener = listener
    self.limits = limits
    connections = PageConnections(limits.spans)
    self.handler = handler
    address = listener.address
    let daemon = start()
    guard let daemon else { throw .server(address) }
    state.with { $0.daemon = daemon }
  }

  deinit { stop() }

  /// Ends every connection, and the thread.
  func stop() {
    let (daemon, exchanges, streams): (OpaquePointer?, [PageExchange], [EventStream]) = state.with { state in
      state.isStopping = true
      let daemon = state.daemon
      state.daemon = nil
      return (daemon, Array(state.exchanges.values), Array(state.streams.values))
    }
    guard let daemon else { return }
    // Otherwise the library would close a descriptor that is the listener's.
    MHD_quiesce_daemon(daemon)
    // No client may be set aside when the library stops.
    for exchange in exchanges { exchange.finish(.refusal(503, PageSentence.stopping)) }
    for stream in streams { stream.end() }
    // The library cuts off what it has not sent; a client that does not read is not waited for any longer.
    _ = state.wait(by: .after(Self.farewell)) { $0.exchanges.isEmpty ? true : nil }
    MHD_stop_daemon(daemon)
    listener.close()
  }

  /// Requests under way.
  var waiting: Int { state.with { $0.exchanges.count } }
  var streamCount: Int { state.with { $0.streams.count } }

  /// Cuts off the clients whose time is over.
  func cutLate() {
    // One that is set aside notices nothing before something is said to it.
    if connections.cutLate() { beatStreams() }
  }

  func wakeStreams() { for stream in streams { stream.wake() } }
  func beatStreams() { for stream in streams { stream.beat() } }

  private var streams: [EventStream] { state.with { Array($0.streams.values) } }

  // MARK: - The library

  private func start() -> OpaquePointer? {
    let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue
    // Nothing calls back once the library has stopped, and this object stops it before it goes.
    let this = UnsafePointer<UInt8>(OpaquePointer(Unmanaged.passUnretained(self).toOpaque()))
    let options: [any CVarArg] = [
      Self.option(.LISTEN_SOCKET), listener.fd,
      Self.option(.CONNECTION_LIMIT), limits.connections,
      Self.option(.CONNECTION_MEMORY_LIMIT), limits.connectionBytes,
      // Seconds without a byte either way.
      Self.option(.CONNECTION_TIMEOUT), UInt32(15),
      Self.option(.STRICT_FOR_CLIENT), Int32(1),
      Self.option(.URI_LOG_CALLBACK), unsafeBitCast(Self.lineCame, to: OpaquePointer.self), this,
      Self.option(.NOTIFY_COMPLETED), unsafeBitCast(Self.requestEnded, to: OpaquePointer.self), this,
      Self.option(.NOTIFY_CONNECTION), unsafeBitCast(Self.connectionChanged, to: OpaquePointer.self), this,
      Self.option(.END),
    ]
    return withVaList(options) {
      MHD_start_daemon_va(flags, 0, nil, nil, Self.requestCame, UnsafeMutableRawPointer(mutating: this), $0)
    }
  }

  private static func option(_ option: MHD_OPTION) -> Int32 { Int32(option.rawValue) }

  private static func server(_ pointer: UnsafeMutableRawPointer?) -> PageServer? {
    pointer.map { Unmanaged<PageServer>.fromOpaque($0).takeUnretainedValue() }
  }

  private typealias LineCallback =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer?

  private static var lineCame: LineCallback {
    { server, target, _ in
      guard let server = PageServer.server(server), let target else { return nil }
      let exchange = PageExchange(
        target: Array(UnsafeBufferPointer(start: target, count: strlen(target))).map(UInt8.init))
      return Unmanaged.passRetained(server.opened(exchange)).toOpaque()
    }
  }

  private static var requestCame: MHD_AccessHandlerCallback {
    { server, connection, _, method, _, _, size, context in
      guard let server = PageServer.server(server), let connection, let method, let size,
        let exchange = context?.pointee.map({ Unmanaged<PageExchange>.fromOpaque($0).takeUnretainedValue() })
      else { return .NO }
      let bytes = size.pointee
      size.pointee = 0
      return server.advance(exchange, on: connection, method: String(cString: method), bytes: bytes) ? .YES : .NO
    }
  }

  private static var requestEnded: MHD_RequestCompletedCallback {
    { server, connection, context, _ in
      guard let server = PageServer.server(server), let connection, let pointer = context?.pointee else { return }
      context?.pointee = nil
      server.closed(Unmanaged<PageExchange>.fromOpaque(pointer).takeRetainedValue())
      server.connections.set(fleet_mhd_connection_fd(connection), \.request)
    }
  }

  private static var connectionChanged: MHD_NotifyConnectionCallback {
    { server, connection, _, change in
      guard let server = PageServer.server(server), let connection else { return }
      let fd = fleet_mhd_connection_fd(connection)
      switch change {
      case .CONNECTION_NOTIFY_STARTED: server.connections.set(fd, \.request)
      case .CONNECTION_NOTIFY_CLOSED: server.connections.forget(fd)
      @unknown default: break
      }
    }
  }

  // MARK: - Requests

  private func opened(_ exchange: PageExchange) -> PageExchange {
    state.with { $0.exchanges[ObjectIdentifier(exchange)] = exchange }
    return exchange
  }

  private func closed(_ exchange: PageExchange) {
    state.with { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  /// - Returns: whether the connection may go on.
  private func advance(_ exchange: PageExchange, on connection: OpaquePointer, method: String, bytes: Int) -> Bool {
    switch exchange.called(bytes: bytes) {
    case .goOn: return true
    case .cut: return false
    case .answer(let response): return queue(response, on: connection)
    case .begin: break
    }
    connections.set(fleet_mhd_connection_fd(connection), \.answer)
    guard let request = PageRequest(connection, method: method, target: exchange.target) else {
      return queue(.refusal(400, PageSentence.badTarget), on: connection)
    }
    switch handler(request) {
    case .now(let response): return queue(response, on: connection)
    case .later(let limit, let work):
      // Under the lock that `stop` takes: whoever is set aside is known to it.
      let isAside = state.with { state in
        if !state.isStopping { exchange.setAside(connection) }
        return !state.isStopping
      }
      guard isAside else { return queue(.refusal(503, PageSentence.stopping), on: connection) }
      Task {
        let answer = OneShot<PageResponse>()
        let task = Task { answer.give(await work()) }
        exchange.finish(await answer.value(within: limit, else: .refusal(503, PageSentence.tooSlow)))
        task.cancel()
      }
      return true
    case .events(let source): return stream(source, on: connection)
    }
  }

  private func queue(_ response: PageResponse, on connection: OpaquePointer) -> Bool {
    var body = response.body
    let raw = body.withUnsafeMutableBytes {
      MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
    }
    return send(raw, response.status, type: response.type, response.headers, on: connection)
  }

  private func stream(_ source: any EventSource, on connection: OpaquePointer) -> Bool {
    guard !state.with({ $0.isStopping }) else { return queue(.refusal(503, PageSentence.stopping), on: connection) }
    let stream = EventStream(connection, source) { [weak self] stream in
      self?.state.with { _ = $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    }
    let isTaken = state.with { state in
      guard !state.isStopping, state.streams.count < limits.streams else { return false }
      state.streams[ObjectIdentifier(stream)] = stream
      return true
    }
    guard isTaken else {
      return queue(.refusal(503, PageSentence.tooManyStreams, headers: ["Retry-After": "30"]), on: connection)
    }
    connections.set(fleet_mhd_connection_fd(connection), \.events)
    return send(stream.response(), 200, type: "text/event-stream", [:], on: connection)
  }

  private func send(
    _ response: OpaquePointer?, _ status: Int, type: String, _ headers: [String: String], on connection: OpaquePointer
  ) -> Bool {
    guard let response else { return false }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, "Content-Type", type)
    for (name, value) in PageResponse.everyHeader { MHD_add_response_header(response, name, value) }
    for (name, value) in headers { MHD_add_response_header(response, name, value) }
    return MHD_queue_response(connection, UInt32(status), response) == .YES
  }
}
