import CNGHTTP2

/// One end of an HTTP/2 connection as RemoteXPC uses it, without the connection: bytes in, events and bytes out.
///
/// HEADERS are empty and a stream is a pipe of bytes both ways. It is used by one thread at a time.
final class HTTP2Session {
  enum Role: Sendable { case client, server }

  /// What the peer did.
  enum Event: Equatable, Sendable {
    /// Its settings have come; the first word of every peer.
    case settings
    /// It opened the stream, or answered ours.
    case headers(stream: Int32)
    case data(stream: Int32, [UInt8])
    /// It sends nothing more on the stream.
    case end(stream: Int32)
    /// The stream is over in both directions; zero is no error.
    case closed(stream: Int32, code: UInt32)
    case goAway(code: UInt32)
  }

  /// Settings of the usual hosts and of phones.
  static let maximumStreams: UInt32 = 100
  static let defaultWindow: UInt32 = 1 << 20

  private var raw: OpaquePointer?
  private var outgoing: [Int32: Outgoing] = [:]
  /// Frames in their final order that nobody has taken yet.
  private var framed: [UInt8] = []
  private var events: [Event] = []
  /// What the library found wrong with the peer, as it tells the peer.
  private var complaint: String?

  /// What waits to be sent on one stream.
  private struct Outgoing {
    var bytes: [UInt8] = []
    var sent = 0
    var isLast = false
  }

  /// - Parameter window: bytes that the peer may send ahead, on each stream and in all.
  /// - Throws: `HTTP2Error.library` when there is no memory.
  init(_ role: Role, window: UInt32 = defaultWindow) throws(HTTP2Error) {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    nghttp2_option_new(&options)
    defer {
      nghttp2_session_callbacks_del(callbacks)
      nghttp2_option_del(options)
    }
    // Without this an empty HEADERS frame is a malformed request.
    nghttp2_option_set_no_http_messaging(options, 1)
    nghttp2_option_set_no_closed_streams(options, 1)
    nghttp2_option_set_peer_max_concurrent_streams(options, Self.maximumStreams)
    Self.setCallbacks(callbacks)
    let context = Unmanaged.passUnretained(self).toOpaque()
    let code =
      switch role {
      case .client: nghttp2_session_client_new2(&raw, callbacks, context, options)
      case .server: nghttp2_session_server_new2(&raw, callbacks, context, options)
      }
    try Self.check(code)
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.maximumStreams),
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: window),
    ]
    try Self.check(nghttp2_submit_settings(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
    try Self.check(
      nghttp2_session_set_local_window_size(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: window)))
  }

  deinit { nghttp2_session_del(raw) }

  // MARK: - In

  /// - Returns: what these bytes bring, in order.
  /// - Throws: `HTTP2Error.broken` when the peer broke the protocol; what `output` then gives tells it so.
  func feed(_ bytes: [UInt8]) throws(HTTP2Error) -> [Event] {
    let code = nghttp2_session_mem_recv(raw, bytes, bytes.count)
    defer { events = [] }
    if code < 0 { throw .broken(Self.text(Int32(clamping: code))) }
    // The library's verdict is a frame that it wants to send, ahead of streams' bytes.
    makeFrames(upTo: framed.count + 1)
    if let complaint { throw .broken(complaint) }
    return events
  }

  // MARK: - Out

  /// Opens the next stream of ours (client only): 1, 3, 5 …
  func open() throws(HTTP2Error) -> Int32 {
    let stream = nghttp2_submit_headers(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), -1, nil, nil, 0, nil)
    try Self.check(min(stream, 0))
    // The stream exists for the library only once the frame is made.
    fixOrder()
    return stream
  }

  /// Answers a stream that the peer opened with HEADERS of ours (server only).
  func answer(_ stream: Int32) throws(HTTP2Error) {
    try Self.check(nghttp2_submit_headers(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, nil, 0, nil))
    fixOrder()
  }

  /// Queues bytes on a stream.
  ///
  /// - Parameter isLast: nothing follows on it.
  func send(_ bytes: [UInt8], on stream: Int32, isLast: Bool = false) throws(HTTP2Error) {
    if outgoing[stream] != nil {
      outgoing[stream]?.bytes += bytes
      outgoing[stream]?.isLast = isLast
      // An error only says that the stream is not waiting for bytes, and goes on by itself.
      nghttp2_session_resume_data(raw, stream)
      return
    }
    outgoing[stream] = Outgoing(bytes: bytes, isLast: isLast)
    var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: Self.readData)
    // The flag takes effect at the provider's end, which comes with the last bytes.
    let code = nghttp2_submit_data(raw, UInt8(NGHTTP2_FLAG_END_STREAM.rawValue), stream, &provider)
    if code != 0 { outgoing[stream] = nil }
    try Self.check(code)
  }

  /// Ends a stream with an error's code.
  func reset(_ stream: Int32, code: UInt32) {
    nghttp2_submit_rst_stream(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
  }

  /// Frames what was asked so far, as far as the peer's windows let it, before anything that is asked later. The
  /// library by itself puts streams' bytes behind other frames.
  func fixOrder() { makeFrames(upTo: .max) }

  /// Bytes that are to be written now, at most about `max`; empty when there are none, or the peer's windows are full.
  func output(max: Int = 1 << 16) -> [UInt8] {
    makeFrames(upTo: max)
    defer { framed = [] }
    return framed
  }

  private func makeFrames(upTo max: Int) {
    while framed.count < max {
      var part: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(raw, &part)
      guard count > 0, let part else { return }
      framed += UnsafeBufferPointer(start: part, count: count)
    }
  }

  /// Bytes that wait for the peer's windows on all streams.
  var waiting: Int { outgoing.values.reduce(0) { $0 + $1.bytes.count - $1.sent } }

  // MARK: - For the library

  private static func setCallbacks(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      HTTP2Session.from(context)?.received(frame)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, context in
      HTTP2Session.from(context)?.events.append(
        .data(stream: stream, Array(UnsafeBufferPointer(start: bytes, count: count))))
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, context in
      let session = HTTP2Session.from(context)
      session?.outgoing[stream] = nil
      session?.events.append(.closed(stream: stream, code: code))
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
      guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) else { return 0 }
      HTTP2Session.from(context)?.complained(frame.pointee.goaway)
      return 0
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
    context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
  }

  private func received(_ frame: UnsafePointer<nghttp2_frame>?) {
    guard let frame = frame?.pointee else { return }
    let header = frame.hd
    switch nghttp2_frame_type(UInt32(header.type)) {
    case NGHTTP2_SETTINGS where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0: events.append(.settings)
    case NGHTTP2_HEADERS: events.append(.headers(stream: header.stream_id))
    case NGHTTP2_GOAWAY: events.append(.goAway(code: frame.goaway.error_code))
    default: break
    }
    if header.type == UInt8(NGHTTP2_DATA.rawValue) || header.type == UInt8(NGHTTP2_HEADERS.rawValue),
      header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    {
      events.append(.end(stream: header.stream_id))
    }
  }

  private func complained(_ frame: nghttp2_goaway) {
    guard frame.error_code != 0 else { return }
    let text = UnsafeBufferPointer(start: frame.opaque_data, count: min(frame.opaque_data_len, 200))
    let name = nghttp2_http2_strerror(frame.error_code).map { String(cString: $0) } ?? "\(frame.error_code)"
    complaint = text.isEmpty ? name : String(decoding: text, as: UTF8.self)
  }

  private static let readData: nghttp2_data_source_read_callback = { _, stream, buffer, room, flags, _, context in
    guard let session = HTTP2Session.from(context), let buffer else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    return session.fill(UnsafeMutableBufferPointer(start: buffer, count: room), from: stream, flags)
  }

  private func fill(
    _ buffer: UnsafeMutableBufferPointer<UInt8>, from stream: Int32, _ flags: UnsafeMutablePointer<UInt32>?
  ) -> Int {
    guard var queue = outgoing.removeValue(forKey: stream) else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    let count = min(buffer.count, queue.bytes.count - queue.sent)
    _ = buffer.update(fromContentsOf: queue.bytes[queue.sent..<queue.sent + count])
    queue.sent += count
    let isEmpty = queue.sent == queue.bytes.count
    if isEmpty, queue.isLast {
      flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      return count
    }
    if isEmpty { queue = Outgoing() }
    outgoing[stream] = queue
    return count == 0 ? Int(NGHTTP2_ERR_DEFERRED.rawValue) : count
  }

  private static func check(_ code: Int32) throws(HTTP2Error) {
    if code != 0 { throw .library(text(code)) }
  }

  private static func text(_ code: Int32) -> String { nghttp2_strerror(code).map { String(cString: $0) } ?? "\(code)" }
}

/// Why an HTTP/2 connection is of no more use.
enum HTTP2Error: Error, Equatable, Sendable {
  /// The peer broke the protocol; the library's words.
  case broken(String)
  /// What we asked for is not possible; the library's words.
  case library(String)
}
