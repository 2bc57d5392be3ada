import CLinux
import Glibc
import Transport

/// What a descriptor is ready for.
struct Readiness {
  fileprivate let bits: UInt32

  /// Something can be read: bytes, the end, or an error.
  var canRead: Bool { bits & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | Self.over) != 0 }
  var canWrite: Bool { bits & (EPOLLOUT.rawValue | Self.over) != 0 }
  /// The far end neither sends nor takes anything any more.
  var isOver: Bool { bits & Self.over != 0 }
  /// It was reset.
  var isBroken: Bool { bits & EPOLLERR.rawValue != 0 }

  private static let over = EPOLLHUP.rawValue | EPOLLERR.rawValue
}

/// The descriptors that one thread waits on; used on that thread alone.
final class Poller {
  typealias Token = UInt64
  typealias Handler = (Readiness) -> Void

  private static let batch = 256
  private let set: Int32
  private var handlers: [Token: Handler] = [:]
  private var lastToken: Token = 0
  private var events = [epoll_event](repeating: epoll_event(), count: Poller.batch)

  init() throws(StreamError) {
    set = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard set >= 0 else { throw .system(errno) }
  }

  deinit { close(set) }

  /// Tells of every change of the descriptor: once each, so the handler goes on until there is nothing left to do.
  ///
  /// - Returns: for `forget`, which comes before the descriptor is closed. The handler is kept until then.
  func watch(_ fd: Int32, _ handler: @escaping Handler) throws(StreamError) -> Token {
    try add(fd, EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue, handler)
  }

  /// Tells again and again while there is something to read.
  func watchInput(_ fd: Int32, _ handler: @escaping Handler) throws(StreamError) -> Token {
    try add(fd, EPOLLIN.rawValue, handler)
  }

  /// Gives a descriptor's events to somebody else; what came before has been told.
  func hand(_ token: Token, to handler: @escaping Handler) { handlers[token] = handler }

  func forget(_ token: Token) { handlers[token] = nil }

  /// Ends the watching of a descriptor that stays open.
  func forget(_ token: Token, of fd: Int32) {
    handlers[token] = nil
    epoll_ctl(set, EPOLL_CTL_DEL, fd, nil)
  }

  /// Waits for events, and hands them out.
  func wait(until deadline: Deadline) {
    let count = events.withUnsafeMutableBufferPointer {
      epoll_wait(set, $0.baseAddress, Int32(Self.batch), Self.milliseconds(deadline))
    }
    guard count > 0 else { return }
    for index in 0..<Int(count) {
      // One that an earlier handler of this round has forgotten has no handler any more.
      handlers[events[index].data.u64]?(Readiness(bits: events[index].events))
    }
  }

  private func add(_ fd: Int32, _ bits: UInt32, _ handler: @escaping Handler) throws(StreamError) -> Token {
    lastToken += 1
    var event = epoll_event(events: bits, data: epoll_data(u64: lastToken))
    guard epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0 else { throw .system(errno) }
    handlers[lastToken] = handler
    return lastToken
  }

  /// Rounded up, so that a wait is never a spin; a minute at most keeps the number small.
  private static func milliseconds(_ deadline: Deadline) -> Int32 {
    let (seconds, attoseconds) = min(deadline.remaining, .seconds(60)).components
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Wakes a poller from other threads.
final class Waker: Sendable {
  let fd: Int32

  init() throws(StreamError) {
    fd = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    guard fd >= 0 else { throw .system(errno) }
  }

  deinit { close(fd) }

  func wake() {
    var one: UInt64 = 1
    _ = write(fd, &one, 8)
  }
}
