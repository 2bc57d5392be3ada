import Glibc
import Transport

/// Wakes a thread that waits for a socket; raised once, for good.
final class WakeUp: Sendable {
  enum Outcome: Equatable, Sendable { case raised, peerGone }

  private let near: Socket
  private let far: Socket

  /// - Throws: when the process is out of descriptors.
  init() throws(StreamError) { (near, far) = try Socket.pair() }

  func raise() { far.shutdown() }

  /// Waits until `raise`, or until the socket's far end stops sending, has closed, or the socket is shut down here.
  ///
  /// Bytes that wait to be read do not end it.
  func wait(watching socket: Socket) -> Outcome {
    // Hang-up of the far end; Glibc's macro for it hides behind a feature flag.
    let pollReadHangUp: Int16 = 0x2000
    while true {
      var entries = [
        pollfd(fd: near.fd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket.fd, events: pollReadHangUp, revents: 0),
      ]
      if poll(&entries, 2, -1) < 0 {
        if errno == EINTR { continue }
        return .peerGone
      }
      if entries[0].revents != 0 { return .raised }
      if entries[1].revents != 0 { return .peerGone }
    }
  }
}
