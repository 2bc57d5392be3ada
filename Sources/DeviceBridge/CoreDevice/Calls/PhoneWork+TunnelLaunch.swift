import Transport
import Wire

extension PhoneWork {
  /// Brings the app to the front through the tunnel: iOS 17.4 and later.
  ///
  /// A running one is ended by the phone itself, and only where a fresh one was asked for on a phone whose lock was read
  /// as unlocked: what a locked phone does first is not known.
  func launch(_ request: LaunchRequest, _ client: CoreDeviceClient) throws(PhoneError) {
    let lock = lockForLaunch()
    let why = "\(request.unlockedOnly ? "not asked, since " : "")\(lock.why)"
    switch lock.state {
    case .locked:
      throw .launchRefused(udid, .locked, detail: "read before anything was ended or started: \(lock.why)")
    case .unknown where request.unlockedOnly: throw .launchRefused(udid, .failed, detail: why)
    case .unlocked, .unknown: break
    }
    do throws(PhoneError) {
      try attempt(request, client, lock)
    } catch {
      // The end of the old one may have taken the new one along, or the phone was not done with it: once more.
      guard request.fresh, Self.mayBeCollision(error), context.ended == nil else { throw error }
      context.pause(.seconds(1))
      guard let client = try self.client(of: .apps, "launching \(request.bundle)") else { throw error }
      try attempt(request, client, lock)
    }
  }

  private static func mayBeCollision(_ error: PhoneError) -> Bool {
    switch error {
    case .launchRefused(_, .failed, let detail): !detail.hasPrefix(noAnswer)
    case .launchRefused(_, .appExited, _): true
    default: false
    }
  }

  private static let noAnswer = "no answer within"

  private func attempt(
    _ request: LaunchRequest, _ client: CoreDeviceClient, _ lock: LockReading
  ) throws(PhoneError) {
    var client = client
    let step = "launching \(request.bundle)"
    if request.fresh, lock.state == .unknown {
      // A phone that says yes to this is not locked.
      _ = try start(request, endingFirst: false, client, lock)
      guard let next = try self.client(of: .apps, step) else { throw .lost(udid, step: step) }
      client = next
    }
    let process = try start(request, endingFirst: request.fresh, client, lock)
    try expectLife(of: process, request)
  }

  private func start(
    _ request: LaunchRequest, endingFirst: Bool, _ client: CoreDeviceClient, _ lock: LockReading
  ) throws(PhoneError) -> Int {
    let step = "launching \(request.bundle)"
    let input = LaunchInput(
      bundle: request.bundle, arguments: request.arguments,
      environment: Dictionary(request.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }),
      terminatesExisting: endingFirst)
    let reply: CoreDeviceReply
    do throws(PhoneError) { reply = try client.call(.launchApplication, step, input.body) } catch {
      guard case .silent(_, let step, let limit) = error else { throw error }
      let guess = lock.state == .unlocked ? "" : "; the phone may be locked"
      throw .launchRefused(udid, .failed, detail: "\(Self.noAnswer) \(limit.shown): \(step)\(guess)")
    }
    switch reply {
    case .output(let output):
      return try client.read(step) { () throws(ShapeError) in try LaunchOutput(output).process.pid }
    case .error(let chain): throw launchMeaning(of: chain, request.bundle)
    }
  }

  /// A launch counts when its process has lived for a second, or its door has answered.
  private func expectLife(of process: Int, _ request: LaunchRequest) throws(PhoneError) {
    let step = "watching \(request.bundle) start"
    if try firstSecond(of: request, step) == .answered { return }
    guard let client = try client(of: .apps, step) else { throw .lost(udid, step: step) }
    client.patience = Self.probeTime
    let isThere: Bool
    do throws(PhoneError) { isThere = try tokens(client, step).contains { $0.pid == process } } catch {
      if let ended = context.ended(at: step) { throw ended }
      // The list that every phone has, outside of the tunnel.
      isThere = try processes().keys.contains(process)
    }
    if !isThere { throw .launchRefused(udid, .appExited, detail: "gone within a second") }
  }

  // MARK: - The lock

  /// The lock as the tunnel's own service tells it, which not every phone has; else as lockdown does, of whose yes reports
  /// differ whether it means that the phone is locked or that it has a passcode.
  private func lockForLaunch() -> LockReading {
    (try? lockInTunnel()) ?? lock()
  }

  /// - Returns: nil where the phone does not tell the lock in its tunnel.
  func lockInTunnel() throws(PhoneError) -> LockReading? {
    let step = "reading its lock"
    guard case .client(let client) = try opening(of: .deviceInfo, step), client.offers(.lockState) else { return nil }
    // There are other ways to know it.
    client.patience = Self.probeTime
    guard case .output(let output) = try client.call(.lockState, step) else { return nil }
    let state = try client.read(step) { () throws(ShapeError) in try LockStateOutput(output) }
    if !state.unlockedSinceBoot { return LockReading(state: .locked, why: "not unlocked since it was switched on") }
    return state.passcodeRequired
      ? LockReading(state: .locked, why: "the phone asks for its passcode")
      : LockReading(state: .unlocked, why: "the phone does not ask for a passcode")
  }
}
