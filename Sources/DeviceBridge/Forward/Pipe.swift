import CLinux
import Glibc
import Transport

/// A kernel pipe through which bytes go from one descriptor to another without being copied into this process.
final class Pipe {
  /// How much one call moves at most: twice a pipe's usual size. More moves no faster.
  static let size = 128 << 10
  private static let setSize: Int32 = 1031
  private static let moveNow: UInt32 = 1 | 2

  private let output: Int32
  private let input: Int32
  /// Bytes that are in it.
  private(set) var held = 0

  init() throws(StreamError) {
    var fds: [Int32] = [-1, -1]
    guard pipe2(&fds, O_CLOEXEC | O_NONBLOCK) == 0 else { throw .system(errno) }
    (output, input) = (fds[0], fds[1])
    // Refused where a user has many: the usual size does as well.
    _ = fcntl(input, Self.setSize, Int32(Self.size))
  }

  deinit {
    close(output)
    close(input)
  }

  /// Takes what the descriptor has; only while the pipe is empty, so that "not now" can only mean the descriptor.
  ///
  /// - Returns: the bytes taken, zero at the end of the stream; nil when there is nothing now.
  func fill(from fd: Int32) throws(StreamError) -> Int? {
    let count = try Self.move(from: fd, to: input, Self.size)
    held += count ?? 0
    return count
  }

  /// - Returns: the bytes that the descriptor took; nil when it takes none now.
  func drain(to fd: Int32) throws(StreamError) -> Int? {
    let count = try Self.move(from: output, to: fd, held)
    held -= count ?? 0
    return count
  }

  private static func move(from: Int32, to: Int32, _ size: Int) throws(StreamError) -> Int? {
    while true {
      let count = splice(from, nil, to, nil, size, moveNow)
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      case ECONNRESET, EPIPE: throw .closed
      default: throw .system(errno)
      }
    }
  }
}

/// An empty pipe, kept for the next who needs one: bytes stay in a pipe only while the far end takes none, so one pipe
/// serves nearly all connections.
final class PipeStore {
  private var spare: Pipe?

  init() throws(StreamError) { spare = try Pipe() }

  func take() throws(StreamError) -> Pipe {
    defer { spare = nil }
    if let spare { return spare }
    return try Pipe()
  }

  func giveBack(_ pipe: Pipe) {
    if pipe.held == 0, spare == nil { spare = pipe }
  }
}
