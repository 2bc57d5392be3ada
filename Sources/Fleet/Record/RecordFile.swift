import Glibc

/// The record's file and what stands beside it.
enum RecordFile {
  /// Makes an empty file for a new record, open to the users of its folder, where there is none.
  static func make(_ path: String) throws(RecordTrouble) {
    let folder = folder(of: path)
    do throws(HostTrouble) { try Folders.make(folder) } catch {
      guard case .state(_, let code) = error else { throw .forbidden(path: path, code: EACCES) }
      throw code == ENOSPC ? .full(path: path) : .forbidden(path: path, code: code)
    }
    let fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard fd >= 0 else {
      if errno == EEXIST { return }
      throw errno == ENOSPC ? .full(path: path) : .forbidden(path: path, code: errno)
    }
    defer { close(fd) }
    share(fd, as: folder)
  }

  /// Whoever may work in the folder may work with its files, whatever the umask says; SQLite gives its own files beside
  /// the database the same rights.
  private static func share(_ fd: Int32, as folder: String) {
    var info = stat()
    guard stat(folder, &info) == 0 else { return }
    // A group that is not ours to give leaves the file to its owner.
    guard fchown(fd, uid_t.max, info.st_gid) == 0 else { return }
    _ = fchmod(fd, info.st_mode & 0o666)
  }

  /// Moves a damaged record out of the way, with what SQLite keeps beside it.
  ///
  /// - Returns: its new name.
  static func setAside(_ path: String) throws(RecordTrouble) -> String {
    let aside = free("\(path).damaged-\(stamp())")
    guard rename(path, aside) == 0 else { throw .forbidden(path: path, code: errno) }
    for end in ["-wal", "-shm"] { _ = rename(path + end, aside + end) }
    return aside
  }

  /// Which file stands at a path.
  struct Identity: Equatable {
    var device: dev_t
    var inode: ino_t
  }

  /// - Returns: nil where there is none.
  static func identity(_ path: String) -> Identity? {
    var info = stat()
    return lstat(path, &info) == 0 ? Identity(device: info.st_dev, inode: info.st_ino) : nil
  }

  /// What changes when a file is written to or replaced: inode, size, and when it was written.
  static func state(_ path: String) -> [Int]? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return [Int(info.st_ino), Int(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec]
  }

  /// Takes away what SQLite kept beside a database that is gone from its place, so that it is not taken for the next
  /// one's.
  ///
  /// - Parameter wal: the gone one's write-ahead file; another one stays.
  static func leave(_ path: String, wal: Identity?) {
    guard let wal, identity(path + "-wal") == wal else { return }
    for end in ["-wal", "-shm"] { unlink(path + end) }
  }

  /// A name for a copy that is made before the schema changes.
  static func copyName(_ path: String, version: Int) -> String { free("\(path).schema-\(version)-\(stamp())") }

  static func remove(_ path: String) { for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) } }

  /// Runs the body while no other process does the same for this record.
  static func alone<R>(_ path: String, _ body: () throws(RecordTrouble) -> R) throws(RecordTrouble) -> R {
    let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // Without the lock it is done all the same: two that repair at once lose at most what was damaged.
    defer { if folder >= 0 { close(folder) } }
    if folder >= 0 { while flock(folder, LOCK_EX) != 0, errno == EINTR {} }
    return try body()
  }

  /// Bytes on the disk; nil where there is no file.
  static func size(_ path: String) -> Int? {
    var info = stat()
    return stat(path, &info) == 0 ? Int(info.st_size) : nil
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func free(_ wanted: String) -> String {
    var name = wanted
    var number = 2
    var info = stat()
    while lstat(name, &info) == 0 {
      name = "\(wanted)-\(number)"
      number += 1
    }
    return name
  }

  /// `20261220T083000Z`: no colons, which some file systems do not take.
  private static func stamp() -> String {
    WallClock.rfc3339().prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }
}
