import Glibc
import Transport

/// Why a report could not be written.
public struct ReportTrouble: Error, Equatable, Sendable {
  public var path: String
  /// The system's errno; 0 where the disk did not answer in time.
  public var code: Int32

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    let why = code == 0 ? "the disk did not take it in time" : Errno.text(code)
    return "The report \(path) can't be written: \(why). Its folder may be missing, full or somebody else's. "
      + "Look at it: ls -ld \(ReportFile.folder(of: path)); df -h \(ReportFile.folder(of: path))"
  }
}

/// A report that is replaced as a whole: whoever opens it finds the old text or the new one.
struct ReportFile {
  let path: String
  /// A pipe or a device, which takes the last text only and is not replaced by a file.
  private let isStream: Bool

  init(_ path: String) {
    self.path = path
    var info = stat()
    isStream = stat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }

  /// - Parameters:
  ///   - parts: written one after another.
  ///   - isLast: no other text follows this one.
  func replace(with parts: [String], isLast: Bool) throws(ReportTrouble) {
    if isStream {
      if isLast { try write(parts, to: path, O_WRONLY | O_CLOEXEC) }
      return
    }
    let new = "\(path).new"
    unlink(new)
    try write(parts, to: new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
    guard rename(new, path) == 0 else {
      let code = errno
      unlink(new)
      throw ReportTrouble(path: path, code: code)
    }
  }

  private func write(_ parts: [String], to target: String, _ flags: Int32) throws(ReportTrouble) {
    let fd = open(target, flags, 0o666)
    guard fd >= 0 else { throw ReportTrouble(path: path, code: errno) }
    var code: Int32 = 0
    for part in parts where code == 0 { code = Self.append(part, to: fd) }
    if close(fd) != 0, code == 0 { code = errno }
    guard code == 0 else {
      if !isStream { unlink(target) }
      throw ReportTrouble(path: path, code: code)
    }
  }

  /// - Returns: an errno, or 0.
  static func append(_ text: String, to fd: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.write(fd, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
        if count > 0 {
          sent += count
        } else if count == 0 {
          return ENOSPC
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// Makes the folder and those above it.
  static func makeFolder(_ path: String) throws(ReportTrouble) {
    if mkdir(path, 0o777) == 0 { return }
    if errno == ENOENT, folder(of: path) != path {
      try makeFolder(folder(of: path))
      if mkdir(path, 0o777) == 0 { return }
    }
    let code = errno
    var info = stat()
    guard code == EEXIST, stat(path, &info) == 0 else { throw ReportTrouble(path: path, code: code) }
    guard info.st_mode & S_IFMT == S_IFDIR else { throw ReportTrouble(path: path, code: ENOTDIR) }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
