import Transport
import Wire

/// What each packet does.
extension DebugSession {
  enum Answer: Equatable, Sendable {
    case reply(String)
    /// Nothing now: the process runs, or the phone is silent.
    case later
    case close
  }

  func answer(_ packet: String) -> Answer {
    // While the process runs, debugserver listens for the interrupt only.
    if state.with({ $0.isRunning || $0.isMute }) { return .later }
    if let end = state.with({ $0.unheardEnd }), packet == "c" || packet.hasPrefix("vCont;") {
      state.with { $0.unheardEnd = nil }
      return .reply(Self.text(of: end))
    }
    if let setting = setting(packet) { return setting }
    switch packet {
    case "QStartNoAckMode":
      state.with { $0.acknowledges = false }
      return .reply("OK")
    case "qLaunchSuccess": return .reply(launchSuccess)
    case "qProcessInfo": return withProcess { .reply(self.processInfo($0)) }
    case "qC": return withProcess { .reply("QC" + String($0.pid * 16 + 3, radix: 16)) }
    case "qHostInfo": return .reply(hostInfo)
    case "?": return withProcess(else: "W00") { .reply(Self.stopReply($0)) }
    case "vCont?": return .reply("vCont;c;C")
    case "c": return goOn()
    case "D": return detach(staysStopped: false)
    case "D1": return detach(staysStopped: true)
    case "k": return kill()
    default: return longer(packet)
    }
  }

  /// Settings that are taken and change nothing here, and those that do.
  private func setting(_ packet: String) -> Answer? {
    let accepted = [
      "QSetMaxPacketSize:", "QSetMaxPayloadSize:", "QSetWorkingDir:", "QSetDisableASLR:", "QListThreadsInStopReply",
      "QThreadSuffixSupported", "QSetLogging:", "QSetSTDIN:", "QSetSTDOUT:", "QSetSTDERR:",
    ]
    if accepted.contains(where: packet.hasPrefix) { return .reply("OK") }
    if packet.hasPrefix("QSetDetachOnError:") {
      state.with { $0.detachesOnError = packet.hasSuffix(":1") }
      return .reply("OK")
    }
    if let pair = rest(packet, "QEnvironmentHexEncoded:").map({
      Hex.decode($0).map { String(decoding: $0, as: UTF8.self) }
    }) {
      return environment(pair)
    }
    if let pair = rest(packet, "QEnvironment:") { return environment(String(pair)) }
    return nil
  }

  private func environment(_ pair: String?) -> Answer {
    guard let pair, let sign = pair.firstIndex(of: "="), sign != pair.startIndex else { return .reply("E0b") }
    state.with { $0.environment[String(pair[..<sign])] = String(pair[pair.index(after: sign)...]) }
    return .reply("OK")
  }

  private func longer(_ packet: String) -> Answer {
    if let list = rest(packet, "A") { return launch(list) }
    if packet.hasPrefix("H") { return .reply("OK") }
    if let actions = rest(packet, "vCont;") {
      return actions.hasPrefix("c") || actions.hasPrefix("C") ? goOn() : .reply("E0b")
    }
    if packet.hasPrefix("C") { return goOn() }
    if let pid = rest(packet, "vAttach;") { return attach(Int(pid, radix: 16).flatMap { phone.app.process(pid: $0) }) }
    for form in ["vAttachName;", "vAttachOrWait;"] {
      guard let digits = rest(packet, form) else { continue }
      let name = Hex.decode(digits).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return attach(phone.app.process(named: name))
    }
    if packet.hasPrefix("qSupported") { return .reply("qXfer:features:read-;PacketSize=20000") }
    // What it does not know it answers with an empty packet.
    return .reply("")
  }

  private func rest(_ packet: String, _ prefix: String) -> Substring? {
    packet.hasPrefix(prefix) ? packet.dropFirst(prefix.utf8.count) : nil
  }

  private func withProcess(else missing: String = "E04", _ body: (AppProcess) -> Answer) -> Answer {
    guard let process = state.with({ $0.process }) else { return .reply(missing) }
    return body(process)
  }

  // MARK: Starting

  /// `A`: length in hex digits, index, hex; for each argument.
  private func launch(_ list: Substring) -> Answer {
    guard let arguments = Self.arguments(list), let path = arguments.first else { return .reply("E0b") }
    let environment = state.with { $0.environment }
    switch phone.app.launchUnderDebugger(path, Array(arguments.dropFirst()), environment) {
    case .started(let process):
      state.with { ($0.refusal, $0.hasLaunched) = (nil, true) }
      adopt(process)
      return .reply("OK")
    case .refused(let text):
      state.with { ($0.refusal, $0.hasLaunched) = (text, true) }
      return .reply("OK")
    case .silent: return .later
    case .mute:
      state.with { $0.isMute = true }
      return .reply("OK")
    case .lost: return .close
    }
  }

  /// - Returns: nil when lengths, indices or digits do not fit each other.
  static func arguments(_ list: Substring) -> [String]? {
    let fields = list.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count.isMultiple(of: 3) else { return nil }
    var arguments: [String] = []
    for start in stride(from: 0, to: fields.count, by: 3) {
      guard Int(fields[start]) == fields[start + 2].utf8.count, Int(fields[start + 1]) == arguments.count,
        let bytes = Hex.decode(fields[start + 2])
      else { return nil }
      arguments.append(String(decoding: bytes, as: UTF8.self))
    }
    return arguments
  }

  private var launchSuccess: String {
    let (refusal, hasLaunched) = state.with { ($0.refusal, $0.hasLaunched) }
    if let refusal {
      return phone.app.model.with { $0.hexRefusals }
        ? "E21;" + Hex.encode(refusal.utf8, uppercase: false) : "E" + refusal
    }
    return hasLaunched ? "OK" : "ENo process was launched"
  }

  private func attach(_ process: AppProcess?) -> Answer {
    guard let process else { return .reply("E96") }
    phone.record("debugger-attached", ["bundle": .string(process.bundle), "pid": .integer(Int64(process.pid))])
    process.stop(.debugger)
    adopt(process)
    return .reply(Self.stopReply(process))
  }

  // MARK: Going on and ending

  private func goOn() -> Answer {
    withProcess { process in
      self.state.with { $0.isRunning = true }
      process.go(on: [.debugger])
      return .later
    }
  }

  private func detach(staysStopped: Bool) -> Answer {
    withProcess { process in
      self.state.with { $0.process = nil }
      if !staysStopped { process.go(on: [.debugger]) }
      return .reply("OK")
    }
  }

  private func kill() -> Answer {
    withProcess(else: "X09") { process in
      self.state.with { $0.process = nil }
      self.phone.record("app-killed", ["because": "the host asked for it", "bundle": .string(process.bundle)])
      self.phone.app.end(process, .signal(9))
      return .reply("X09")
    }
  }

  // MARK: What it says of itself

  private func processInfo(_ process: AppProcess) -> String {
    let pid = String(process.pid, radix: 16)
    return "pid:\(pid);parent-pid:1;real-uid:1f5;real-gid:1f5;effective-uid:1f5;effective-gid:1f5;cputype:100000c;"
      + "cpusubtype:2;ptrsize:8;ostype:ios;vendor:apple;endian:little;"
  }

  private var hostInfo: String {
    "cputype:16777228;cpusubtype:2;addressing_bits:47;ostype:ios;vendor:apple;os_version:\(phone.preset.ios);"
      + "endian:little;ptrsize:8;"
  }
}
