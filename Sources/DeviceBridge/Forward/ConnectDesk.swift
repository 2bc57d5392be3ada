import Wire

/// Connect's requests and replies for one phone. Both are the same thousands of times over, so the last ones are kept.
final class ConnectDesk {
  private let udid: UDID
  private let mux: MuxAddress
  private var requests: [UInt16: (deviceID: Int, message: [UInt8])] = [:]
  /// A payload that was read and said yes.
  private var yes: [UInt8]?

  init(_ udid: UDID, at mux: MuxAddress) {
    self.udid = udid
    self.mux = mux
  }

  func request(for phone: ListedPhone, port: UInt16) -> [UInt8] {
    if let known = requests[port], known.deviceID == phone.deviceID { return known.message }
    let message = MuxExchange.message(Mux.request(for: phone, port: port))
    requests[port] = (phone.deviceID, message)
    return message
  }

  /// Returns when the reply gives the connection to the port.
  func judge(_ reply: [UInt8], port: UInt16) throws(PhoneError) {
    if reply == yes { return }
    let plist: Plist
    do throws(MuxFailure) { plist = try MuxInbox.plist(reply) } catch { throw error.error(at: mux) }
    try Mux.judge(plist, of: udid, port: port, at: mux)
    yes = reply
  }
}
