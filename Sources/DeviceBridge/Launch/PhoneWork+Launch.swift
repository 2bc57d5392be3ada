import Transport
import Wire

extension PhoneWork {
  /// Brings the app to the front, by whichever launcher the phone offers.
  func launch(_ request: LaunchRequest) throws(PhoneError) {
    if let problem = request.problem { throw .badRequest(detail: problem) }
    do throws(PhoneError) {
      switch try developerWay(to: .apps, "launching \(request.bundle)") {
      case .classic(let version): try launchClassic(request, version)
      case .tunnel(let client): try launch(request, client)
      }
    } catch .lockdown(_, _, let token, _) where token == "PasswordProtected" {
      throw .launchRefused(udid, .locked, detail: token)
    }
  }

  /// Through debugserver: iOS 16 and older.
  ///
  /// A running one is ended first, since debugserver always starts a process of its own; but only on a phone whose lock
  /// was read as unlocked, since a locked one would start nothing in its place.
  private func launchClassic(_ request: LaunchRequest, _ version: SystemVersion) throws(PhoneError) {
    guard let found = try app(request.bundle) else {
      throw .launchRefused(udid, .notInstalled, detail: request.bundle)
    }
    guard let path = found.executablePath, let executable = found.executable else {
      throw .badReply(udid, step: "looking up \(request.bundle)", detail: "no executable")
    }
    let before = try processes(of: executable)
    let app = (path: path, executable: executable, major: version.major)
    if try attempt(request, app, endingFirst: before, retries: !before.isEmpty) { return }
    // The end of the old one may have taken the new one along: once more.
    context.pause(.seconds(1))
    if let ended = context.ended(at: "launching \(request.bundle)") { throw ended }
    _ = try attempt(request, app, endingFirst: try processes(of: executable), retries: false)
  }

  private static let noAnswer = "no answer within"
  private static let notAsked = "not asked"

  private static func mayBeCollision(_ error: PhoneError) -> Bool {
    switch error {
    // Where nothing came in time, nothing would come the second time; where nothing was asked, nothing collided.
    case .launchRefused(_, .failed, let detail): !detail.hasPrefix(noAnswer) && !detail.hasPrefix(notAsked)
    case .launchRefused(_, .appExited, _), .lost: true
    default: false
    }
  }

  /// One launch, from the lock to the second that counts.
  ///
  /// - Parameter retries: a failure that may come of the old process's end is no error yet.
  /// - Returns: false for such a failure.
  private func attempt(
    _ request: LaunchRequest, _ app: (path: String, executable: String, major: Int), endingFirst before: [Int],
    retries: Bool
  ) throws(PhoneError) -> Bool {
    let lock = lock().state
    switch lock {
    case .locked: throw .launchRefused(udid, .locked, detail: "read before anything was ended or started")
    case .unlocked: for process in before { try end(process, of: app.executable, app.major) }
    // The phone may still say yes, and ends the running one itself then.
    case .unknown: break
    }
    do throws(PhoneError) {
      let dialogue = try debugger(app.major)
      if request.unlockedOnly { try expectUnlocked() }
      do throws(PhoneError) {
        try start([app.path] + request.arguments, request.environment, dialogue)
      } catch .silent(_, let step, let limit) {
        let guess = lock == .unlocked ? "" : "; the phone may be locked"
        throw .launchRefused(udid, .failed, detail: "\(Self.noAnswer) \(limit.shown): \(step)\(guess)")
      }
      try expectLife(of: app.executable, besides: before, request)
      return true
    } catch {
      guard retries, Self.mayBeCollision(error), context.ended == nil else { throw error }
      return false
    }
  }

  /// Read once more: ending the running one takes a while, in which somebody may lock the phone.
  private func expectUnlocked() throws(PhoneError) {
    let reading = lock()
    let detail = "\(Self.notAsked), since \(reading.why)"
    switch reading.state {
    case .unlocked: return
    case .locked: throw .launchRefused(udid, .locked, detail: detail)
    case .unknown: throw .launchRefused(udid, .failed, detail: detail)
    }
  }

  /// Returning means that the process runs and nobody debugs it any more.
  private func start(
    _ arguments: [String], _ environment: [(name: String, value: String)], _ dialogue: DebugDialogue
  ) throws(PhoneError) {
    // Should this host vanish now, the app stays.
    _ = try dialogue.ask("QSetDetachOnError:1")
    for (name, value) in environment { try expectOK(dialogue.ask(DebugDialogue.environment(name, value))) }
    try expectOK(dialogue.ask(DebugDialogue.start(arguments)))
    try expectOK(dialogue.ask("qLaunchSuccess"))
    try expectOK(dialogue.ask("Hc0"))
    try expectOK(dialogue.ask("D"))
  }

  private func expectOK(_ reply: [UInt8]) throws(PhoneError) {
    if reply == DebugDialogue.ok { return }
    if DebugDialogue.isExit(reply) {
      throw .launchRefused(udid, .appExited, detail: PhoneText.clean(String(decoding: reply, as: UTF8.self)))
    }
    if DebugDialogue.isRefusal(reply) {
      let (refusal, detail) = RefusalText.refusal(reply)
      throw .launchRefused(udid, refusal, detail: detail)
    }
    // Older phones give the reason without the letter.
    let text = String(decoding: reply, as: UTF8.self)
    throw .launchRefused(udid, RefusalText.meaning(text), detail: PhoneText.clean(text))
  }

  /// A launch counts when its process has lived for a second, or its door has answered.
  private func expectLife(
    of executable: String, besides before: [Int], _ request: LaunchRequest
  ) throws(PhoneError) {
    if try firstSecond(of: request, "watching the app start") == .answered { return }
    if try processes(of: executable).contains(where: { !before.contains($0) }) { return }
    throw .launchRefused(udid, .appExited, detail: "gone within a second")
  }

  // MARK: - Ending a running one

  func end(_ process: Int, of executable: String, _ major: Int) throws(PhoneError) {
    do throws(PhoneError) {
      let dialogue = try debugger(major)
      let reply = try dialogue.ask("vAttach;" + String(process, radix: 16))
      if !DebugDialogue.isRefusal(reply), !DebugDialogue.isExit(reply) { _ = try dialogue.ask("k") }
      if DebugDialogue.isRefusal(reply), try isRunning(process, executable) {
        let (refusal, detail) = RefusalText.refusal(reply)
        throw .launchRefused(udid, refusal, detail: "ending the running app: \(detail)")
      }
    } catch .lost {
      // Some close at once instead of saying that the process is gone; the list below tells.
    }
    for _ in 0..<50 {
      if try !isRunning(process, executable) { return }
      context.pause(.milliseconds(100))
      if let ended = context.ended(at: "waiting for the running app's end") { throw ended }
    }
    throw .launchRefused(udid, .failed, detail: "the running app did not end")
  }

  private func isRunning(_ process: Int, _ executable: String) throws(PhoneError) -> Bool {
    try processes(of: executable).contains(process)
  }

  // MARK: - The service

  func debugger(_ major: Int) throws(PhoneError) -> DebugDialogue {
    let found = try patiently(
      "debugserver", "starting debugserver", isDue: { () throws(PhoneError) in try hasDeveloperImage() }
    ) { () throws(PhoneError) in try debugService() }
    guard let (service, clear) = found else { throw try missingDeveloperService(major, nil) }
    return try DebugDialogue(ServiceChannel(service, context, clearAfterHandshake: clear), udid)
  }

  /// Newer phones know the first name, older ones the second, which goes on in clear text after its handshake.
  private func debugService() throws(PhoneError) -> (StartedService, clearAfterHandshake: Bool)? {
    for (name, clear) in [("com.apple.debugserver.DVTSecureSocketProxy", false), ("com.apple.debugserver", true)] {
      if let service = try start(name) { return (service, clear) }
    }
    return nil
  }

  /// Why a service of the developer image is not known to the phone: iOS 16 and older.
  ///
  /// - Parameter step: what was asked for, where it was no launch.
  func missingDeveloperService(_ major: Int, _ step: String?) throws(PhoneError) -> PhoneError {
    let detail = (step.map { $0 + ": " } ?? "") + "InvalidService"
    return .launchRefused(udid, try isDeveloperModeOff(major) ? .developerModeOff : .noDeveloperImage, detail: detail)
  }
}

extension LaunchRequest {
  /// Why this can't be launched as it stands; nil when it can.
  public var problem: String? {
    if bundle.isEmpty || bundle.utf8.contains(0) { return "\"\(PhoneText.clean(bundle))\" is no bundle identifier" }
    if arguments.contains(where: { $0.utf8.contains(0) }) { return "an argument holds a NUL character" }
    var names: Set<String> = []
    for (name, value) in environment {
      if name.isEmpty || name.contains("=") || name.utf8.contains(0) || value.utf8.contains(0) {
        return "\"\(PhoneText.clean(name))\" is no environment variable"
      }
      if !names.insert(name).inserted { return "the environment variable \(PhoneText.clean(name)) stands twice" }
    }
    return nil
  }
}
