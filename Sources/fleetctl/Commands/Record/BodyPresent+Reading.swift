import DeviceBridge
import Fleet
import Wire

extension BodyPresent {
  /// Reads an object of `/api/bodies`.
  ///
  /// - Returns: nil for what is none.
  init?(_ json: JSON) {
    guard let udid = json["udid"]?.string else { return nil }
    self.init(body: json["body"]?.string, udid: UDID(udid), awaited: json["awaited"]?.string ?? "")
    func moment(_ key: String) -> Duration? { json[key]?.string.flatMap { WallClock.moment($0) } }
    deviceName = json["device_name"]?.string
    if let kind = json["outcome"]?.string.flatMap(OutcomeKind.init) {
      words = OutcomeWords(kind, json["reason"]?.string.flatMap(OutcomeReason.init))
    }
    detail = json["detail"]?.string
    since = moment("since")
    lock = json["lock"]?.string.flatMap(LockState.init) ?? .unknown
    lastAnswer = moment("last_answer")
    silent = json["silent_s"]?.double.map { .seconds($0) }
    nextLaunch = moment("next_launch")
    launches = json["launches"]?.int ?? 0
    revivals = json["revivals"]?.int ?? 0
    flaps = json["flaps"]?.int ?? 0
    pausedUntil = moment("paused_until")
    usbPort = json["usb_port"]?.string
    outOfService = json["out_of_service"]?.string
    if let holder = json["held_by"], holder != .null {
      heldBy = Holder(
        pid: holder["pid"]?.int, user: holder["user"]?.string, run: holder["run"]?.int,
        reason: holder["reason"]?.string)
    }
  }

  /// As the record has it, where nobody supervises: nothing is known of the present.
  init(_ udid: UDID, name: String?, _ row: OutcomeReport?, _ past: BodyPast?) {
    self.init(body: name ?? row?.body, udid: row?.udid ?? udid, awaited: "a supervisor to run")
    words = row?.words ?? past?.outcome
    detail = row?.detail
    since = row?.at ?? past?.since
    lastAnswer = past?.memory.lastAnswer
    launches = past?.memory.launchCount ?? 0
    revivals = past?.memory.revivals ?? 0
    flaps = past?.memory.flaps ?? 0
    if let pause = past?.pause {
      let clock = SystemClock()
      let left = pause.began.rebased(to: LaunchStamp(clock)).left(of: pause.length, at: clock.now)
      if left > .zero { pausedUntil = clock.wall + left }
    }
  }

  /// The object of `status` and `why`.
  func json(isSupervised: Bool) -> [String: JSON] {
    guard case .object(var object) = json else { return [:] }
    object["supervised"] = .boolean(isSupervised)
    return object
  }

  /// How badly it wants somebody's eyes; the lowest first.
  var rank: Int {
    if outOfService != nil { return 4 }
    guard let words else { return 1 }
    switch words.kind {
    case .up, .revived: return words.isWell ? (silent == nil ? 3 : 1) : 0
    case .silent, .launchedNoAnswer, .launchRefused, .untrusted, .unreachable, .hostFault: return 0
    case .locked, .leftAlone, .held, .paused: return 2
    }
  }
}
