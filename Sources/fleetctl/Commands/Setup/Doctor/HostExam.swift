import DeviceBridge
import Fleet
import Glibc
import Transport
import Wire

/// What this machine needs to supervise phones.
struct HostExam: Sendable {
  /// Less free space than this is too little for months of rows.
  private static let leastBytes: UInt64 = 200 << 20
  private static let unit = "fleetctl.service"
  /// For programs that are asked.
  private static let limit = Duration.seconds(3)

  let configuration: FleetConfiguration
  let mux: MuxAddress
  let context: Context

  /// - Parameter phones: what the daemon said.
  func findings(_ phones: Result<[ListedPhone], PhoneError>) async -> [Finding] {
    var findings = [configured, daemon(phones)]
    findings += state()
    findings.append(await record())
    findings.append(locks())
    findings.append(await supervisor())
    findings.append(await service())
    findings.append(await clock())
    return findings
  }

  private var configured: Finding {
    guard let file = configuration.file else {
      return .notOK(
        "configuration", "There is no fleet.yaml; the defaults hold, and no app is named.",
        next: "fleetctl init --app BUNDLE")
    }
    let nameless = configuration.bodies.map { $0.allSatisfy { $0.app.bundle == nil } } ?? true
    guard configuration.app.bundle != nil || !nameless else {
      return .notOK("configuration", "\(file) names no app.", next: "write app: {bundle: …} into it")
    }
    return .ok("configuration", file)
  }

  private func daemon(_ phones: Result<[ListedPhone], PhoneError>) -> Finding {
    switch phones {
    case .success(let phones):
      return .ok("usbmuxd", "\(phones.count) \(phones.count == 1 ? "phone" : "phones") at \(mux)")
    case .failure(let error): return Finding("usbmuxd", .notOK, sentence: error.sentence)
    }
  }

  // MARK: - Files

  private func state() -> [Finding] {
    let folder: StateFolder
    do throws(HostTrouble) { folder = try StateFolder.find(context.environment) } catch {
      return [Finding("state folder", .notOK, sentence: error.sentence)]
    }
    return [.ok("state folder", folder.path), space(folder.path)]
  }

  private func space(_ path: String) -> Finding {
    var info = statvfs()
    guard statvfs(path, &info) == 0 else {
      return .unknown("disk space", "It can't be told: \(Errno.text(errno)).", next: "df -h \(path)")
    }
    let free = UInt64(info.f_bavail) * UInt64(info.f_frsize)
    let text = "\(free >> 20) MiB free at \(path)"
    // Some file systems have no inodes to count.
    let lacksInodes = info.f_files > 0 && info.f_favail < 1_000
    guard free >= Self.leastBytes, !lacksInodes else {
      return .notOK(
        "disk space", lacksInodes ? "\(info.f_favail) inodes left at \(path)." : "\(text): too little.",
        next: "make room: df -h \(path); df -i \(path)")
    }
    return .ok("disk space", text)
  }

  private func record() async -> Finding {
    let path: String
    do throws(HostTrouble) { path = try configuration.record.path(context.environment) } catch {
      return Finding("record", .notOK, sentence: error.sentence)
    }
    do throws(RecordTrouble) {
      let last = try await RecordReader(path, within: Self.limit).outcomes(limit: 1, newest: true).last
      if let last, last.at - WallClock.now() > .seconds(60) {
        return .notOK(
          "record", "Its last row is of \(LocalTime.text(WallClock.rfc3339(last.at))), which is still to come.",
          next: "see whether the clock is right: date")
      }
      return .ok("record", last?.seq.map { "\($0) rows at \(path)" } ?? "no row yet at \(path)")
    } catch {
      switch error {
      // Whoever supervises first begins it, or brings it up to date.
      case .missing, .older: return .ok("record", "begun or brought up to date by the next supervisor, at \(path)")
      case .locked, .slow: return Finding("record", .unknown, sentence: error.sentence)
      case .full, .corrupt, .newer, .foreign, .forbidden, .begunAnew, .outOfOrder, .failed:
        return Finding("record", .notOK, sentence: error.sentence)
      }
    }
  }

  private func locks() -> Finding {
    let folder = PhoneLocks(environment: context.environment).folder
    var info = stat()
    guard stat(folder, &info) == 0 else {
      guard errno == ENOENT else {
        return .notOK("phone locks", "\(folder) can't be had: \(Errno.text(errno)).", next: "ls -ld \(folder)")
      }
      let above = folder.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      return access(above.isEmpty ? "/" : above, W_OK | X_OK) == 0
        ? .ok("phone locks", "made when they are needed, in \(folder)")
        : .notOK(
          "phone locks", "\(folder) is not there, and can't be made by this user.",
          next: "sudo mkdir -m 1777 -p \(folder)")
    }
    guard info.st_mode & S_IFMT == S_IFDIR, access(folder, R_OK | W_OK | X_OK) == 0 else {
      return .notOK("phone locks", "\(folder) is no folder that this user may write to.", next: "ls -ld \(folder)")
    }
    return .ok("phone locks", folder)
  }

  // MARK: - What runs

  private func supervisor() async -> Finding {
    guard let folder = try? StateFolder.find(context.environment) else {
      return .unknown("supervisor", "Without a state folder it can't be asked.")
    }
    let socket = SupervisorClient.socket(in: folder)
    let answer: Result<Int, SupervisorClient.Trouble> = await onThread("supervisor") {
      do throws(SupervisorClient.Trouble) {
        return .success(try SupervisorClient.bodies(socket: socket, by: .after(Self.limit)).count)
      } catch {
        return .failure(error)
      }
    }
    switch answer {
    case .success(let count): return .ok("supervisor", "runs, with \(count) \(count == 1 ? "body" : "bodies")")
    case .failure(.forbidden(let socket)):
      return Finding("supervisor", .unknown, sentence: SupervisorClient.Trouble.forbidden(socket: socket).sentence)
    case .failure(let trouble): return Finding("supervisor", .notOK, sentence: trouble.sentence)
    }
  }

  /// Whether systemd starts the supervisor with the machine.
  private func service() async -> Finding {
    guard Files.host.exists("/run/systemd/system") else {
      return .unknown("start-up", "systemd does not run here, so it can't be told what starts the supervisor.")
    }
    let (ending, text) = await output(["systemctl", "is-enabled", Self.unit])
    switch (ending, text) {
    case (.exited(0), _): return .ok("start-up", "\(Self.unit) is \(text)")
    case (.exited, "disabled"), (.exited, "masked"), (.exited, "linked"):
      return .notOK(
        "start-up", "\(Self.unit) is \(text): after a power cut nobody supervises.",
        next: "sudo systemctl enable --now fleetctl")
    case (.exited, _):
      return .notOK(
        "start-up", "There is no \(Self.unit): after a power cut nobody supervises.",
        next: "install the unit from packaging/, then: sudo systemctl enable --now fleetctl")
    case (.notStarted, _), (.killed, _), (.timedOut, _), (.stopped, _):
      return .unknown("start-up", "systemctl did not answer.", next: "systemctl is-enabled fleetctl")
    }
  }

  private func clock() async -> Finding {
    if Files.host.exists("/run/systemd/timesync/synchronized") { return .ok("clock", "set by the network") }
    let (ending, text) = await output(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
    switch (ending, text) {
    case (.exited(0), "yes"): return .ok("clock", "set by the network")
    case (.exited(0), "no"):
      return .notOK(
        "clock", "It is not set by the network; rows carry its time.", next: "sudo timedatectl set-ntp true")
    case (.exited, _), (.notStarted, _), (.killed, _), (.timedOut, _), (.stopped, _):
      return .unknown("clock", "Nobody here can tell whether it is set by the network.", next: "date")
    }
  }

  /// How a program ended, and the one line that it printed.
  private func output(_ argv: [String]) async -> (ChildProcess.Ending, String) {
    let environment = context.environment
    return await onThread("doctor") {
      let child = ChildProcess(argv, environment: environment)
      let ending = child.ending(by: .after(Self.limit))
      return (ending, child.text.oneLine())
    }
  }
}
