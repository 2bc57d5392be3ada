import Glibc
import Transport
import Wire

/// The service manager's socket (`sd_notify(3)`): one datagram a message. Nobody waits for it.
public final class NotifySocket: Sendable {
  private let fd: Int32
  private let path: [UInt8]
  private let lastStatus = Guarded("")
  /// How often the watchdog wants to be fed at least; nil where there is none.
  public let watchdog: Duration?

  /// - Parameter environment: by name, usually this process's own.
  /// - Returns: nil where no service manager listens.
  public init?(_ environment: [String: String]) {
    guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
    // A name that begins with @ is no file: its first byte is zero.
    path = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
    guard path.count <= SocketAddress.maximumPathBytes else { return nil }
    let own = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
    watchdog = own ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) } : nil
    fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if fd < 0 { return nil }
  }

  deinit { close(fd) }

  public func ready() { send("READY=1") }
  public func stopping() { send("STOPPING=1") }
  /// A round was completed.
  public func feed() { send("WATCHDOG=1") }

  /// The configuration is being read anew; `ready` follows.
  public func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)")
  }

  /// One line for people; the same one again is not sent.
  public func status(_ text: String) {
    let line = text.oneLine()
    let isNew = lastStatus.with { last in
      defer { last = line }
      return last != line
    }
    if isNew { send("STATUS=\(line)") }
  }

  private func send(_ message: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(message.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
      }
    }
  }
}
