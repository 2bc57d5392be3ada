import Glibc
import Transport

/// A file of this machine that is sent to a phone, read in parts.
final class LocalFile {
  /// Bytes of one part: as much as one message to the phone carries well.
  private static let part = 256 << 10

  let path: String
  let size: Int
  private let fd: Int32

  /// - Throws: `.badRequest` unless it is a plain file that can be read.
  init(_ path: String) throws(PhoneError) {
    // A pipe or a device would block here.
    let fd = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard fd >= 0 else { throw .badRequest(detail: "the file \(path) can't be read: \(Errno.text(errno))") }
    var info = stat()
    guard fstat(fd, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(fd)
      throw .badRequest(detail: "\(path) is no plain file")
    }
    self.path = path
    self.fd = fd
    size = Int(info.st_size)
  }

  deinit { Glibc.close(fd) }

  /// All of it.
  ///
  /// - Throws: `.badRequest` when it is larger than the limit.
  func whole(limit: Int) throws(PhoneError) -> [UInt8] {
    guard size <= limit else { throw .badRequest(detail: "\(path) is larger than the \(limit) bytes it may have") }
    return try read(size, at: 0)
  }

  /// The first bytes; fewer where the file is shorter.
  func start(_ count: Int) throws(PhoneError) -> [UInt8] { try read(min(count, size), at: 0) }

  /// Gives the file in parts, and how many bytes have been given with each.
  func forEachPart(_ body: ([UInt8], Int) throws(PhoneError) -> Void) throws(PhoneError) {
    var done = 0
    while done < size {
      let part = try read(min(Self.part, size - done), at: done)
      done += part.count
      try body(part, done)
    }
  }

  private func read(_ count: Int, at offset: Int) throws(PhoneError) -> [UInt8] {
    var failure: Int32 = 0
    var got = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while got < count {
        let part = pread(fd, buffer.baseAddress.map { $0 + got }, count - got, off_t(offset + got))
        if part < 0, errno == EINTR { continue }
        if part <= 0 {
          failure = part < 0 ? errno : EIO
          break
        }
        got += part
      }
      filled = got
    }
    guard failure == 0 else { throw .host(code: failure, step: "reading \(path)") }
    return bytes
  }
}
