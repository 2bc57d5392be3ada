import Transport
import Wire

/// The way to one phone, whatever number the daemon gives it today.
///
/// Numbers change with each replugging and are given to other phones afterwards, so a number is only used while
/// a list that names the phone's own identifier beside it is fresh.
final class PhoneRoute: Sendable {
  let udid: UDID
  let mux: Mux
  private let roster: Roster

  init(_ udid: UDID, mux: Mux, roster: Roster = .shared) {
    self.udid = udid
    self.mux = mux
    self.roster = roster
  }

  /// The phone as the daemon shows it now.
  ///
  /// - Throws: `.absent`, or errors about the daemon.
  func phone(by deadline: Deadline, _ leash: Leash) throws(PhoneError) -> ListedPhone {
    try roster.phone(udid, on: mux.on(leash), by: deadline)
  }

  func connect(port: UInt16, by deadline: Deadline, _ leash: Leash) throws(PhoneError) -> Socket {
    try connection(port: port, by: deadline, leash).socket
  }

  /// A connection, and the phone under the number that it was made to.
  func connection(
    port: UInt16, by deadline: Deadline, _ leash: Leash
  ) throws(PhoneError) -> (socket: Socket, phone: ListedPhone) {
    do {
      let phone = try phone(by: deadline, leash)
      return (try mux.on(leash).connect(to: phone, port: port, by: deadline), phone)
    } catch .absent {
      // Replugged a moment ago: the number is another one now.
      roster.forget(mux.address)
      let phone = try phone(by: deadline, leash)
      return (try mux.on(leash).connect(to: phone, port: port, by: deadline), phone)
    }
  }

  /// Why a connection that ended may not have been ended by the phone: it has left the bus since, or the daemon has.
  ///
  /// - Returns: nil when the phone is still there under its number.
  func loss(of phone: ListedPhone, step: String, _ leash: Leash) -> PhoneError? {
    do throws(PhoneError) {
      let phones = try mux.on(leash).list(by: .after(.seconds(2)))
      return phones.contains { $0.udid == udid && $0.deviceID == phone.deviceID } ? nil : .lost(udid, step: step)
    } catch {
      return error
    }
  }
}

/// The daemons' latest lists, shared by all lanes: a hundred lanes need not ask a hundred times a second.
final class Roster: Sendable {
  /// The whole process asks the same daemons.
  static let shared = Roster()

  private struct List {
    let at: ContinuousClock.Instant
    let phones: [ListedPhone]
  }
  private let lists = Guarded<[String: List]>([:])
  private let freshness: Duration

  init(freshness: Duration = .seconds(1)) { self.freshness = freshness }

  func phone(_ udid: UDID, on mux: Mux, by deadline: Deadline) throws(PhoneError) -> ListedPhone {
    let key = mux.address.description
    let asked = ContinuousClock.now
    if let known = lists.with({ $0[key] }), asked - known.at < freshness,
      let phone = known.phones.first(where: { $0.udid == udid })
    {
      return phone
    }
    let phones = try mux.list(by: deadline)
    lists.with { $0[key] = List(at: asked, phones: phones) }
    guard let phone = phones.first(where: { $0.udid == udid }) else { throw .absent(udid) }
    return phone
  }

  func forget(_ address: MuxAddress) { lists.with { $0[address.description] = nil } }
}
