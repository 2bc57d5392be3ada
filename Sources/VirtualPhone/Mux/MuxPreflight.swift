import Transport
import Wire

/// What the real daemon does with a phone before it tells anybody of it, on a thread of its own.
///
/// - Source: usbmuxd 1.1.1, read and seen; docs/wire.md.
final class MuxPreflight: Sendable {
  private enum Session {
    case open
    /// TLS broke: the daemon takes the record for a bad one.
    case broken
    /// The phone does not know this host.
    case stranger
    /// Another refusal: the host is taken for a trusted one all the same.
    case refused
    case gone
  }

  private let phone: VirtualPhone
  private let entry: MuxEntry
  private let bus: MuxBus
  private let gone: Latch
  private let since: Duration
  /// The daemon that asked has gone itself: nothing that it began has consequences.
  private let isAbandoned = Guarded(false)
  private let callers = Guarded([LockdownCaller]())

  /// - Parameters:
  ///   - entry: nil for a phone that has no cable; there is nothing to do then.
  ///   - gone: opens when the phone leaves, or the daemon.
  init?(of phone: VirtualPhone, as entry: MuxEntry?, on bus: MuxBus, until gone: Latch) {
    guard let entry else { return nil }
    self.phone = phone
    self.entry = entry
    self.bus = bus
    self.gone = gone
    since = phone.clock.now
  }

  func start() {
    _ = Worker(name: "preflight") { [self] in
      run()
      hangUp()
    }
  }

  /// The daemon ends.
  func abandon() {
    isAbandoned.with { $0 = true }
    hangUp()
  }

  private func hangUp() {
    let all = callers.with {
      let all = $0
      $0 = []
      return all
    }
    for caller in all { caller.shutdown() }
  }

  // MARK: - The conversation

  private func run() {
    while true {
      guard let lockdown = call(LockdownServer.port),
        lockdown.ask("QueryType")?["Type"]?.string == "com.apple.mobile.lockdown"
      else { return note("hidden", because: "lockdown does not answer") }
      switch session(lockdown) {
      case .open:
        _ = lockdown.ask("StopSession")
        return show()
      case .broken:
        if isAbandoned.with({ $0 }) { return }
        forget()
        note("record-deleted", because: "TLS broke")
      case .stranger: return introduce(lockdown, isTrusted: false)
      case .refused: return introduce(lockdown, isTrusted: true)
      case .gone: return note("hidden", because: "lockdown ended the connection")
      }
    }
  }

  private func session(_ lockdown: LockdownCaller) -> Session {
    guard let record = record else { return .stranger }
    let host: [String: Plist] = ["HostID": record["HostID"] ?? "", "SystemBUID": record["SystemBUID"] ?? ""]
    guard let answer = lockdown.ask("StartSession", host) else { return .gone }
    if let error = answer["Error"]?.string {
      return error == LockdownError.invalidHostID.rawValue ? .stranger : .refused
    }
    guard answer["EnableSessionSSL"] == true else { return .open }
    // The library underneath sleeps between its looks at the handshake; a cable that is pulled meanwhile breaks it.
    guard waitsOut() else { return .broken }
    do throws(StreamError) {
      try lockdown.startTLS(record)
      return .open
    } catch {
      return .broken
    }
  }

  /// Lists a phone without a session: it is asked to trust this host, and watched until somebody has tapped.
  private func introduce(_ lockdown: LockdownCaller, isTrusted: Bool) {
    for key in ["ProductVersion", "DeviceClass"] { _ = lockdown.ask("GetValue", ["Key": .string(key)]) }
    _ = lockdown.ask("SetValue", ["Key": "UntrustedHostBUID", "Value": .string(bus.buid)])
    let isPaired = isTrusted || pair(lockdown)
    let service = lockdown.ask("StartService", ["Service": "com.apple.mobile.insecure_notification_proxy"])
    guard let port = service?["Port"]?.int.flatMap({ UInt16(exactly: $0) }), let proxy = call(port) else {
      return note("hidden", because: "insecure_notification_proxy does not start")
    }
    hangUp(lockdown)
    for name in [Self.requestPair, Self.requestBUID] {
      _ = proxy.send(["Command": "ObserveNotification", "Name": .string(name)])
    }
    show()
    if isPaired, !isTrusted { bus.announcePaired(entry) }
    while let message = proxy.receive() {
      guard message["Command"]?.string == "RelayNotification", let again = call(LockdownServer.port) else { continue }
      if message["Name"]?.string == Self.requestBUID {
        _ = again.ask("SetValue", ["Key": "UntrustedHostBUID", "Value": .string(bus.buid)])
      } else if pair(again) {
        bus.announcePaired(entry)
        return
      }
      hangUp(again)
    }
  }

  private static let requestPair = "com.apple.mobile.lockdown.request_pair"
  private static let requestBUID = "com.apple.mobile.lockdown.request_host_buid"

  /// - Returns: whether the phone has granted it, and the record is stored.
  private func pair(_ lockdown: LockdownCaller) -> Bool {
    guard let keys = phone.lockdown?.keys else { return false }
    let xml = keys.pairRecord(
      hostID: Fresh.uuid(), systemBUID: bus.buid, escrowBag: [], wifiAddress: phone.identity.wifiAddress)
    do {
      var record = try Plist(parsing: xml).dictionary ?? [:]
      let sent = record.filter { !$0.key.hasSuffix("PrivateKey") && $0.key != "EscrowBag" }
      let answer = lockdown.ask("Pair", ["PairRecord": .dictionary(sent), "ProtocolVersion": "2"])
      guard let answer, answer["Error"] == nil else {
        note("not-paired", because: answer?["Error"]?.string ?? "no answer")
        return false
      }
      record["EscrowBag"] = answer["EscrowBag"]
      try bus.records.save(Plist.dictionary(record).xml, as: entry.serial)
      note("paired")
      return true
    } catch {
      return false
    }
  }

  // MARK: - The daemon's records

  private var record: Plist? {
    do { return try Plist(parsing: try bus.records.read(entry.serial)) } catch { return nil }
  }

  private func forget() {
    do throws(PairRecords.Refusal) { try bus.records.delete(entry.serial) } catch { return }
  }

  // MARK: - Small things

  private func call(_ port: UInt16) -> LockdownCaller? {
    guard !gone.hasOpened, let way = MuxConnect(port, of: phone, on: bus, until: gone) else { return nil }
    let ends: (Socket, Socket)
    do throws(StreamError) { ends = try Socket.pair() } catch { return nil }
    guard way.knock(for: ends.1) == .open else { return nil }
    _ = Worker(name: "device") { way.serve(ends.1, resetsOnHalfClose: false) }
    let caller = LockdownCaller(ends.0)
    callers.with { $0.append(caller) }
    // The daemon may have gone since it was last asked.
    if isAbandoned.with({ $0 }) { caller.shutdown() }
    return caller
  }

  private func hangUp(_ caller: LockdownCaller) {
    callers.with { $0.removeAll { $0 === caller } }
    caller.shutdown()
  }

  /// - Returns: false when the phone has left before its time was over.
  private func waitsOut() -> Bool { phone.clock.wait(until: since + MuxManners.preflight, unless: gone) }

  private func show() {
    guard waitsOut() else { return }
    bus.list(phone)
    note("listed")
  }

  private func note(_ outcome: String, because reason: String? = nil) {
    phone.record("preflight", ["outcome": .string(outcome), "reason": .text(reason)])
  }
}
