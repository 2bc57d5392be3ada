import Glibc

/// A connected stream socket with one owner; non-blocking underneath, every wait ends by its deadline.
public final class Socket: ByteStream {
  private let descriptor: Guarded<Int32>
  /// The number itself, for libraries that need one; valid until `close`.
  public let fd: Int32

  /// Takes over a connected descriptor.
  public init(adopting fd: Int32) {
    self.fd = fd
    descriptor = Guarded(fd)
    _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK)
    _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
  }

  /// A descriptor that the call which made it has made non-blocking and close-on-exec already.
  init(made fd: Int32) {
    self.fd = fd
    descriptor = Guarded(fd)
  }

  /// For the calls that make descriptors.
  static let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

  deinit { close() }

  /// Connects to a UNIX or TCP address.
  ///
  /// - Throws: `StreamError.system` with connect's errno, or `.timedOut`.
  public static func connect(to address: SocketAddress, by deadline: Deadline) throws(StreamError) -> Socket {
    let fd = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | flags, 0)
    guard fd >= 0 else { throw .system(errno) }
    let socket = Socket(made: fd)
    if address.isTCP { socket.sendWithoutDelay() }
    while true {
      let code = address.withSockaddr { Glibc.connect(fd, $0, $1) } == 0 ? 0 : errno
      switch code {
      case 0, EISCONN: return socket
      case EINPROGRESS:
        try socket.wait(for: Int16(POLLOUT), by: deadline)
        let failure = socket.pendingError
        if failure != 0 { throw .system(failure) }
        return socket
      case EINTR: continue
      case EAGAIN:
        // A UNIX listener whose backlog is full says so at once; it is asked again until the deadline.
        if deadline.hasPassed { throw .timedOut }
        usleep(2_000)
      default: throw .system(code)
      }
    }
  }

  /// Two sockets connected to each other.
  public static func pair() throws(StreamError) -> (Socket, Socket) {
    var fds: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0, &fds) == 0 else { throw .system(errno) }
    return (Socket(made: fds[0]), Socket(made: fds[1]))
  }

  public func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] {
    while true {
      var failure: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
        let got = recv(fd, buffer.baseAddress, max, 0)
        failure = got < 0 ? errno : 0
        count = Swift.max(got, 0)
      }
      switch failure {
      case 0: return bytes
      case EINTR: continue
      case EAGAIN: try wait(for: Int16(POLLIN), by: deadline)
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(failure)
      }
    }
  }

  public func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(fd, $0.baseAddress.map { $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: Int16(POLLOUT), by: deadline)
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(errno)
      }
    }
  }

  /// Waits until the descriptor is ready for `events`, has failed or has ended.
  public func wait(for events: Int16, by deadline: Deadline) throws(StreamError) {
    while true {
      var entry = pollfd(fd: fd, events: events, revents: 0)
      let ready = poll(&entry, 1, deadline.pollMilliseconds)
      if ready > 0 { return }
      if ready == 0, deadline.hasPassed { throw .timedOut }
      if ready < 0, errno != EINTR { throw .system(errno) }
    }
  }

  public func shutdown() {
    descriptor.with { if $0 >= 0 { _ = Glibc.shutdown($0, Int32(SHUT_RDWR)) } }
  }

  /// Ends the sending side; the far end reads to its end.
  public func endSending() {
    descriptor.with { if $0 >= 0 { _ = Glibc.shutdown($0, Int32(SHUT_WR)) } }
  }

  /// Closes with a reset instead of an orderly end (TCP only).
  public func reset() {
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }

  public func close() {
    descriptor.with {
      if $0 >= 0 { _ = Glibc.close($0) }
      $0 = -1
    }
  }

  /// Gives the descriptor away: from now on the caller closes it.
  public func release() -> Int32 {
    descriptor.with {
      let fd = $0
      $0 = -1
      return fd
    }
  }

  private var pendingError: Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size)
    return code
  }

  func sendWithoutDelay() {
    var on: Int32 = 1
    setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }
}

// MARK: - For a thread that waits on many descriptors at once

extension Socket {
  /// Begins to connect. The descriptor becomes writable when it is decided; `connectFailure` then tells how.
  ///
  /// - Throws: `StreamError.system` with connect's errno: EAGAIN where a UNIX listener's backlog is full.
  public static func begin(connectingTo address: SocketAddress) throws(StreamError) -> Socket {
    let fd = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | flags, 0)
    guard fd >= 0 else { throw .system(errno) }
    let socket = Socket(made: fd)
    if address.isTCP { socket.sendWithoutDelay() }
    guard address.withSockaddr({ Glibc.connect(fd, $0, $1) }) != 0, errno != EINPROGRESS, errno != EINTR
    else { return socket }
    throw .system(errno)
  }

  /// What became of a connect that was begun; zero when it is connected.
  public var connectFailure: Int32 { pendingError }

  /// - Returns: nil when nothing has come yet; empty at the end of the stream.
  public func readNow(max: Int) throws(StreamError) -> [UInt8]? {
    while true {
      var failure: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
        let got = recv(fd, buffer.baseAddress, max, 0)
        failure = got < 0 ? errno : 0
        count = Swift.max(got, 0)
      }
      switch failure {
      case 0: return bytes
      case EINTR: continue
      case EAGAIN: return nil
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(failure)
      }
    }
  }

  /// - Returns: how many of the bytes were taken.
  public func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int {
    while true {
      let count = bytes.withUnsafeBytes { send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN: return 0
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(errno)
      }
    }
  }
}
