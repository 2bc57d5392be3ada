import CLinux
import Glibc

/// Wakes a thread that polls descriptors, from other threads.
public final class Waker: Sendable {
  /// Readable from `wake` to `clear`.
  public let fd: Int32

  /// - Throws: `StreamError.system` when no descriptor is to be had.
  public init() throws(StreamError) {
    fd = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    guard fd >= 0 else { throw .system(errno) }
  }

  // Whoever may still wake holds a reference, so the number is never another descriptor's.
  deinit { close(fd) }

  public func wake() {
    var one: UInt64 = 1
    _ = write(fd, &one, 8)
  }

  public func clear() {
    var count: UInt64 = 0
    _ = read(fd, &count, 8)
  }
}
