import Glibc
import Transport
import Wire
import Fleet

/// Everything that a command says: results to standard output, all else to standard error.
final class Output: Sendable {
  private let stdout: Int32
  private let stderr: Int32
  /// The errno of the first result that could not be written. Also keeps lines whole: one is written at a time.
  private let failure = Guarded<Int32?>(nil)
  let style: Style
  let isVerbose: Bool

  init(stdout: Int32 = STDOUT_FILENO, stderr: Int32 = STDERR_FILENO, style: Style = .plain, isVerbose: Bool = false) {
    self.stdout = stdout
    self.stderr = stderr
    self.style = style
    self.isVerbose = isVerbose
  }

  /// Both ends are a person's screen: the only place for column heads and for progress that draws over itself.
  var isOnScreen: Bool { isatty(stdout) == 1 && isatty(stderr) == 1 }

  /// Writes lines of results, each with its line end.
  ///
  /// - Throws: a complaint with exit code 3 when they could not be written; its sentence is empty when the reader has
  ///   closed its end, since there is nobody who waits for an explanation.
  func results(_ lines: [String]) throws(Complaint) {
    guard !lines.isEmpty else { return }
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    // The lock is held while a slow reader is waited for: results have one order, and whoever writes next waits too.
    let code: Int32? = failure.with { failure in
      if failure == nil { failure = Self.write(bytes, to: stdout) }
      return failure
    }
    if let code { throw Self.complaint(code) }
  }

  func result(_ line: String) throws(Complaint) { try results([line]) }

  func result(_ value: JSON) throws(Complaint) { try results([value.line]) }

  /// The first failure of a result, for commands that finish their work before they tell.
  var complaint: Complaint? { failure.with { $0 }.map(Self.complaint) }

  /// A sentence for the person at the terminal, who did not get what was asked for.
  func complain(_ sentence: String) { say("fleetctl: \(sentence)") }

  /// A line that is no result: a warning, progress.
  func say(_ line: String) { _ = Self.write(Array((line + "\n").utf8), to: stderr) }

  /// Progress that draws over itself; only for screens.
  func draw(_ text: String) { _ = Self.write(Array("\r\(text)\u{1B}[K".utf8), to: stderr) }

  /// Lines that draw over those drawn before; only for screens. The cursor stays at the end of the last one.
  ///
  /// - Parameter before: how many lines were drawn before, and nothing has been written since.
  func redraw(_ lines: [String], over before: Int) {
    let up = before > 1 ? "\u{1B}[\(before - 1)A" : ""
    _ = Self.write(Array("\r\(up)\u{1B}[J\(lines.joined(separator: "\r\n"))".utf8), to: stderr)
  }

  /// Lines and columns of the screen.
  var screen: (height: Int, width: Int) {
    // struct winsize: rows, columns, and two numbers that nobody fills in.
    var size: [UInt16] = [0, 0, 0, 0]
    guard ioctl(stderr, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else { return (24, 80) }
    return (Int(size[0]), Int(size[1]))
  }

  /// A line for -v.
  func detail(_ line: @autoclosure () -> String) { if isVerbose { say(line()) } }

  /// Gives standard output back: some file systems tell only then that a write failed.
  func finish() throws(Complaint) {
    let code: Int32? = failure.with { failure in
      if failure == nil, close(stdout) != 0, errno != EINTR, errno != EBADF { failure = errno }
      return failure
    }
    if let code { throw Self.complaint(code) }
  }

  private static func complaint(_ code: Int32) -> Complaint {
    if code == EPIPE { return Complaint(.harness, "") }
    return Complaint(
      .harness,
      "The results could not be written: \(Errno.text(code)). Standard output may be closed or its device full. "
        + "Send it elsewhere and run the command again.")
  }

  /// - Returns: nil, or the errno.
  private static func write(_ bytes: [UInt8], to fd: Int32) -> Int32? {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress.map { $0 + sent }, $0.count - sent) }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        // Somebody else made the terminal or pipe non-blocking.
        var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, 1_000)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
