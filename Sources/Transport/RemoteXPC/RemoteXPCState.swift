import Wire

/// What a RemoteXPC connection knows, without the connection: bytes in, messages and bytes out.
struct RemoteXPCState {
  /// Requests, pushes and the opening go both ways on the first stream, replies on the second.
  static let root: Int32 = 1
  static let replies: Int32 = 3
  static var emptyDictionary: XPCValue { .dictionary([:]) }
  /// The opening's last message, on the stream of replies.
  static let initHandshake: XPCMessage.Flags = [.always, .initHandshake]

  let role: HTTP2Session.Role
  let session: HTTP2Session
  /// Unasked messages that nobody has taken yet.
  private(set) var inbox: [XPCMessage] = []
  /// Requests of ours that wait, with their reply once it has come.
  private(set) var requests: [UInt64: XPCMessage?] = [:]
  private(set) var failure: RemoteXPCError?
  private(set) var hasEnded = false
  /// One thread reads the connection at a time, and one writes.
  private(set) var isReading = false
  private(set) var isWriting = false

  private var readers: [Int32: XPCMessageReader]
  private var inboxBytes = 0
  private let limit: Int
  private var nextID: UInt64
  private var settingsCame = false
  private var opened: Set<Opening> = []

  /// What the peer's opening consists of.
  private enum Opening: CaseIterable { case root, version, replies }

  /// - Parameter limit: bytes that one message may have, and all that wait together.
  init(_ role: HTTP2Session.Role, window: UInt32, limit: Int) throws(RemoteXPCError) {
    self.role = role
    self.limit = limit
    readers = [Self.root: XPCMessageReader(limit: limit), Self.replies: XPCMessageReader(limit: limit)]
    do throws(HTTP2Error) {
      session = try HTTP2Session(role, window: window)
      switch role {
      case .client:
        nextID = 1
        try Self.open(session)
      case .server: nextID = 2
      }
    } catch { throw RemoteXPCError(error) }
  }

  /// The frames with which every client begins, in the order that phones insist on: the second stream's HEADERS come
  /// before the message about versions.
  private static func open(_ session: HTTP2Session) throws(HTTP2Error) {
    let root = try session.open()
    try session.send(XPCMessage(.always, id: 0, body: emptyDictionary).bytes, on: root)
    session.fixOrder()
    let replies = try session.open()
    try session.send(XPCMessage(.opening, id: 0).bytes, on: root)
    session.fixOrder()
    try session.send(XPCMessage(initHandshake, id: 0).bytes, on: replies)
    session.fixOrder()
  }

  /// Whether requests may be sent: the client needs the peer's settings, the server the whole opening.
  var isOpen: Bool {
    switch role {
    case .client: settingsCame
    case .server: opened.count == Opening.allCases.count
    }
  }

  // MARK: - Turns

  /// - Returns: bytes that the caller writes now; nil when there are none or another thread is writing.
  mutating func startWriting() -> [UInt8]? {
    // A peer that broke the protocol is still told so; over a stream that failed nothing goes.
    if case .stream = failure { return nil }
    if isWriting { return nil }
    let bytes = session.output()
    isWriting = !bytes.isEmpty
    return isWriting ? bytes : nil
  }

  /// - Returns: whether the caller reads now.
  mutating func startReading() -> Bool {
    if isReading { return false }
    isReading = true
    return true
  }

  /// Whether everything has been handed to the stream underneath.
  var hasSentAll: Bool { !isWriting && session.waiting == 0 }

  mutating func endWriting() { isWriting = false }
  mutating func endReading() { isReading = false }

  // MARK: - Out

  /// Queues a message on a stream.
  ///
  /// - Returns: its number.
  mutating func send(
    _ body: XPCValue, _ flags: XPCMessage.Flags, on stream: Int32, id: UInt64? = nil
  ) throws(RemoteXPCError) -> UInt64 {
    if let failure { throw failure }
    let number = id ?? nextID
    if id == nil { nextID += 2 }
    do throws(HTTP2Error) {
      try session.send(XPCMessage(flags, id: number, body: body).bytes, on: stream)
    } catch { throw RemoteXPCError(error) }
    return number
  }

  /// Queues bytes on a stream, whatever they are.
  mutating func put(_ bytes: [UInt8], on stream: Int32) throws(RemoteXPCError) {
    if let failure { throw failure }
    do throws(HTTP2Error) { try session.send(bytes, on: stream) } catch { throw RemoteXPCError(error) }
  }

  /// Whether nothing is being written, and nothing waits to be.
  var hasWritten: Bool { !isWriting }

  mutating func await(_ request: UInt64) { requests.updateValue(nil, forKey: request) }

  mutating func forget(_ request: UInt64) { requests[request] = nil }

  /// The oldest message that nobody asked for.
  mutating func takeMessage() -> XPCMessage? {
    if inbox.isEmpty { return nil }
    let message = inbox.removeFirst()
    if inbox.isEmpty { inboxBytes = 0 }
    return message
  }

  // MARK: - In

  mutating func fail(_ error: RemoteXPCError) { if failure == nil { failure = error } }

  /// The end of the connection. Whoever waits for the orderly end has it, everybody else waits in vain.
  mutating func end() {
    if failure == nil { hasEnded = true }
    fail(.stream(.closed))
  }

  mutating func feed(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    do throws(RemoteXPCError) {
      let events: [HTTP2Session.Event]
      do throws(HTTP2Error) { events = try session.feed(bytes) } catch { throw RemoteXPCError(error) }
      for event in events { try take(event) }
    } catch { fail(error) }
  }

  private mutating func take(_ event: HTTP2Session.Event) throws(RemoteXPCError) {
    switch event {
    case .settings: settingsCame = true
    case .headers(let stream): try answer(stream)
    case .data(let stream, let bytes): try take(bytes, on: stream)
    case .end(let stream): if stream == Self.root { hasEnded = true }
    case .closed(let stream, let code):
      guard readers[stream] != nil else { return }
      if code != 0 { throw .reset(stream: stream, code: code) }
      hasEnded = true
    case .goAway(let code):
      if code != 0 { throw .goneAway(code) }
      hasEnded = true
    }
  }

  private func answer(_ stream: Int32) throws(RemoteXPCError) {
    guard role == .server else { return }
    do throws(HTTP2Error) {
      // Files' streams are read without an answer.
      if stream == Self.root || stream == Self.replies { try session.answer(stream) }
    } catch { throw RemoteXPCError(error) }
  }

  private mutating func take(_ bytes: [UInt8], on stream: Int32) throws(RemoteXPCError) {
    guard readers[stream] != nil else { return }
    let messages: [XPCMessage]
    do throws(XPCError) { messages = try readers[stream]?.feed(bytes) ?? [] } catch { throw .message(error) }
    for message in messages { try take(message, on: stream, size: bytes.count) }
  }

  private mutating func take(_ message: XPCMessage, on stream: Int32, size: Int) throws(RemoteXPCError) {
    if stream == Self.replies, requests.keys.contains(message.id), !message.flags.contains(.initHandshake) {
      requests.updateValue(message, forKey: message.id)
      return
    }
    if try takeOpening(message, on: stream) { return }
    guard stream == Self.root, let body = message.body, body != Self.emptyDictionary else { return }
    inboxBytes += size
    guard inboxBytes <= limit, inbox.count < Self.mostMessages else { throw .flooded }
    inbox.append(message)
  }

  private static let mostMessages = 10_000

  /// The server answers each of the opening's messages, in whichever order they come.
  private mutating func takeOpening(_ message: XPCMessage, on stream: Int32) throws(RemoteXPCError) -> Bool {
    let part: Opening
    let answer: XPCMessage
    if message.flags.contains(.initHandshake) {
      (part, answer) = (.replies, XPCMessage(Self.initHandshake, id: 0))
    } else if message.flags == .opening {
      (part, answer) = (.version, XPCMessage(.opening, id: 0))
    } else if stream == Self.root, message.flags == .always, !opened.contains(.root) {
      (part, answer) = (.root, XPCMessage(.always, id: 0, body: Self.emptyDictionary))
    } else {
      return false
    }
    guard opened.insert(part).inserted, role == .server else { return true }
    do throws(HTTP2Error) {
      try session.send(answer.bytes, on: stream)
      session.fixOrder()
    } catch { throw RemoteXPCError(error) }
    return true
  }
}
