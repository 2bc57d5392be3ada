import Transport
import Wire

/// The usbmux daemon, asked over connections of our own: each call opens one and closes it.
public struct Mux: Sendable {
  public let address: MuxAddress
  /// Ends from outside what this value's calls wait for.
  private let leash: Leash?
  private var call: MuxCall { MuxCall(address: address, leash: leash) }

  public init(address: MuxAddress) {
    self.address = address
    leash = nil
  }

  private init(_ address: MuxAddress, _ leash: Leash) {
    self.address = address
    self.leash = leash
  }

  /// The same daemon; each socket of its calls is held by the leash.
  func on(_ leash: Leash) -> Mux { Mux(address, leash) }

  /// The phones that the daemon shows, each once; entries that can't be understood are left out.
  ///
  /// - Throws: `PhoneError` about the daemon's socket.
  public func list(by deadline: Deadline) throws(PhoneError) -> [ListedPhone] {
    let asked = ContinuousClock.now
    let reply = try ask(["MessageType": "ListDevices"], by: deadline)
    guard let entries = reply["DeviceList"]?.array else { throw nonsense("ListDevices", reply) }
    let phones = ListedPhone.folding(entries.compactMap(MuxEntry.init))
    Roster.shared.learn(phones, asked: asked, from: address)
    return phones
  }

  /// `list` without holding the caller's thread.
  public func phones(by deadline: Deadline) async throws(PhoneError) -> [ListedPhone] {
    try await Blocking.run("mux-list") { () throws(PhoneError) in try list(by: deadline) }
  }

  /// A connection to a port of the phone; the socket carries the phone's bytes from its first one on.
  ///
  /// - Throws: `.refused` when nothing listens there, `.absent` when the number is no phone's (any more),
  ///   `.silent` and `.lost` when the phone's end does not come about, and errors about the daemon's socket.
  public func connect(to phone: ListedPhone, port: UInt16, by deadline: Deadline) throws(PhoneError) -> Socket {
    guard phone.transport == .usb else { throw .networkOnly(phone.udid) }
    let limit = deadline.remaining
    let step = "connecting to its port \(port)"
    let reply: Plist
    let socket: Socket
    let request = Self.request(for: phone, port: port)
    do { (reply, socket) = try call.exchange(request, by: deadline) } catch .stream(.timedOut) {
      throw .silent(phone.udid, step: step, limit: limit)
    } catch .stream(.closed) {
      throw .lost(phone.udid, step: step)
    } catch {
      throw error.error(at: address)
    }
    try Self.judge(reply, of: phone.udid, port: port, at: address)
    return socket
  }

  /// What asks for a port of the phone.
  static func request(for phone: ListedPhone, port: UInt16) -> [String: Plist] {
    [
      "MessageType": "Connect", "DeviceID": .integer(Int64(phone.deviceID)),
      "PortNumber": .integer(Int64(port.byteSwapped)),
    ]
  }

  /// Reads the reply to that; returns when the connection is the port's.
  static func judge(_ reply: Plist, of udid: UDID, port: UInt16, at address: MuxAddress) throws(PhoneError) {
    switch reply["Number"]?.int {
    case 0: return
    case 2: throw .absent(udid)
    case 3: throw .refused(udid, port: port)
    default: throw nonsense("Connect", reply, at: address)
    }
  }

  /// This host's name of itself towards phones.
  public func readBUID(by deadline: Deadline) throws(PhoneError) -> String {
    let reply = try ask(["MessageType": "ReadBUID"], by: deadline)
    guard let buid = reply["BUID"]?.string else { throw nonsense("ReadBUID", reply) }
    return buid
  }

  /// The pair record's file as it stands: secret, never to be shown.
  ///
  /// - Returns: nil when there is none under that name (Result 2).
  /// - Throws: `.muxSilent` when it can't be read for any other reason, which says nothing about trust.
  public func readPairRecord(_ id: String, by deadline: Deadline) throws(PhoneError) -> [UInt8]? {
    let reply = try ask(["MessageType": "ReadPairRecord", "PairRecordID": .string(id)], by: deadline)
    if let record = reply["PairRecordData"]?.bytes, !record.isEmpty { return record }
    if reply["Number"]?.int == 2 { return nil }
    throw nonsense("ReadPairRecord", reply)
  }

  // MARK: - Writing records: only when a person has asked for it

  /// Stores the phone's record; the daemon then tells its listeners that the phone is paired.
  func savePairRecord(
    _ id: String, _ record: [UInt8], of phone: ListedPhone, by deadline: Deadline
  ) throws(PhoneError) {
    let reply = try ask(
      [
        "MessageType": "SavePairRecord", "PairRecordID": .string(id), "PairRecordData": .data(record),
        "DeviceID": .integer(Int64(phone.deviceID)),
      ], by: deadline)
    try expectDone("saving the pair record", reply)
  }

  /// - Returns: whether there was one under any of the names.
  func deletePairRecords(_ ids: [String], by deadline: Deadline) throws(PhoneError) -> Bool {
    var found = false
    for id in ids where try readPairRecord(id, by: deadline) != nil {
      let reply = try ask(["MessageType": "DeletePairRecord", "PairRecordID": .string(id)], by: deadline)
      try expectDone("deleting the pair record", reply)
      found = true
    }
    return found
  }

  /// Forgets a phone here alone: for one that is not there to be told.
  ///
  /// - Returns: whether there was a record under any spelling of its identifier.
  public func forgetPairing(of udid: UDID, by deadline: Deadline) throws(PhoneError) -> Bool {
    let hyphenated = udid.description
    var spellings: [String] = []
    for text in [hyphenated, hyphenated.uppercased(), hyphenated.lowercased()] {
      for spelling in [text, text.filter { $0 != "-" }] where !spellings.contains(spelling) {
        spellings.append(spelling)
      }
    }
    return try deletePairRecords(spellings, by: deadline)
  }

  /// The daemon's failures are numbers of the system's.
  private func expectDone(_ step: String, _ reply: Plist) throws(PhoneError) {
    guard let number = reply["Number"]?.int, let code = Int32(exactly: number) else { throw nonsense(step, reply) }
    if code != 0 { throw .host(code: code, step: step) }
  }

  private func ask(_ request: [String: Plist], by deadline: Deadline) throws(PhoneError) -> Plist {
    do { return try call.exchange(request, by: deadline).0 } catch { throw error.error(at: address) }
  }

  private func nonsense(_ step: String, _ reply: Plist) -> PhoneError { Self.nonsense(step, reply, at: address) }

  private static func nonsense(_ step: String, _ reply: Plist, at address: MuxAddress) -> PhoneError {
    let what = reply["Number"]?.int.map { "Result \($0)" } ?? "an answer of another kind"
    return .muxSilent(address, detail: "\(what) to \(step)")
  }
}
