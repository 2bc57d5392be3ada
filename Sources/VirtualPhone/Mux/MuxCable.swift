import Glibc
import Transport

/// Carries one connection's bytes between the host's socket and the phone's, as usbmuxd does.
///
/// Only where somebody has to stand in between: with real manners, and where a cut was asked for. Runs on the calling
/// thread; ends when either end does, or when its sockets are shut down.
struct MuxCable {
  /// Bytes that are under way in one direction at most.
  private static let window = 64 << 10

  let host: Socket
  let phone: Socket
  let cut: PortCut?
  /// A host that has finished sending loses the whole connection, and with it the answer.
  let resetsOnHalfClose: Bool

  private struct Way {
    let source: Socket
    let sink: Socket
    var pending: [UInt8] = []
    var passed = 0
    var hasEnded = false
    /// So many bytes pass; nil without a limit.
    var limit: Int?

    var wantsMore: Bool { pending.isEmpty && !hasEnded && room > 0 }
    var room: Int { min(MuxCable.window, (limit ?? .max) - passed) }
    var isCut: Bool { limit.map { passed >= $0 && pending.isEmpty } ?? false }
  }

  /// - Returns: when the connection is over; the caller closes both sockets.
  func run() {
    var inward = Way(source: host, sink: phone, limit: limit(.into))
    var outward = Way(source: phone, sink: host, limit: limit(.out))
    do throws(StreamError) {
      while true {
        if inward.isCut || outward.isCut { return cutOff() }
        // The phone's end closes once all that it sent has gone out.
        if outward.hasEnded, outward.pending.isEmpty { return }
        try wait(inward, outward)
        try pass(&outward)
        do throws(StreamError) {
          try pass(&inward)
        } catch {
          // The phone takes no more; what it has sent still goes out.
          inward.pending = []
          inward.hasEnded = true
        }
        if inward.hasEnded, inward.pending.isEmpty {
          if resetsOnHalfClose { return }
          phone.endSending()
        }
      }
    } catch {
      // One of the two has gone; so has the connection.
    }
  }

  private func limit(_ direction: PortCut.Direction) -> Int? { cut?.direction == direction ? cut?.after : nil }

  private func wait(_ inward: Way, _ outward: Way) throws(StreamError) {
    var entries = [
      pollfd(fd: host.fd, events: Self.events(reading: inward, writing: outward), revents: 0),
      pollfd(fd: phone.fd, events: Self.events(reading: outward, writing: inward), revents: 0),
    ]
    // A descriptor of which nothing is wanted is left out, or its end would wake every poll. Only of a host whose bytes
    // the phone does not take it must still be noticed that it hangs up.
    if entries[0].events == 0, inward.hasEnded { entries[0].fd = -1 }
    if entries[1].events == 0 { entries[1].fd = -1 }
    while poll(&entries, 2, -1) < 0 {
      guard errno == EINTR else { throw .system(errno) }
    }
    if entries[0].events == 0, entries[0].revents != 0 { throw .closed }
  }

  private static func events(reading: Way, writing: Way) -> Int16 {
    (reading.wantsMore ? Int16(POLLIN) : 0) | (writing.pending.isEmpty ? 0 : Int16(POLLOUT))
  }

  /// Moves what can be moved without waiting.
  private func pass(_ way: inout Way) throws(StreamError) {
    if way.wantsMore {
      do throws(StreamError) {
        way.pending = try way.source.read(max: way.room, by: .after(.zero))
        way.hasEnded = way.pending.isEmpty
      } catch {
        guard error == .timedOut else { throw error }
      }
    }
    guard !way.pending.isEmpty else { return }
    let sent = way.pending.withUnsafeBytes { send(way.sink.fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if sent >= 0 {
      way.pending.removeFirst(sent)
      way.passed += sent
    } else if errno != EAGAIN, errno != EINTR {
      throw .closed
    }
  }

  private func cutOff() {
    switch cut?.kind {
    case .close, nil: return
    case .reset: host.reset()
    case .stall:
      // Until the host gives up or the cable is pulled.
      do throws(StreamError) { try host.wait(for: Socket.hungUp, by: .never) } catch { return }
    }
  }
}
