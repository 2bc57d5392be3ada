import Glibc
import Transport
import Fleet

/// How SIGINT, SIGTERM and SIGHUP reach the command that runs.
///
/// The main thread waits here while the command works elsewhere. Without a handler the process leaves at the first
/// signal; with one the command has its patience to clean up and end by itself. A second signal always leaves at once.
final class Interruption: Sendable {
  private struct State {
    var handler: (@Sendable (Int32) -> Void)?
    var hangUp: (@Sendable () -> Void)?
    var patience: Duration?
    var signal: Int32?
    var code: Int32?
    var leftovers: [String] = []
    /// The signal that the exit code tells of, nil inside for none, once that is decided.
    var settled: Int32??
  }
  private let state = Guarded(State())

  init() {}

  /// The signal that came, if one did.
  var signal: Int32? { state.with { $0.signal } }

  /// What the command's exit code becomes once a signal has come.
  var exitCode: ExitCode? { state.with { $0.settled ?? $0.signal }.map { .signal($0) } }

  /// Decides the exit code as far as signals go, for a command that tells it while it still runs: one that comes later
  /// changes it no more.
  func settle() -> ExitCode? {
    state.with { $0.settled = .some($0.settled ?? $0.signal) }
    return exitCode
  }

  /// From now on a signal is told to `act`, which must not block, and the process waits for the command's own end.
  ///
  /// - Parameter patience: for that long; nil for a command whose own waits are bounded.
  func whenInterrupted(patience: Duration?, _ act: @escaping @Sendable (Int32) -> Void) {
    state.with {
      $0.handler = act
      $0.patience = patience
    }
  }

  /// From now on a SIGHUP is told to `act`, which must not block, and ends nothing.
  func whenHungUp(_ act: @escaping @Sendable () -> Void) { state.with { $0.hangUp = act } }

  /// Files and empty folders to remove, in this order, when the process has to leave without the command's own clean-up.
  func removeWhenLeaving(_ paths: [String]) { state.with { $0.leftovers = paths } }

  /// Ends `wait` with the command's exit code.
  func finish(_ code: ExitCode) {
    state.with { $0.code = code.number }
    SignalPipe.send(0)
  }

  /// Waits for the command's end or for a signal that ends it.
  ///
  /// - Returns: the process's exit code.
  func wait() -> Int32 {
    var limit = Deadline.never
    while true {
      guard let byte = SignalPipe.receive(by: limit) else { return leave() }
      if byte == 0 { return state.with { $0.code } ?? ExitCode.bug.number }
      if Int32(byte) == SIGHUP, let hangUp = state.with({ $0.hangUp }) {
        hangUp()
        continue
      }
      let isSecond = state.with { state in
        let second = state.signal != nil
        state.signal = state.signal ?? Int32(byte)
        return second
      }
      let (handler, patience) = state.with { ($0.handler, $0.patience) }
      guard !isSecond, let handler else { return leave() }
      if let patience { limit = .after(patience) }
      handler(Int32(byte))
    }
  }

  private func leave() -> Int32 {
    for path in state.with({ $0.leftovers }) where unlink(path) != 0 { rmdir(path) }
    return 128 + (signal ?? 0)
  }
}

/// Signals as bytes in a pipe. Handlers, not a blocked mask, so that children start with the system's own behaviour.
enum SignalPipe {
  private static let ends: (read: Int32, write: Int32) = {
    var fds: [Int32] = [-1, -1]
    _ = pipe(&fds)
    for fd in fds {
      _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
      _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    }
    return (fds[0], fds[1])
  }()

  /// From now on SIGINT, SIGTERM and SIGHUP come through the pipe; SIGPIPE is ignored.
  static func open() {
    _ = ends
    Glibc.signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM] { Glibc.signal(number, handler) }
    // nohup and its like ask by ignoring it that the end of the terminal means nothing.
    var before = sigaction()
    sigaction(SIGHUP, nil, &before)
    let isIgnored = unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1
    if !isIgnored { Glibc.signal(SIGHUP, handler) }
    // Whoever started us from a thread that takes no signals has handed its mask down.
    var ours = sigset_t()
    sigemptyset(&ours)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&ours, number) }
    pthread_sigmask(SIG_UNBLOCK, &ours, nil)
  }

  private static let handler: @convention(c) (Int32) -> Void = { number in
    let kept = errno
    SignalPipe.send(UInt8(truncatingIfNeeded: number))
    errno = kept
  }

  static func send(_ byte: UInt8) {
    var byte = byte
    _ = write(ends.write, &byte, 1)
  }

  /// - Returns: nil at the deadline.
  static func receive(by deadline: Deadline) -> UInt8? {
    while true {
      var byte: UInt8 = 0
      if read(ends.read, &byte, 1) == 1 { return byte }
      if deadline.hasPassed { return nil }
      var entry = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
      // A minute at a time keeps the number small; the deadline is looked at anew each time.
      let left = min(deadline.remaining, .seconds(60))
      _ = poll(
        &entry, 1, Int32(left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000) + 1)
    }
  }
}
