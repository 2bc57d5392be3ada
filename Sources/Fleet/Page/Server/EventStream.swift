import CMicroHTTPD
import Transport

/// One client's server-sent events. libmicrohttpd asks for bytes on its own thread; a client with nothing to read is set
/// aside until it is woken.
final class EventStream: Sendable {
  private struct State: @unchecked Sendable {
    var connection: OpaquePointer
    /// What has not been taken yet.
    var rest: ArraySlice<UInt8> = []
    var isAside = false
    var isEnding = false
  }
  private let state: Guarded<State>
  private let source: any EventSource
  private let whenGone: @Sendable (EventStream) -> Void

  init(_ connection: OpaquePointer, _ source: any EventSource, whenGone: @escaping @Sendable (EventStream) -> Void) {
    state = Guarded(State(connection: connection))
    self.source = source
    self.whenGone = whenGone
  }

  /// There may be something new.
  func wake() {
    state.with { state in
      guard state.isAside else { return }
      state.isAside = false
      MHD_resume_connection(state.connection)
    }
  }

  /// Says something that no client minds, which shows whether it is still there.
  func beat() {
    state.with { state in
      if state.rest.isEmpty { state.rest = ArraySlice(":\n\n".utf8) }
    }
    wake()
  }

  /// Ends after what has been begun.
  func end() {
    state.with { $0.isEnding = true }
    wake()
  }

  /// The response, which holds the stream until the client is gone.
  func response() -> OpaquePointer? {
    let size = UInt64.max  // MHD_SIZE_UNKNOWN
    return MHD_create_response_from_callback(
      size, 8 << 10,
      { stream, _, buffer, room in
        guard let stream, let buffer else { return MHD_CONTENT_READER_END_WITH_ERROR }
        return Unmanaged<EventStream>.fromOpaque(stream).takeUnretainedValue()
          .fill(UnsafeMutableRawBufferPointer(start: buffer, count: room))
      }, Unmanaged.passRetained(self).toOpaque(),
      { stream in
        guard let stream else { return }
        Unmanaged<EventStream>.fromOpaque(stream).takeRetainedValue().gone()
      })
  }

  private func gone() { whenGone(self) }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.with { state in
      if state.isEnding { return MHD_CONTENT_READER_END_OF_STREAM }
      if state.rest.isEmpty { state.rest = ArraySlice(source.next()) }
      guard state.rest.isEmpty else {
        let part = state.rest.prefix(buffer.count)
        buffer.copyBytes(from: part)
        state.rest = state.rest.dropFirst(part.count)
        return part.count
      }
      // An answer of no bytes from a client that is not set aside would be asked for again at once, for ever.
      state.isAside = true
      MHD_suspend_connection(state.connection)
      return 0
    }
  }
}
