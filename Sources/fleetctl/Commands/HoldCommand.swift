import DeviceBridge
import Fleet
import Glibc
import Transport
import Wire

/// `fleetctl hold`: a person takes a phone, and neither supervisor nor runs touch it meanwhile.
enum HoldCommand {
  static let spec = CommandSpec(
    name: "hold", summary: "take a phone: neither supervisor nor runs touch it meanwhile",
    positionals: [
      .body, PositionalSpec(label: "COMMAND", help: "run this, and hold the phone until it ends", count: .any),
    ],
    options: [
      .value("reason", "R", "why, for whoever asks"),
      .value("for", "DURATION", "let go of it then (else at the end of COMMAND, or at Ctrl-C)"),
      .value("lock-wait", "DURATION", "wait so long for a phone that somebody holds (else 30s)"),
    ],
    notes: [
      "The hold ends with this process, however that ends. Write the command behind --: fleetctl hold hall --reason "
        + "\"new battery\" -- make flash.",
      "Exit codes: 0 held to the end; with a COMMAND, 0 when it ended with 0, else 1. 1 also when somebody else holds "
        + "the phone.",
      "--json: one object when the phone is held: body, udid, reason, until.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    let span = try context.usage { () throws(UsageError) in try invocation.positiveDuration("for") }
    let wait = try context.usage { () throws(UsageError) in try invocation.duration("lock-wait") } ?? .seconds(30)
    guard let reason = invocation.value("reason"), !reason.isEmpty else {
      throw Complaint(
        .usage,
        "Nothing says why. Whoever meets the hold wants to know. Say it: fleetctl hold BODY --reason \"new battery\".")
    }
    let bench = try Bench(context)
    let body = try await bench.body(invocation.one("BODY"))
    let stop = Stop()
    // A command of its own gets the signal too, and is waited for.
    context.interruption.whenInterrupted(patience: .milliseconds(1_800)) { _ in stop.now() }
    let lease = try await take(body, bench.mux, reason, wait, context, stop)
    defer { lease.release() }
    await context.note(
      .hold, on: body, reason: reason, result: span.map { "held for \($0.shown)" } ?? "held", in: bench.configuration)
    try tell(body, reason, span, context)
    let words = invocation.all("COMMAND")
    guard !words.isEmpty else {
      await rest(span, until: stop)
      return .done
    }
    return try await run(words, for: body, span, context, stop)
  }

  private static func take(
    _ body: Body, _ mux: MuxAddress, _ reason: String, _ wait: Duration, _ context: Context, _ stop: Stop
  ) async throws(Complaint) -> PhoneLease {
    let (locks, output) = (PhoneLocks(environment: context.environment), context.output)
    let asking = Task { () -> Result<LeaseAnswer, HostTrouble> in
      do throws(HostTrouble) {
        return .success(
          try await locks.acquire(
            body.udid, on: mux, as: .current(.hold, reason: reason), wait: .after(wait)
          ) { holder in
            output.say("\(body.title) is held by \(holder.text); it is waited for.".printable)
          })
      } catch {
        return .failure(error)
      }
    }
    stop.whenStopped { asking.cancel() }
    switch await asking.value {
    case .success(.taken(let lease, _)): return lease
    case .success(.held(let holder)):
      throw Complaint(
        .no,
        "\(body.title) is held by \(holder.text). One holds it at a time. Ask them, or wait longer: ".printable
          + "fleetctl hold \(body.title.printable) --lock-wait 10m --reason R.")
    case .success(.cancelled): throw Complaint(.harness, "")
    case .failure(let trouble): throw Complaint(.harness, trouble.sentence.printable)
    }
  }

  private static func tell(
    _ body: Body, _ reason: String, _ span: Duration?, _ context: Context
  ) throws(Complaint) {
    let until = span.map { WallClock.rfc3339(WallClock.now() + $0) }
    if context.wantsJSON {
      let object: JSON = [
        "body": .text(body.name), "udid": .string(body.udid.description), "reason": .string(reason),
        "until": .text(until),
      ]
      try context.output.result(object)
    } else {
      let end = span.map { "for \($0.shown)" } ?? (context.invocation.all("COMMAND").isEmpty ? "until Ctrl-C" : "")
      try context.output.result("\(body.title) is held \(end)".trimmed.printable)
    }
  }

  /// Waits for the end of the time, or for the wish to end.
  private static func rest(_ span: Duration?, until stop: Stop) async {
    let sleep = Task { try? await ContinuousClock().sleep(for: span ?? .seconds(400 * 86_400)) }
    stop.whenStopped { sleep.cancel() }
    await sleep.value
  }

  private static func run(
    _ words: [String], for body: Body, _ span: Duration?, _ context: Context, _ stop: Stop
  ) async throws(Complaint) -> ExitCode {
    let environment = context.environment.merging(
      ["FLEETCTL_UDID": body.udid.description, "FLEETCTL_NAME": body.title]) { $1 }
    let child = HeldChild(words, environment)
    if let code = child.failure {
      throw Complaint(
        .usage,
        "'\(words[0])' could not be started: \(Errno.text(code)). It may be misspelt, or not in PATH. ".printable
          + "Write the command behind --: fleetctl hold BODY --reason R -- COMMAND.")
    }
    stop.whenStopped { child.ask(SIGTERM) }
    let limit = span.map { Deadline.after($0) } ?? .never
    return await child.ending(by: limit) == 0 ? .done : .no
  }
}

extension String {
  fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}

/// A person's command under a hold: it has this process's terminal, and none of its other descriptors.
private final class HeldChild: Sendable {
  private let pid: pid_t
  /// An errno: it could not be started.
  let failure: Int32?

  init(_ words: [String], _ environment: Environment) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process ignores signals that the command should not ignore.
    var every = sigset_t()
    sigfillset(&every)
    posix_spawnattr_setsigdefault(&attributes, &every)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var argv = words.map { strdup($0) } + [nil]
    var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for copy in argv + envp { free(copy) } }
    var started: pid_t = 0
    let code = posix_spawnp(&started, words[0], nil, &attributes, &argv, &envp)
    pid = started
    failure = code == 0 ? nil : code
  }

  func ask(_ signal: Int32) { if failure == nil { kill(pid, signal) } }

  /// Waits for its end; at the deadline it is asked to end, and a second later ended.
  ///
  /// - Returns: what it ended with; nil where a signal ended it.
  func ending(by deadline: Deadline) async -> Int32? {
    await withCheckedContinuation { continuation in
      _ = Worker(name: "held command") { [pid] in continuation.resume(returning: Self.wait(pid, by: deadline)) }
    }
  }

  private static func wait(_ pid: pid_t, by deadline: Deadline) -> Int32? {
    var limit = deadline
    var signals: [Int32] = [SIGTERM, SIGKILL]
    while true {
      var status: Int32 = 0
      let got = waitpid(pid, &status, WNOHANG)
      if got == pid { return status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
      if got < 0, errno != EINTR { return nil }
      if limit.hasPassed, !signals.isEmpty {
        kill(pid, signals.removeFirst())
        limit = .after(.seconds(1))
      }
      usleep(20_000)
    }
  }
}
