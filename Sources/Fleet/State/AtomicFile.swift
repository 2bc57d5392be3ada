import Glibc

/// Small files that are there whole or not at all, also after a power cut.
enum AtomicFile {
  /// Replaces the file; when this returns, it is on the disk.
  ///
  /// Only one writer at a time may be there for a path.
  static func write(_ bytes: [UInt8], to path: String) throws(HostTrouble) {
    let new = path + ".new"
    // A writer that was killed leaves its beginning behind, perhaps as another user.
    unlink(new)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let fd = open(new, flags, 0o664)
    guard fd >= 0 else { throw .state(path: path, code: errno) }
    var code = writeAll(bytes, to: fd)
    if code == 0, fsync(fd) != 0 { code = errno }
    if close(fd) != 0, code == 0 { code = errno }
    if code == 0, rename(new, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(new)
      throw .state(path: path, code: code)
    }
    try syncFolder(of: path)
  }

  /// - Returns: an errno, or 0.
  private static func writeAll(_ bytes: [UInt8], to fd: Int32) -> Int32 {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress.map { $0 + written }, $0.count - written) }
      if count > 0 {
        written += count
      } else if count == 0 {
        return ENOSPC
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// The new name itself must reach the disk too.
  private static func syncFolder(of path: String) throws(HostTrouble) {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    let fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard fd >= 0 else { throw .state(path: path, code: errno) }
    defer { close(fd) }
    // Some file systems know no such thing for folders (EINVAL), and need none.
    guard fsync(fd) == 0 || errno == EINVAL else { throw .state(path: path, code: errno) }
  }
}
