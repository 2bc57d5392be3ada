import Glibc
import Transport

/// A started program, its output collected; killed at the latest when the test lets go of it.
final class ChildProcess: Sendable {
  enum Ending: Equatable, Sendable {
    case exited(Int32)
    case killed(Int32)
    /// Neither by the deadline.
    case running
  }

  struct Output: Sendable {
    var out = ""
    var err = ""
    /// Lines of standard output, each without its end; what follows the last line end is a line too.
    var lines: [String] {
      var lines = out.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if lines.last == "" { lines.removeLast() }
      return lines
    }
  }

  /// Where the child's standard output goes.
  enum Stdout: Sendable { case collected, closed, file(String), pipeNobodyReads }

  private struct State {
    var out: [UInt8] = []
    var err: [UInt8] = []
    var ending = Ending.running

    var output: Output { Output(out: String(decoding: out, as: UTF8.self), err: String(decoding: err, as: UTF8.self)) }
  }

  private let pid: pid_t
  private let state = Awaited(State())
  private let ended = Latch()
  private let readers: [Worker]

  /// - Parameter environment: all of it; nothing is inherited.
  init(_ path: String, _ arguments: [String], environment: [String: String] = [:], stdout: Stdout = .collected) {
    let (out, err) = (Self.pipe(), Self.pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    switch stdout {
    case .collected, .pipeNobodyReads: posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO)
    case .closed: posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO)
    case .file(let path): posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO)
    if case .pipeNobodyReads = stdout { close(out.read) }

    var pid: pid_t = 0
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    // This process ignores SIGPIPE; a child would inherit that, and hide whether it looks after itself.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var usual = sigset_t()
    sigemptyset(&usual)
    sigaddset(&usual, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    let code = posix_spawn(&pid, path, &actions, &attributes, argv, envp)
    self.pid = code == 0 ? pid : -1
    close(out.write)
    close(err.write)

    let (state, ended) = (state, ended)
    var readers = [Worker(name: "child-err") { Self.drain(err.read) { part in state.with { $0.err += part } } }]
    if case .pipeNobodyReads = stdout {
    } else {
      readers.append(Worker(name: "child-out") { Self.drain(out.read) { part in state.with { $0.out += part } } })
    }
    self.readers = readers
    guard code == 0 else {
      state.with { $0.err = Array("not started: \(Errno.text(code))".utf8) }
      return
    }
    let child = pid
    _ = Worker(name: "child-wait") {
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      state.with { $0.ending = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal) }
      ended.open()
    }
  }

  deinit { if pid > 0, !ended.wait(until: .after(.zero)) { kill(pid, SIGKILL) } }

  func signal(_ number: Int32) { if pid > 0, !ended.wait(until: .after(.zero)) { kill(pid, number) } }

  /// Waits for its end without holding the caller's thread.
  func ending(within limit: Duration = .seconds(20)) async -> Ending {
    await onWorker { [ended, readers, state] in
      _ = ended.wait(until: .after(limit))
      // A grandchild may hold the pipes open; what has come by then counts.
      for reader in readers { reader.join(by: .after(.seconds(1))) }
      return state.with { $0.ending }
    }
  }

  /// What it has printed so far.
  var output: Output { state.with { $0.output } }

  /// Waits until what it has printed fulfils the condition.
  func prints(within limit: Duration = .seconds(20), _ condition: @escaping @Sendable (Output) -> Bool) async -> Bool {
    await onWorker { [state] in
      let answer = state.wait(by: .after(limit)) { state -> Bool? in
        if condition(state.output) { return true }
        return state.ending == .running ? nil : false
      }
      return answer ?? false
    }
  }

  private static func pipe() -> (read: Int32, write: Int32) {
    var fds: [Int32] = [-1, -1]
    _ = Glibc.pipe(&fds)
    for fd in fds { _ = fcntl(fd, F_SETFD, FD_CLOEXEC) }
    return (fds[0], fds[1])
  }

  private static func drain(_ fd: Int32, _ take: ([UInt8]) -> Void) {
    defer { close(fd) }
    while true {
      let part = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, count in
        count = max(0, read(fd, buffer.baseAddress, 1 << 14))
      }
      if part.isEmpty { return }
      take(part)
    }
  }
}

/// Runs what blocks on a thread of its own.
func onWorker<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    _ = Worker(name: "test") { continuation.resume(returning: body()) }
  }
}
