import DeviceBridge
import Transport
import Wire

/// Phones on their way in: a daemon that has just come back names all of them at once, and they are taken in one after
/// another, so that they are not all asked in the same moment for ever.
struct Attaching: Sendable {
  private var waiting: [(due: Duration, phone: ListedPhone)] = []
  private var last = Duration.zero
  private static let step = Duration.milliseconds(20)

  mutating func add(_ phone: ListedPhone, at now: Duration) {
    last = max(now, last + Self.step)
    remove(phone.udid)
    waiting.append((last, phone))
  }

  /// - Returns: whether it was still on its way.
  @discardableResult
  mutating func remove(_ udid: UDID) -> Bool {
    let count = waiting.count
    waiting.removeAll { $0.phone.udid == udid }
    return waiting.count < count
  }

  mutating func removeAll() { waiting = [] }
  var next: Duration? { waiting.first?.due }

  mutating func due(at now: Duration) -> [ListedPhone] {
    let count = waiting.prefix { $0.due <= now }.count
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map(\.phone)
  }
}

/// Complaints that are made once when a trouble begins, and once when it is over.
struct Complaints: Sendable {
  enum Subject: Hashable, Sendable { case mux, record }
  private var standing: [Subject: (sentence: String, said: Duration)] = [:]
  /// A trouble that stays is told again that much later.
  private static let again = Duration.seconds(3_600)

  /// - Returns: what is to be said.
  mutating func begun(_ subject: Subject, _ sentence: String, at now: Duration) -> String? {
    if let standing = standing[subject], now - standing.said < Self.again { return nil }
    standing[subject] = (sentence, now)
    return sentence
  }

  mutating func over(_ subject: Subject) -> String? {
    guard standing.removeValue(forKey: subject) != nil else { return nil }
    switch subject {
    case .mux: return "The usbmux daemon is back."
    case .record: return "The record takes rows again."
    }
  }
}

extension Supervisor {
  func take(_ event: MuxEvent, _ own: inout Own) {
    switch event {
    case .connected:
      muxIsLost(&own)
      if let word = own.complaints.over(.mux) { ears.say(word) }
      handle(.muxConnected)
      hearMux()
    case .lost(let error):
      own.attaching.removeAll()
      let desks = state.with { state in
        state.listed = [:]
        return Array(state.desks.values)
      }
      for desk in desks { desk.lane.forgetConnections() }
      // That its connection ended says less than what the next attempt meets, and would be a row of its own.
      let isFirst = own.lost == nil && !state.with { $0.watch.host.isMuxLost }
      own.lost = (error, .after(isFirst ? Self.secondLook : .zero))
      if !isFirst { muxIsLost(&own) }
    case .attached(let phone):
      own.attaching.add(phone, at: now.awake)
    case .changed(let phone):
      if own.attaching.remove(phone.udid) {
        own.attaching.add(phone, at: now.awake)
      } else {
        changed(phone)
      }
    case .detached(let udid):
      if !own.attaching.remove(udid) { detached(udid) }
    case .paired(let udid):
      // Its session may work now, and its lock be heard.
      if let desk = state.with({ $0.desks[udid] }) { watchLock(desk) }
    }
    hint()
  }

  /// So long the next attempt's word is waited for.
  private static let secondLook = Duration.milliseconds(500)

  /// Tells the watch that the daemon is lost, if that is still to be told.
  func muxIsLost(_ own: inout Own) {
    guard let (error, _) = own.lost else { return }
    own.lost = nil
    if let word = own.complaints.begun(.mux, error.sentence, at: now.awake) { ears.say(word) }
    handle(.muxLost(error))
    hearMux()
  }

  private func hearMux() { state.with { $0.muxWasHeard = $0.muxWasHeard ?? .now } }

  func attach(_ phone: ListedPhone) {
    let (desk, isStranger) = state.with { state in
      state.listed[phone.udid] = phone
      let isBody = state.configuration.bodies == nil && phone.transport == .usb
      return (state.desks[phone.udid], isBody)
    }
    if let desk {
      attach(phone, at: desk)
    } else if isStranger {
      // Without names in the configuration every phone on a cable is a body.
      let body: Body = state.with { state in
        let body = Body(BodyEntry(udid: phone.udid, under: state.configuration), phone: phone)
        state.bodies.append(body)
        return body
      }
      let now = now
      add(body, now, firstLook: now.awake)
    }
  }

  func attach(_ phone: ListedPhone, at desk: BodyDesk) {
    let port = phone.transport == .usb ? world.ports.port(of: phone.udid) : nil
    handle(.body(desk.udid, .attached(device: phone.deviceID, phone.transport, port: port)))
    if phone.transport == .usb { watchLock(desk) }
  }

  private func changed(_ phone: ListedPhone) {
    let before = state.with { $0.listed[phone.udid] }
    // The new entry first: a phone that moves from one to the other was never away.
    attach(phone)
    guard let before, before.transport == .usb, phone.transport != .usb || before.deviceID != phone.deviceID else {
      return
    }
    left(phone.udid, before)
  }

  private func detached(_ udid: UDID) {
    let before = state.with { $0.listed.removeValue(forKey: udid) }
    if let before { left(udid, before) }
  }

  private func left(_ udid: UDID, _ entry: ListedPhone) {
    guard let desk = state.with({ $0.desks[udid] }) else { return }
    desk.lane.forgetConnections()
    state.with { $0.notes[udid]?.lock = .unknown }
    handle(.body(udid, .detached(device: entry.deviceID)))
  }

  private func watchLock(_ desk: BodyDesk) {
    let (inbox, udid, number) = (inbox, desk.udid, desk.number)
    desk.watchLock { reading, name in
      inbox.with { $0.append(.lock(udid, desk: number, reading, deviceName: name)) }
    }
  }
}
