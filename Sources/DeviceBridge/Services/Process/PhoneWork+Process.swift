import Wire

extension PhoneWork {
  /// - Returns: false when the app does not run.
  func suspend(_ bundle: String) throws(PhoneError) -> Bool {
    try withProcess(of: bundle, "stopping \(PhoneText.clean(bundle))") { dialogue throws(PhoneError) in
      // Detached, and left as it stands.
      try dialogue.ask("D1")
    }
  }

  /// - Returns: false when the app does not run.
  func resume(_ bundle: String) throws(PhoneError) -> Bool {
    try withProcess(of: bundle, "continuing \(PhoneText.clean(bundle))") { dialogue throws(PhoneError) in
      try dialogue.ask("D")
    }
  }

  /// - Returns: false when the app did not run.
  func kill(_ bundle: String) throws(PhoneError) -> Bool {
    let step = "ending \(PhoneText.clean(bundle))"
    let (executable, version, running) = try processes(ofApp: bundle, step)
    for process in running { try end(process, of: executable, version.major) }
    return !running.isEmpty
  }

  private func withProcess(
    of bundle: String, _ step: String, _ deed: (DebugDialogue) throws(PhoneError) -> [UInt8]
  ) throws(PhoneError) -> Bool {
    let (executable, version, running) = try processes(ofApp: bundle, step)
    guard let process = running.last else { return false }
    let dialogue = try debugger(version.major)
    // Should this host vanish now, the app goes on.
    _ = try dialogue.ask("QSetDetachOnError:1")
    let stop = try dialogue.ask("vAttach;" + String(process, radix: 16))
    if DebugDialogue.isExit(stop) { return false }
    guard stop.first == UInt8(ascii: "T") || stop.first == UInt8(ascii: "S") else {
      if try !processes(of: executable).contains(process) { return false }
      throw refused(step, stop)
    }
    let reply = try deed(dialogue)
    guard reply == DebugDialogue.ok else { throw refused(step, reply) }
    return true
  }

  private func processes(
    ofApp bundle: String, _ step: String
  ) throws(PhoneError) -> (executable: String, SystemVersion, [Int]) {
    let version = try systemVersion()
    if version.major >= 17 { throw .launchRefused(udid, .notOnThisIOS, detail: "\(step), iOS \(version.text)") }
    guard let app = try app(bundle) else {
      throw .launchRefused(udid, .notInstalled, detail: PhoneText.clean(bundle))
    }
    guard let executable = app.executable else {
      throw .badReply(udid, step: "looking up \(PhoneText.clean(bundle))", detail: "no executable")
    }
    return (executable, version, try processes(of: executable))
  }

  private func refused(_ step: String, _ reply: [UInt8]) -> PhoneError {
    let (refusal, detail) = RefusalText.refusal(reply)
    return .launchRefused(udid, refusal, detail: "\(step): \(detail)")
  }
}
