import Transport
import Wire

/// The way to one phone, whatever number the daemon gives it today.
///
/// Numbers change with each replugging and are given to other phones afterwards, so a number is only used while
/// a list that names the phone's own identifier beside it is fresh.
final class PhoneRoute: Sendable {
  let udid: UDID
  let mux: Mux
  private let roster = Roster.shared

  init(_ udid: UDID, mux: Mux) {
    self.udid = udid
    self.mux = mux
  }

  /// The phone as the daemon shows it now.
  ///
  /// - Throws: `.absent`, or errors about the daemon.
  func phone(by deadline: Deadline, _ leash: Leash) throws(PhoneError) -> ListedPhone {
    try roster.phone(udid, on: mux, leash, by: deadline)
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
      roster.forget(udid, at: mux.address)
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
