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
    do {
      return try mux.on(leash).connect(to: phone(by: deadline, leash), port: port, by: deadline)
    } catch .absent {
      // Replugged a moment ago: the number is another one now.
      roster.forget(mux.address)
      return try mux.on(leash).connect(to: phone(by: deadline, leash), port: port, by: deadline)
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
