import Glibc

/// One child process, used by the thread that made it.
///
/// It has a process group of its own, default signals and none of our descriptors; it ends by its deadline together
/// with what it started.
public final class ChildProcess {
  public enum Ending: Equatable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// Ended by us at its deadline, with everything it had started.
    case timedOut
    /// Ended by us because nobody wants it any more.
    case stopped
    /// It could not be started; the system's words.
    case notStarted(String)
  }

  private static let outputLimit = 16 << 10
  /// Between being asked to end and being ended.
  private static let patience = Duration.milliseconds(500)

  private var pid: pid_t = 0
  private var failure: Int32 = 0
  private var pipe: [Int32] = [-1, -1]
  private var inlet: [Int32] = [-1, -1]
  private var input: ArraySlice<UInt8>
  private var output: [UInt8] = []

  /// Starts it.
  ///
  /// - Parameters:
  ///   - argv: the program, looked for in PATH, and its arguments.
  ///   - environment: all of it.
  ///   - input: what its standard input holds; nil for the null device.
  public init(_ argv: [String], environment: [String: String], input: [UInt8]? = nil) {
    self.input = (input ?? [])[...]
    // Socket pairs, because a plain pipe cannot be made close-on-exec in one step.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, type, 0, &pipe) == 0, input == nil || socketpair(AF_UNIX, type, 0, &inlet) == 0 else {
      failure = errno
      return
    }
    // The child reads and writes as with a file: it must not be told to try again.
    for fd in [pipe[1], inlet[1]] where fd >= 0 { _ = fcntl(fd, F_SETFL, 0) }
    Self.closeOthersOnExec()
    failure = spawn(argv, environment)
    Self.end(&pipe[1])
    Self.end(&inlet[1])
    feed()
  }

  deinit { for fd in pipe + inlet where fd >= 0 { close(fd) } }

  /// Standard output and error so far, together, the last 16 KiB of it.
  public var text: String { String(decoding: output, as: UTF8.self) }

  /// Waits for its end, and brings that about at the deadline.
  ///
  /// - Parameter isStopped: asked every 20 ms; true ends it early.
  public func ending(by deadline: Deadline, isStopped: () -> Bool = { false }) -> Ending {
    guard failure == 0 else { return .notStarted(Errno.text(failure)) }
    while true {
      feed()
      drain(waiting: 20)
      if let ending = ending() {
        drain(waiting: 0)
        return ending
      }
      if isStopped() { return end(.stopped) }
      if deadline.hasPassed { return end(.timedOut) }
    }
  }

  private static func end(_ fd: inout Int32) {
    if fd >= 0 { close(fd) }
    fd = -1
  }

  /// Gives it what it takes of its input; one that does not want it is no trouble.
  private func feed() {
    guard inlet[0] >= 0 else { return }
    while !input.isEmpty {
      let count = input.withUnsafeBytes { send(inlet[0], $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      if count <= 0 { break }
      input = input.dropFirst(count)
    }
    Self.end(&inlet[0])
  }

  private func spawn(_ argv: [String], _ environment: [String: String]) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if inlet[1] >= 0 {
      posix_spawn_file_actions_adddup2(&actions, inlet[1], STDIN_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process ignores or blocks signals that would otherwise end the child.
    var every = sigset_t()
    sigfillset(&every)
    posix_spawnattr_setsigdefault(&attributes, &every)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

    return Self.withStrings(argv) { argv in
      Self.withStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        guard let program = argv.first ?? nil else { return EINVAL }
        return posix_spawnp(&pid, program, &actions, &attributes, argv, environment)
      }
    }
  }

  /// Libraries open descriptors that a child would inherit; it gets none of them.
  private static func closeOthersOnExec() {
    guard let folder = opendir("/proc/self/fd") else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if let fd = Int32(name), fd > STDERR_FILENO { _ = fcntl(fd, F_SETFD, FD_CLOEXEC) }
    }
  }

  /// Takes what has been printed, waiting that many milliseconds for it; the last part of it is kept.
  private func drain(waiting milliseconds: Int32) {
    var entry = pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, milliseconds) > 0 else { return }
    var part = [UInt8](repeating: 0, count: Self.outputLimit)
    let count = read(pipe[0], &part, part.count)
    if count > 0 {
      output = Array((output + part.prefix(count)).suffix(Self.outputLimit))
    } else if milliseconds > 0 {
      // Its output has ended and it has not: there is nothing to wait for but the clock.
      usleep(useconds_t(milliseconds) * 1_000)
    }
  }

  private func ending() -> Ending? {
    var status: Int32 = 0
    let got = waitpid(pid, &status, WNOHANG)
    if got == 0 || (got < 0 && errno == EINTR) { return nil }
    guard got == pid else { return .notStarted("its ending is not known") }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
  }

  /// Asks the whole group to end, then ends it.
  private func end(_ ending: Ending) -> Ending {
    for (signal, patience) in [(SIGTERM, Self.patience), (SIGKILL, .seconds(5))] {
      kill(-pid, signal)
      let limit = Deadline.after(patience)
      while !limit.hasPassed {
        drain(waiting: 10)
        guard self.ending() != nil else { continue }
        // What the command had started does not outlive it.
        kill(-pid, SIGKILL)
        return ending
      }
    }
    return ending
  }

  /// The texts as C wants them: a list of pointers that ends with none.
  private static func withStrings(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
  ) -> Int32 {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return copies.contains(nil) ? ENOMEM : body(copies + [nil])
  }
}
