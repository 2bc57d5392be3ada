import Glibc
import Testing
import Transport

@testable import Scenarios

@Suite struct `a lab's command` {
  private let lab = ProcessLab(environment: ["PATH": "/usr/bin:/bin", "HOME": "/h", "FLEETCTL_UDID": "old"])

  private func run(_ words: String..., within: Duration = .seconds(30)) async -> LabOutcome {
    await lab.run(LabCommand(argv: words, environment: ["FLEETCTL_UDID": "U"]), by: .after(within))
  }

  private func shell(_ script: String, within: Duration = .seconds(30)) async -> LabOutcome {
    await run("sh", "-c", script, within: within)
  }

  /// Whether a process of that number is there and not only waiting to be buried.
  private func lives(_ pid: Int) -> Bool {
    guard kill(pid_t(pid), 0) == 0 else { return false }
    let fd = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
    guard fd >= 0 else { return false }
    defer { close(fd) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = read(fd, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.split(separator: ")").last?.hasPrefix(" Z") == false
  }

  private func ends(_ pid: Int) async -> Bool {
    let limit = Deadline.after(.seconds(10))
    while !limit.hasPassed {
      if !lives(pid) { return true }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  @Test func `ends with its own code and all it said`() async {
    #expect(await shell("echo out; echo err >&2; exit 3") == LabOutcome(ending: .exited(3), output: "out\nerr\n"))
    #expect(await run("true") == LabOutcome(ending: .exited(0), output: ""))
    #expect(await shell("kill -9 $$").ending == .killed(signal: 9))
  }

  @Test func `finds its words and its environment as they were given`() async {
    #expect(await run("printf", "%s|", "a b", "$HOME", "").output == "a b|$HOME||")
    #expect(await shell("echo $FLEETCTL_UDID $HOME").output == "U /h\n")
  }

  @Test func `that is not there says so`() async {
    let outcome = await run("no-such-program-anywhere")

    #expect(outcome == LabOutcome(ending: .notStarted("No such file or directory"), output: ""))
  }

  @Test func `has default signals, no input and none of our descriptors`() async throws {
    signal(SIGPIPE, SIG_IGN)
    // As a library leaves one: open, and not closed on exec.
    let (left, right) = try Socket.pair()
    _ = fcntl(left.fd, F_SETFD, 0)

    let outcome = await shell("grep -E 'SigIgn|SigBlk' /proc/self/status; cat; ls /proc/self/fd | wc -l")

    let lines = outcome.output.split(separator: "\n")
    for line in lines.prefix(2) {
      let mask = try #require(UInt64(line.suffix(16), radix: 16))
      // The C library keeps two signals above these for itself.
      #expect(mask & 0x7FFF_FFFF == 0, "\(outcome.output)")
    }
    // Input, output, error, and the folder that ls reads.
    #expect(lines.last == "4", "\(outcome.output)")
    left.close()
    right.close()
  }

  @Test func `says a lot without growing, and its end is kept`() async {
    let outcome = await shell("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done")

    #expect(outcome.ending == .exited(0))
    #expect(outcome.output.utf8.count <= 16 << 10)
    #expect(outcome.output.hasSuffix("line-19999\n"))
  }

  @Test func `ends at its deadline together with what it started`() async throws {
    let outcome = await shell("sleep 300 & echo $!; wait", within: .milliseconds(300))

    #expect(outcome.ending == .timedOut)
    let child = try #require(Int(outcome.output.split(separator: "\n").first ?? ""))
    #expect(await ends(child))
  }

  @Test func `ends at its deadline even when it does not want to`() async throws {
    let outcome = await shell("trap '' TERM; echo $$; while :; do sleep 1; done", within: .milliseconds(300))

    #expect(outcome.ending == .timedOut)
    #expect(await ends(try #require(Int(outcome.output.split(separator: "\n").first ?? ""))))
  }

  @Test func `that leaves something running behind is not waited for`() async throws {
    let outcome = await shell("sleep 300 & echo $!")

    #expect(outcome.ending == .exited(0))
    let child = try #require(Int(outcome.output.split(separator: "\n").first ?? ""))
    kill(pid_t(child), SIGKILL)
  }

  @Test func `ends when the run is stopped`() async throws {
    let lab = lab
    let task = Task {
      await lab.run(LabCommand(argv: ["sleep", "300"], environment: [:]), by: .after(.seconds(60)))
    }

    task.cancel()

    #expect(await task.value.ending == .stopped)
  }
}
