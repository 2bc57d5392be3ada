import CLinux
import Glibc

/// A listening socket; a UNIX one removes its file when it closes.
public final class Listener: Sendable {
  /// The address as bound: a TCP port 0 has become the system's choice.
  public let address: SocketAddress
  private let socket: Socket
  private let inode: UInt64
  private let isClosed = Guarded(false)
  private let keepsFile = Guarded(false)

  /// - Parameters:
  ///   - backlog: connections that wait to be accepted.
  ///   - mode: permissions of a UNIX socket's file, such as 0o600; nil leaves them to the umask.
  /// - Throws: `StreamError.system` with bind's errno; a dead socket file in the way is replaced, a live one is EADDRINUSE.
  public init(_ address: SocketAddress, backlog: Int32 = 256, mode: UInt32? = nil) throws(StreamError) {
    let fd = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Socket.flags, 0)
    guard fd >= 0 else { throw .system(errno) }
    socket = Socket(made: fd)
    var on: Int32 = 1
    if address.isTCP {
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    if case .unix(let path) = address {
      guard path.utf8.count <= SocketAddress.maximumPathBytes else { throw .system(ENAMETOOLONG) }
      try Self.clear(path)
      // On the descriptor and before bind: the file is never there with wider permissions.
      if let mode { fchmod(fd, mode) }
    }
    guard address.withSockaddr({ bind(fd, $0, $1) }) == 0, listen(fd, backlog) == 0 else {
      throw .system(errno)
    }
    self.address = Self.bound(address, fd)
    if case .unix(let path) = address { inode = Self.inode(path) } else { inode = 0 }
  }

  deinit { close() }

  /// - Returns: nil once `close` was called, or at the deadline.
  public func accept(by deadline: Deadline = .never) -> Socket? {
    // A UNIX listener that was shut down keeps saying "try again" to a non-blocking accept.
    while !isClosed.with({ $0 }) {
      let fd = accept4(socket.fd, nil, nil, Socket.flags)
      if fd >= 0 {
        let accepted = Socket(made: fd)
        if address.isTCP { accepted.sendWithoutDelay() }
        return accepted
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // Out of descriptors: the caller waits in the backlog until some are free.
        if deadline.hasPassed { return nil }
        usleep(10_000)
      case EAGAIN:
        do { try socket.wait(for: Int16(POLLIN), by: deadline) } catch { return nil }
      default: return nil
      }
    }
    return nil
  }

  /// From now on so many connections wait to be accepted; further ones are turned away (EAGAIN on a UNIX socket).
  public func setBacklog(_ backlog: Int32) { _ = listen(socket.fd, backlog) }

  /// Ends `accept` on other threads and removes a UNIX socket's file.
  public func close() {
    end()
    if !keepsFile.with({ $0 }) { removeFile() }
  }

  /// Ends `accept` and leaves the socket's file behind, as a killed process does: connecting is refused from now on.
  public func abandon() {
    keepsFile.with { $0 = true }
    end()
  }

  /// Removes a UNIX socket's file, if it is still this listener's.
  public func removeFile() {
    guard case .unix(let path) = address, inode != 0, Self.inode(path) == inode else { return }
    unlink(path)
  }

  private func end() {
    isClosed.with { $0 = true }
    socket.shutdown()
  }

  private static func inode(_ path: String) -> UInt64 {
    var info = stat()
    return lstat(path, &info) == 0 ? UInt64(info.st_ino) : 0
  }

  private static func clear(_ path: String) throws(StreamError) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return }
    guard info.st_mode & S_IFMT == S_IFSOCK else { throw .system(EEXIST) }
    do {
      _ = try Socket.connect(to: .unix(path: path), by: .after(.seconds(1)))
    } catch .system(ECONNREFUSED) {
      unlink(path)
      return
    } catch {}
    throw .system(EADDRINUSE)
  }

  private static func bound(_ address: SocketAddress, _ fd: Int32) -> SocketAddress {
    guard case .tcp(let host, _) = address else { return address }
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &size) }
    }
    guard code == 0 else { return address }
    // The port stands at the same place in both families.
    let port = withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    return .tcp(host: host, port: port)
  }
}

// MARK: - For a thread that waits on many descriptors at once

extension Listener {
  /// For waiting until somebody comes.
  public var fd: Int32 { socket.fd }

  /// - Returns: nil when nobody waits to be accepted.
  /// - Throws: `StreamError.system`, EMFILE among others; whoever comes then waits in the backlog.
  public func acceptNow() throws(StreamError) -> Socket? {
    while true {
      let fd = accept4(socket.fd, nil, nil, Socket.flags)
      if fd >= 0 {
        let accepted = Socket(made: fd)
        if address.isTCP { accepted.sendWithoutDelay() }
        return accepted
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return nil
      default: throw .system(errno)
      }
    }
  }
}
