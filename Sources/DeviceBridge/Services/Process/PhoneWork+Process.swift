import Wire

extension PhoneWork {
  /// - Returns: false when the app does not run.
  func suspend(_ bundle: String) throws(PhoneError) -> Bool {
    // Detached, and left as it stands.
    try move(bundle, "stopping \(PhoneText.clean(bundle))", "D1", .stop)
  }

  /// - Returns: false when the app does not run.
  func resume(_ bundle: String) throws(PhoneError) -> Bool {
    try move(bundle, "continuing \(PhoneText.clean(bundle))", "D", .continue)
  }

  /// - Returns: false when the app did not run.
  func kill(_ bundle: String) throws(PhoneError) -> Bool {
    let step = "ending \(PhoneText.clean(bundle))"
    switch try developerWay(to: .apps, step) {
    case .classic(let version):
      let executable = try installed(bundle, step).executable
      let running = try processes(of: executable)
      for process in running { try end(process, of: executable, version.major) }
      return !running.isEmpty
    case .tunnel(let client):
      let running = try processes(at: installed(bundle, step).path, client, step)
      for process in running where try signal(process, .kill, step) { try expectEnd(of: process, step) }
      return !running.isEmpty
    }
  }

  /// - Parameters:
  ///   - packet: what debugserver is asked once the process stands.
  ///   - signal: what does the same in the tunnel.
  private func move(
    _ bundle: String, _ step: String, _ packet: String, _ signal: PhoneSignal
  ) throws(PhoneError) -> Bool {
    switch try developerWay(to: .apps, step) {
    case .classic(let version):
      return try withProcess(of: installed(bundle, step).executable, version, step, packet)
    case .tunnel(let client):
      guard let process = try processes(at: installed(bundle, step).path, client, step).last else { return false }
      return try self.signal(process, signal, step)
    }
  }

  private func expectEnd(of process: Int, _ step: String) throws(PhoneError) {
    for _ in 0..<50 {
      if try !tokens(step).contains(where: { $0.pid == process }) { return }
      context.pause(.milliseconds(100))
      if let ended = context.ended(at: step) { throw ended }
    }
    throw .launchRefused(udid, .failed, detail: "\(step): it did not end")
  }

  private func withProcess(
    of executable: String, _ version: SystemVersion, _ step: String, _ packet: String
  ) throws(PhoneError) -> Bool {
    guard let process = try processes(of: executable).last else { return false }
    let dialogue = try debugger(version.major)
    // Should this host vanish now, the app goes on.
    _ = try dialogue.ask("QSetDetachOnError:1")
    let stop = try dialogue.ask("vAttach;" + String(process, radix: 16))
    if DebugDialogue.isExit(stop) { return false }
    guard stop.first == UInt8(ascii: "T") || stop.first == UInt8(ascii: "S") else {
      if try !processes(of: executable).contains(process) { return false }
      throw refused(step, stop)
    }
    let reply = try dialogue.ask(packet)
    guard reply == DebugDialogue.ok else { throw refused(step, reply) }
    return true
  }

  private func installed(
    _ bundle: String, _ step: String
  ) throws(PhoneError) -> (executable: String, path: String) {
    guard let app = try app(bundle) else {
      throw .launchRefused(udid, .notInstalled, detail: PhoneText.clean(bundle))
    }
    guard let executable = app.executable, let path = app.executablePath else {
      throw .badReply(udid, step: "looking up \(PhoneText.clean(bundle))", detail: "no executable")
    }
    return (executable, path)
  }

  private func refused(_ step: String, _ reply: [UInt8]) -> PhoneError {
    let (refusal, detail) = RefusalText.refusal(reply)
    return .launchRefused(udid, refusal, detail: "\(step): \(detail)")
  }
}
