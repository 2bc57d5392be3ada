import Glibc
import Transport

/// The files that configuration and scenarios are read from, so that a test can hand in others.
public struct Files: Sendable {
  /// Whether something is at the path.
  public var exists: @Sendable (String) -> Bool
  /// The whole of a regular file of at most so many bytes.
  public var read: @Sendable (_ path: String, _ limit: Int) throws(Problem) -> [UInt8]

  public init(
    exists: @escaping @Sendable (String) -> Bool,
    read: @escaping @Sendable (_ path: String, _ limit: Int) throws(Problem) -> [UInt8]
  ) {
    self.exists = exists
    self.read = read
  }

  /// The host's own.
  public static let host = Files(
    exists: { path in
      var info = stat()
      return lstat(path, &info) == 0
    }, read: { path, limit throws(Problem) in try readRegularFile(path, limit: limit) })

  private static func readRegularFile(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
    // Non-blocking, so that a pipe in a file's place is refused instead of waited for.
    let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard fd >= 0 else { throw Problem(file: path, sentence: "cannot be opened: \(Errno.text(errno))") }
    defer { close(fd) }
    var info = stat()
    guard fstat(fd, &info) == 0 else { throw Problem(file: path, sentence: "cannot be read: \(Errno.text(errno))") }
    guard info.st_mode & S_IFMT == S_IFREG else { throw Problem(file: path, sentence: "is not a regular file") }
    var bytes: [UInt8] = []
    while true {
      var failure: Int32 = 0
      let part = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
        let got = Glibc.read(fd, buffer.baseAddress, 1 << 16)
        failure = got < 0 ? errno : 0
        count = max(0, got)
      }
      if failure == EINTR { continue }
      guard failure == 0 else { throw Problem(file: path, sentence: "cannot be read: \(Errno.text(failure))") }
      if part.isEmpty { return bytes }
      bytes += part
      if bytes.count > limit { throw Problem(file: path, sentence: "is larger than \(limit) bytes") }
    }
  }
}
