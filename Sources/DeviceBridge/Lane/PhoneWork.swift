import CIMobileDevice
import CPlist
import Glibc
import Transport
import Wire

/// What a lane does on its thread: the session with the phone, and the questions put over it.
///
/// Never leaves that thread. The session is kept from call to call, and dropped on any error of it.
final class PhoneWork {
  let context: LaneContext
  var udid: UDID { context.udid }
  private var session: LockdownClient?
  var pairing = PairingPace()
  var powerMemory = PowerMemory()
  let shelf: TunnelShelf
  var missing: Set<MissingService> = []

  init(_ context: LaneContext) {
    self.context = context
    shelf = TunnelShelf(idle: context.tunnelIdle)
  }

  func dropSession() {
    session = nil
    context.record = nil
  }

  // MARK: - Questions

  /// One value of the phone's, read over the session.
  ///
  /// - Returns: nil where the phone has no such value, or keeps it to itself.
  func value(_ key: String, in domain: String? = nil) throws(PhoneError) -> Plist? {
    try onSession("reading \(key)") { Self.value(key, in: domain, $0) }
  }

  /// Starts a service.
  ///
  /// - Returns: where it listens; nil when the phone knows no such service now (InvalidService).
  func start(_ service: String) throws(PhoneError) -> StartedService? {
    try onSession("starting \(service)") { client in
      var descriptor: lockdownd_service_descriptor_t?
      let code = lockdownd_start_service(client.raw, service, &descriptor)
      defer { lockdownd_service_descriptor_free(descriptor) }
      if code == LOCKDOWN_E_INVALID_SERVICE { return .success(nil) }
      guard code == LOCKDOWN_E_SUCCESS, let descriptor else { return .failure(LockdownCode(raw: code)) }
      return .success(
        StartedService(
          device: client.device, name: service, port: descriptor.pointee.port,
          secure: descriptor.pointee.ssl_enabled != 0))
    }
  }

  private static func value(
    _ key: String, in domain: String?, _ client: LockdownClient
  ) -> Result<Plist?, LockdownCode> {
    var node: plist_t?
    let code = lockdownd_get_value(client.raw, domain, key, &node)
    defer { plist_free(node) }
    switch code {
    case LOCKDOWN_E_SUCCESS: return .success(node.map(Plist.init(copying:)))
    case LOCKDOWN_E_MISSING_VALUE, LOCKDOWN_E_GET_PROHIBITED, LOCKDOWN_E_MISSING_KEY: return .success(nil)
    default: return .failure(LockdownCode(raw: code))
    }
  }

  /// What the phone tells to anybody, over a connection without a session.
  func publicValues(_ keys: [String]) throws(PhoneError) -> [String: Plist] {
    context.forgetFailures()
    let step = "reading values without a session"
    var values: [String: Plist] = [:]
    do throws(LockdownCode) {
      let client = try LockdownClient.stranger(try device().get(), context).get()
      for key in keys { values[key] = try Self.value(key, in: nil, client).get() }
    } catch {
      throw error.meaning(step, context)
    }
    return values
  }

  // MARK: - The session

  private func onSession<T>(
    _ step: String, _ ask: (LockdownClient) -> Result<T, LockdownCode>
  ) throws(PhoneError) -> T {
    let kept = session != nil
    do {
      return try once(step, ask)
    } catch {
      // A kept session may have died since: rebooted, replugged, closed for being idle. A new one tells.
      guard kept, error.isOfConnection, context.ended == nil else { throw error }
      return try once(step, ask)
    }
  }

  private func once<T>(_ step: String, _ ask: (LockdownClient) -> Result<T, LockdownCode>) throws(PhoneError) -> T {
    let client = try currentSession()
    context.forgetFailures()
    switch ask(client) {
    case .success(let answer): return answer
    case .failure(let code):
      let error = code.meaning(step, context)
      dropSession()
      throw error
    }
  }

  private func currentSession() throws(PhoneError) -> LockdownClient {
    if let session { return session }
    context.record = try PairRecord.read(context)
    context.forgetFailures()
    switch device().flatMap({ LockdownClient.session($0, context) }) {
    case .success(let client):
      session = client
      return client
    case .failure(let code):
      context.record = nil
      throw beforeFirstUnlock(code.meaningAtOpening(context))
    }
  }

  /// Some phones answer as if they had forgotten this host until they are unlocked for the first time: one that
  /// says that it is locked may not be believed in that.
  private func beforeFirstUnlock(_ error: PhoneError) -> PhoneError {
    guard case .untrusted(_, .stale) = error, context.ended == nil,
      let locked = try? publicValues(["PasswordProtected"])["PasswordProtected"],
      Self.lock(locked).state == .locked
    else { return error }
    return .untrusted(udid, .lockedBeforeFirstUnlock)
  }

  /// What a broken connection means: a phone that has left breaks them all, and that is no fault of TLS or of an answer.
  func explained(_ error: PhoneError) -> PhoneError {
    let step: String
    switch error {
    case .lost(_, let broken): step = broken
    case .tls: step = "speaking TLS with it"
    case .badReply(_, let broken, _): step = broken
    case .noMux, .deadMux, .notASocket, .muxForbidden, .muxSilent, .host, .absent, .networkOnly, .untrusted, .silent,
      .lockdown, .refused, .launchRefused, .ended, .badRequest:
      return error
    }
    let fate = context.route.fate(of: context.number, step: step, by: context.deadline, context.leash) { wait in
      if wait > .zero { context.pause(wait) }
      return context.ended == nil && !context.deadline.hasPassed
    }
    return fate ?? error
  }

  func device() -> Result<DeviceHandle, LockdownCode> {
    if let device = DeviceHandle(context) { return .success(device) }
    context.fail(.host(code: ENOSYS, step: "standing between libimobiledevice and libusbmuxd"))
    return .failure(LockdownCode(raw: LOCKDOWN_E_MUX_ERROR))
  }
}

/// A service that lockdownd has started, and how to speak with it.
struct StartedService {
  let device: DeviceHandle
  let name: String
  let port: UInt16
  let secure: Bool
}
