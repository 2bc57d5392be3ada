import Glibc

/// A lock's file in a folder that every user may write to.
enum LockFile {
  /// How often the file may turn out to be just being made, or to be gone again.
  private static let attempts = 20

  /// Opens the file, and makes it and its folder where they are missing.
  ///
  /// - Returns: a descriptor of a plain file, for reading and writing, closed on exec.
  static func open(_ name: String, in folder: String) throws(HostTrouble) -> Int32 {
    let directory = try openFolder(folder)
    defer { close(directory) }
    let path = "\(folder)/\(name)"
    // A pipe or a device in its place must neither be waited for nor become our terminal.
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    var code: Int32 = 0
    for _ in 0..<attempts {
      // Without O_CREAT: fs.protected_regular refuses that for another user's file in such a folder.
      let fd = openat(directory, name, flags)
      if fd >= 0 { return try checked(fd, path) }
      code = errno
      switch code {
      case EINTR: continue
      case ENOENT: try make(name, in: directory, path)
      case EACCES:
        // Its folder's maker may be about to open it to everybody.
        usleep(5_000)
      case ELOOP, EISDIR, ENXIO: throw .notALock(path: path)
      default: throw .lock(path: path, code: code)
      }
    }
    throw .lock(path: path, code: code)
  }

  /// Whether the descriptor is still the file of that name, and not one that was removed meanwhile.
  static func isCurrent(_ fd: Int32, _ name: String, in folder: String) -> Bool {
    var (held, named) = (stat(), stat())
    guard fstat(fd, &held) == 0, lstat("\(folder)/\(name)", &named) == 0 else { return false }
    return held.st_dev == named.st_dev && held.st_ino == named.st_ino
  }

  private static func checked(_ fd: Int32, _ path: String) throws(HostTrouble) -> Int32 {
    var info = stat()
    if fstat(fd, &info) == 0, info.st_mode & S_IFMT == S_IFREG { return fd }
    close(fd)
    throw .notALock(path: path)
  }

  /// Made under another name and given its own only when its rights are right: nobody ever meets it half made.
  private static func make(_ name: String, in directory: Int32, _ path: String) throws(HostTrouble) {
    let new = ".\(name).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    let fd = openat(directory, new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard fd >= 0 else {
      let code = errno
      if code == EACCES {
        usleep(5_000)
        return
      }
      throw .lock(path: path, code: code)
    }
    defer { close(fd) }
    // The umask has taken rights away that others need.
    var code = fchmod(fd, 0o666) == 0 ? 0 : errno
    if code == 0, linkat(directory, new, directory, name, 0) != 0 { code = errno }
    unlinkat(directory, new, 0)
    // Somebody else was first: theirs is opened next.
    guard code == 0 || code == EEXIST else { throw .lock(path: path, code: code) }
  }

  private static func openFolder(_ folder: String) throws(HostTrouble) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    if mkdir(folder, 0o1777) != 0, errno != EEXIST { throw .lock(path: folder, code: errno) }
    let fd = Glibc.open(folder, flags)
    guard fd >= 0 else { throw .lock(path: folder, code: errno) }
    var info = stat()
    if fstat(fd, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o7777 != 0o1777 {
      // Ours, and just made under a umask, or made by hand: others must get in, and keep off each other's files.
      _ = fchmod(fd, 0o1777)
    }
    return fd
  }
}
