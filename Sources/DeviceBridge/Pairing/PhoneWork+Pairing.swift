import CIMobileDevice
import Transport
import Wire

extension PhoneWork {
  /// Asks the phone to trust this host, if it does not yet. The only call that ever pairs.
  ///
  /// Trust that stands is left as it is, and so is a record that only a locked phone does not honour.
  func pair() throws(PhoneError) -> PairState {
    switch try standing() {
    case .trusted: return .trusted
    case .lockedBeforeFirstUnlock: return .lockedBeforeFirstUnlock
    case .untrusted, .stale, .pending, .denied: return try askForTrust()
    case .unknown: throw .untrusted(udid, .unknown)
    }
  }

  /// What a session says of trust; anything else that keeps one from opening is thrown, and never paired over.
  private func standing() throws(PhoneError) -> Trust {
    do throws(PhoneError) {
      _ = try value("ProductVersion")
      return .trusted
    } catch .untrusted(_, let trust) {
      return trust
    }
  }

  private func askForTrust() throws(PhoneError) -> PairState {
    let step = "asking it to trust this host"
    context.pause(pairing.wait(at: .now))
    if let ended = context.ended(at: step) { throw ended }
    let phone = try listedOverUSB()
    let desk = try desk(.save, phone, under: PairRecord.place(of: phone, context))
    dropSession()
    context.forgetFailures()
    context.desk = desk
    defer { context.desk = nil }
    let code = asStranger { client in
      pairing.sent(at: .now)
      return lockdownd_pair(client.raw, nil)
    }
    if let code { return try state(after: code, step) }
    try desk.check(step)
    context.desk = nil
    // A claim until a session proves it.
    let trust = try standing()
    guard trust == .trusted else { throw .untrusted(udid, trust) }
    return .trusted
  }

  /// The phone's word decides; a connection that failed on the way says nothing about trust.
  private func state(after code: LockdownCode, _ step: String) throws(PhoneError) -> PairState {
    if context.ended == nil {
      switch context.token {
      case "PairingDialogResponsePending": return .pending
      case "UserDeniedPairing": return .denied
      case "PasswordProtected": return .locked
      default: break
      }
    }
    throw code.meaning(step, context)
  }

  /// Revokes the trust at both ends; here alone where the phone is gone, or knows nothing of it.
  func unpair() throws(PhoneError) -> Unpairing {
    do throws(PhoneError) {
      return try revoke()
    } catch {
      switch error {
      case .untrusted(_, .untrusted): return .nothing
      case .absent, .networkOnly: return try forgetHere(error)
      default: throw error
      }
    }
  }

  private func revoke() throws(PhoneError) -> Unpairing {
    let step = "revoking its trust"
    let phone = try listedOverUSB()
    dropSession()
    let record: PairRecord
    do throws(PhoneError) { record = try PairRecord.read(context) } catch .badReply(let udid, let step, let detail) {
      // A damaged record names no trust that could be revoked, and is of no use.
      return try forgetHere(.badReply(udid, step: step, detail: detail))
    }
    let desk = try desk(.delete, phone, under: "")
    context.forgetFailures()
    (context.record, context.desk) = (record, desk)
    defer { (context.record, context.desk) = (nil, nil) }
    guard let code = asStranger({ lockdownd_unpair($0.raw, nil) }) else {
      try desk.check(step)
      return .bothEnds
    }
    let meaning = code.meaning(step, context)
    guard case .untrusted = meaning else { throw meaning }
    // The phone has forgotten already.
    return try forgetHere(meaning)
  }

  private func forgetHere(_ why: PhoneError) throws(PhoneError) -> Unpairing {
    let mux = context.route.mux.on(context.leash)
    return try mux.forgetPairing(of: udid, by: context.deadline) ? .hereAlone(why) : .nothing
  }

  /// Over a connection without a session.
  private func asStranger(_ body: (LockdownClient) -> lockdownd_error_t) -> LockdownCode? {
    switch device().flatMap({ LockdownClient.stranger($0, context) }) {
    case .success(let client):
      let code = body(client)
      return code == LOCKDOWN_E_SUCCESS ? nil : LockdownCode(raw: code)
    case .failure(let code): return code
    }
  }

  private func listedOverUSB() throws(PhoneError) -> ListedPhone {
    let phone = try context.route.phone(by: context.deadline, context.leash)
    guard phone.transport == .usb else { throw .networkOnly(udid) }
    return phone
  }

  private func desk(
    _ permission: PairingDesk.Permission, _ phone: ListedPhone, under id: String
  ) throws(PhoneError) -> PairingDesk {
    let mux = context.route.mux.on(context.leash)
    let buid = try mux.readBUID(by: context.deadline)
    return PairingDesk(permission, buid: buid, mux: mux, phone: phone, id: id, by: context.deadline)
  }
}

/// Keeps requests for trust a second apart, whoever asks how often.
struct PairingPace {
  private static let interval = Duration.seconds(1)
  private var last: ContinuousClock.Instant?

  func wait(at now: ContinuousClock.Instant) -> Duration {
    last.map { max(.zero, Self.interval - (now - $0)) } ?? .zero
  }

  mutating func sent(at now: ContinuousClock.Instant) { last = now }
}
