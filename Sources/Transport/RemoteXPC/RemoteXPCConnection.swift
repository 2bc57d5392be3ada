import Wire

/// A RemoteXPC connection over any stream of bytes, as client or as server.
///
/// It has no thread: whoever waits reads the connection, also for the others who wait. Any number of threads may use
/// it at once. Every call ends by its deadline.
public final class RemoteXPCConnection: Sendable {
  /// What a host grants as a window: on each stream, and in all.
  public static let defaultWindow: UInt32 = 1 << 20
  /// Bytes of one message, and of all unasked ones that wait.
  public static let defaultLimit = XPCMessageReader.defaultLimit

  private let stream: any ByteStream
  private let state: Awaited<RemoteXPCState>

  private init(
    _ role: HTTP2Session.Role, on stream: any ByteStream, window: UInt32, limit: Int, by deadline: Deadline
  ) throws(RemoteXPCError) {
    self.stream = stream
    state = Awaited(try RemoteXPCState(role, window: window, limit: limit))
    _ = try drive(by: deadline) { $0.isOpen ? true : nil }
  }

  deinit { stream.close() }

  /// The client's side: sends the opening and waits for the peer's settings.
  ///
  /// The connection owns the stream from now on, also when this fails.
  public static func open(
    on stream: any ByteStream, window: UInt32 = defaultWindow, limit: Int = defaultLimit, by deadline: Deadline
  ) throws(RemoteXPCError) -> RemoteXPCConnection {
    try RemoteXPCConnection(.client, on: stream, window: window, limit: limit, by: deadline)
  }

  /// The server's side: answers the peer's opening, in whichever order it comes.
  public static func accept(
    on stream: any ByteStream, window: UInt32 = defaultWindow, limit: Int = defaultLimit, by deadline: Deadline
  ) throws(RemoteXPCError) -> RemoteXPCConnection {
    try RemoteXPCConnection(.server, on: stream, window: window, limit: limit, by: deadline)
  }

  // MARK: - Messages

  /// Sends a message that wants no reply. It has left for the peer when this returns.
  public func send(_ body: XPCValue, by deadline: Deadline) throws(RemoteXPCError) {
    try post(by: deadline) { state throws(RemoteXPCError) in
      try state.send(body, .push, on: RemoteXPCState.root)
    }
  }

  /// Sends a request and waits for its reply, told from others by its number. A reply that comes after the deadline
  /// is thrown away.
  public func request(_ body: XPCValue, by deadline: Deadline) throws(RemoteXPCError) -> XPCMessage {
    let number = try state.with { state throws(RemoteXPCError) in
      let number = try state.send(body, .request, on: RemoteXPCState.root)
      state.await(number)
      return number
    }
    defer { state.with { $0.forget(number) } }
    return try drive(by: deadline) { $0.requests[number] ?? nil }
  }

  /// Sends a request and hands over what comes after it, pushes as well as its reply, until the body has what it wants.
  public func request<Result>(
    _ body: XPCValue, by deadline: Deadline, until take: (XPCMessage) -> Result?
  ) throws(RemoteXPCError) -> Result {
    let number = try state.with { state throws(RemoteXPCError) in
      let number = try state.send(body, .request, on: RemoteXPCState.root)
      state.await(number)
      return number
    }
    defer { state.with { $0.forget(number) } }
    while true {
      let message: XPCMessage = try drive(by: deadline) { state in
        // Pushes first: those that came before the reply belong before it.
        if let push = state.takeMessage() { return push }
        guard let reply = state.requests[number] ?? nil else { return nil }
        state.forget(number)
        return reply
      }
      if let result = take(message) { return result }
    }
  }

  /// The next message that was not asked for: for a client a push, for a server a request (`wantsReply`) or a push.
  ///
  /// - Returns: nil at the peer's orderly end.
  public func receive(by deadline: Deadline) throws(RemoteXPCError) -> XPCMessage? {
    try drive(by: deadline) { state -> XPCMessage?? in
      if let message = state.takeMessage() { return .some(message) }
      return state.hasEnded ? .some(nil) : nil
    }
  }

  /// Answers a request of the peer's.
  public func reply(_ body: XPCValue, to request: XPCMessage, by deadline: Deadline) throws(RemoteXPCError) {
    try post(by: deadline) { state throws(RemoteXPCError) in
      try state.send(body, .reply, on: RemoteXPCState.replies, id: request.id)
    }
  }

  /// The two streams that messages go over.
  public enum Way: Sendable {
    /// Requests and pushes.
    case root
    case replies
  }

  /// Puts bytes on a stream as they are, in frames of their own: for an end that is to misbehave.
  public func put(_ bytes: [UInt8], on way: Way, by deadline: Deadline) throws(RemoteXPCError) {
    try post(by: deadline) { state throws(RemoteXPCError) in
      try state.put(bytes, on: way == .root ? RemoteXPCState.root : RemoteXPCState.replies)
      return 0
    }
  }

  /// Ends the first stream with a code of HTTP/2, then the connection: 5 where another connection takes its place.
  public func cancel(code: UInt32, by deadline: Deadline) {
    state.with { $0.session.reset(RemoteXPCState.root, code: code) }
    // Whether the far end still hears it is its own affair.
    _ = try? drive(by: deadline) { $0.hasWritten ? true : nil }
    close()
  }

  /// Whether nothing has ended it so far, as far as was read.
  public var isOpen: Bool { state.with { $0.failure == nil && !$0.hasEnded } }

  /// Ends the connection, and calls under way on other threads; the stream underneath is closed with this object.
  public func close() {
    state.with { $0.fail(.stream(.closed)) }
    stream.shutdown()
  }

  // MARK: - The connection

  private func post(
    by deadline: Deadline, _ body: (inout RemoteXPCState) throws(RemoteXPCError) -> UInt64
  ) throws(RemoteXPCError) {
    try state.with { state throws(RemoteXPCError) in _ = try body(&state) }
    _ = try drive(by: deadline) { $0.hasSentAll ? true : nil }
  }

  private enum Step<Result: Sendable>: Sendable {
    case done(Result)
    case failed(RemoteXPCError)
    case write([UInt8])
    case read
  }

  /// Writes and reads until the body gives something. One thread reads and one writes at a time; the others wait for
  /// what these bring.
  private func drive<Result: Sendable>(
    by deadline: Deadline, until body: (inout RemoteXPCState) -> Result?
  ) throws(RemoteXPCError) -> Result {
    while true {
      let step: Step<Result>? = state.wait(by: deadline) { state in
        if let bytes = state.startWriting() { return .write(bytes) }
        if let result = body(&state) { return .done(result) }
        if let failure = state.failure { return .failed(failure) }
        return state.startReading() ? .read : nil
      }
      switch step {
      case .done(let result): return result
      case .failed(let error): throw error
      case .write(let bytes): write(bytes, by: deadline)
      case .read: try read(by: deadline)
      case nil: throw .timedOut
      }
    }
  }

  private func write(_ bytes: [UInt8], by deadline: Deadline) {
    do throws(StreamError) {
      try stream.write(bytes, by: deadline)
      state.with { $0.endWriting() }
    } catch {
      // A part of a frame may have gone out: nothing sensible can follow it.
      state.with {
        $0.endWriting()
        $0.fail(.stream(error))
      }
    }
  }

  private func read(by deadline: Deadline) throws(RemoteXPCError) {
    do throws(StreamError) {
      let bytes = try stream.read(max: 1 << 16, by: deadline)
      state.with {
        $0.endReading()
        if bytes.isEmpty { $0.end() } else { $0.feed(bytes) }
      }
    } catch {
      state.with {
        $0.endReading()
        if error != .timedOut { $0.fail(.stream(error)) }
      }
      if error == .timedOut { throw .timedOut }
    }
  }
}
