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
    let known = try phone(by: deadline, leash)
    do throws(PhoneError) {
      return (try mux.on(leash).connect(to: known, port: port, by: deadline), known)
    } catch {
      // Replugged a moment ago: the number is another one now. And the daemon says "refused" as well when the cable
      // is pulled while it asks.
      switch error {
      case .absent, .refused: roster.forget(udid, at: mux.address)
      default: throw error
      }
      let phone = try phone(by: deadline, leash)
      if case .refused = error, phone.deviceID == known.deviceID { throw error }
      return (try mux.on(leash).connect(to: phone, port: port, by: deadline), phone)
    }
  }

  /// What has become of a phone whose connection broke, once the daemon has had time to notice: it reports a pulled
  /// cable some hundred milliseconds later.
  ///
  /// - Parameters:
  ///   - number: under which the connection was made.
  ///   - pause: waits, and says whether to go on.
  /// - Returns: nil when the phone is there as before.
  func fate(
    of number: Int?, step: String, by deadline: Deadline, _ leash: Leash, pause: (Duration) -> Bool
  ) -> PhoneError? {
    for wait in [0, 100, 300] {
      guard pause(.milliseconds(wait)) else { return nil }
      roster.forget(udid, at: mux.address)
      do throws(PhoneError) {
        let phone = try phone(by: min(deadline, .after(.seconds(2))), leash)
        if phone.transport == .network { return .absent(udid) }
        if let number, phone.deviceID != number { return .lost(udid, step: "\(step) (it was replugged or restarted)") }
      } catch {
        switch error {
        // A list that is late says nothing of the phone.
        case .muxSilent: return nil
        default: return error
        }
      }
    }
    return nil
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
