import Glibc
import Transport

/// Lab commands as processes of this host.
///
/// Each has a process group of its own, default signals, no input, and none of our descriptors; it ends by its deadline
/// together with what it started.
public struct ProcessLab: LabMeans {
  private let environment: [String: String]

  /// - Parameter environment: what commands inherit, usually this process's own.
  public init(environment: [String: String]) { self.environment = environment }

  public func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome {
    let isStopped = Guarded(false)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        _ = Worker(name: "lab-command") { [environment] in
          let child = Child(command, inheriting: environment)
          continuation.resume(returning: child.outcome(by: deadline) { isStopped.with { $0 } })
        }
      }
    } onCancel: {
      isStopped.with { $0 = true }
    }
  }
}

/// One child process, used by the thread that made it.
private final class Child {
  private static let outputLimit = 16 << 10
  /// Between being asked to end and being ended.
  private static let patience = Duration.milliseconds(500)

  private var pid: pid_t = 0
  private var failure: Int32 = 0
  private var pipe: [Int32] = [-1, -1]
  private var output: [UInt8] = []

  init(_ command: LabCommand, inheriting environment: [String: String]) {
    // A socket pair, because a plain pipe cannot be made close-on-exec in one step.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, type, 0, &pipe) == 0 else {
      failure = errno
      return
    }
    // The child writes as to a file: it must not be told to try again.
    _ = fcntl(pipe[1], F_SETFL, 0)
    Self.closeOthersOnExec()
    failure = spawn(command, environment.merging(command.environment) { _, own in own })
    close(pipe[1])
    pipe[1] = -1
  }

  deinit {
    for fd in pipe where fd >= 0 { close(fd) }
  }

  func outcome(by deadline: Deadline, isStopped: () -> Bool) -> LabOutcome {
    guard failure == 0 else { return LabOutcome(ending: .notStarted(Errno.text(failure)), output: "") }
    while true {
      drain(waiting: 20)
      if let ending = ending() {
        drain(waiting: 0)
        return LabOutcome(ending: ending, output: text)
      }
      if isStopped() { return end(.stopped) }
      if deadline.hasPassed { return end(.timedOut) }
    }
  }

  private var text: String { String(decoding: output, as: UTF8.self) }

  private func spawn(_ command: LabCommand, _ environment: [String: String]) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
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

    return Self.withStrings(command.argv) { argv in
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

  private func ending() -> LabOutcome.Ending? {
    var status: Int32 = 0
    let got = waitpid(pid, &status, WNOHANG)
    if got == 0 || (got < 0 && errno == EINTR) { return nil }
    guard got == pid else { return .notStarted("its ending is not known") }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
  }

  /// Asks the whole group to end, then ends it.
  private func end(_ ending: LabOutcome.Ending) -> LabOutcome {
    for (signal, patience) in [(SIGTERM, Self.patience), (SIGKILL, .seconds(5))] {
      kill(-pid, signal)
      let limit = Deadline.after(patience)
      while !limit.hasPassed {
        drain(waiting: 10)
        guard self.ending() != nil else { continue }
        // What the command had started does not outlive it.
        kill(-pid, SIGKILL)
        return LabOutcome(ending: ending, output: text)
      }
    }
    return LabOutcome(ending: ending, output: text)
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
