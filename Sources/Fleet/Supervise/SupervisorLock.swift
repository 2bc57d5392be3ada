import Glibc
import Transport
import Wire

/// One supervisor for a record: whoever holds this is it. It ends with `release`, with its last owner here, or with the
/// process, however that ends.
public final class SupervisorLock: Sendable {
  private let descriptor: Guarded<Int32>

  public enum Answer: Sendable {
    case taken(SupervisorLock)
    /// Another supervisor writes to this record.
    case held(by: Holder)
  }

  /// - Parameter record: the record's path, through whichever links.
  public static func take(
    record path: String, as holder: Holder = .current(.supervise)
  ) throws(HostTrouble) -> Answer {
    let path = "\(real(path)).supervisor"
    do throws(RecordTrouble) { try RecordFile.make(path) } catch { throw .record(error) }
    let fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard fd >= 0 else { throw .lock(path: path, code: errno) }
    while flock(fd, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      defer { close(fd) }
      guard code == EWOULDBLOCK else { throw .lock(path: path, code: code) }
      let line = [UInt8](unsafeUninitializedCapacity: Holder.lineLimit) { buffer, count in
        count = max(0, pread(fd, buffer.baseAddress, Holder.lineLimit, 0))
      }
      return .held(by: Holder(line: line))
    }
    return .taken(SupervisorLock(fd, holder))
  }

  private init(_ fd: Int32, _ holder: Holder) {
    descriptor = Guarded(fd)
    let line = Array(holder.line.utf8.prefix(Holder.lineLimit))
    // A full disk leaves the lock without a name, which is still a lock.
    _ = ftruncate(fd, 0)
    _ = pwrite(fd, line, line.count, 0)
  }

  deinit { release() }

  /// May be called twice. The file stays: removing it would let two hold two files of one name.
  public func release() {
    descriptor.with {
      guard $0 >= 0 else { return }
      _ = ftruncate($0, 0)
      close($0)
      $0 = -1
    }
  }

  /// The file behind every link; of one that is not there yet, its folder's.
  private static func real(_ path: String) -> String {
    if let found = resolved(path) { return found }
    guard let slash = path.lastIndex(of: "/") else { return path }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return resolved(folder).map { "\($0)/\(path[path.index(after: slash)...])" } ?? path
  }

  private static func resolved(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }
}
