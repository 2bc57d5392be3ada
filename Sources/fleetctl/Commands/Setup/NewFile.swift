import Glibc
import Transport
import Wire
import Fleet

/// Writes a file where none is.
enum NewFile {
  /// - Throws: exit code 2 when something is there, 3 when it cannot be written; nothing half is left behind.
  static func write(_ text: String, to path: String) throws(Complaint) {
    // Exclusively, so that a file which appears in this moment is not written over.
    let fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0o644)
    guard fd >= 0 else { throw complaint(errno, path) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        let code = errno
        close(fd)
        unlink(path)
        throw complaint(code, path)
      }
      bytes = bytes.dropFirst(count)
    }
    if close(fd) != 0, errno != EINTR {
      let code = errno
      unlink(path)
      throw complaint(code, path)
    }
  }

  private static func complaint(_ code: Int32, _ path: String) -> Complaint {
    if code == EEXIST {
      return Complaint(
        .usage,
        "\(path.printable) is there already, and nothing was written. A file of yours is never overwritten. "
          + "See what is missing in it: fleetctl init --add.")
    }
    return Complaint(
      .harness,
      "\(path.printable) could not be written: \(Errno.text(code)). Its folder may be missing, full or not yours. "
        + "Name another place: fleetctl init --config PATH.")
  }
}
