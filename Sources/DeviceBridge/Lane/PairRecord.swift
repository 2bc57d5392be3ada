import Wire

/// A pair record as handshakes need it. Holds private keys: never printed, never logged.
struct PairRecord: Sendable {
  /// The whole file in the binary form, written by us: what the library is given can always be read, and a library
  /// that reads its record never starts to pair.
  let bytes: [UInt8]
  let buid: String

  /// The lane's phone's record, as the daemon keeps it.
  ///
  /// - Throws: `.untrusted` when there is none; anything else says nothing about trust.
  static func read(_ context: LaneContext) throws(PhoneError) -> PairRecord {
    let mux = context.route.mux.on(context.leash)
    let phone = try context.route.phone(by: context.deadline, context.leash)
    guard phone.transport == .usb else { throw .networkOnly(context.udid) }
    for id in spellings(of: phone) {
      guard let file = try mux.readPairRecord(id, by: context.deadline) else { continue }
      guard let record = try? Plist(parsing: file), isWhole(record) else {
        throw .badReply(context.udid, step: "reading its pair record", detail: "the record is damaged")
      }
      // The name under which the phone was paired; the daemon's own may have changed since.
      if let buid = record["SystemBUID"]?.string { return PairRecord(bytes: record.binary, buid: buid) }
      return PairRecord(bytes: record.binary, buid: try mux.readBUID(by: context.deadline))
    }
    throw .untrusted(context.udid, .untrusted)
  }

  /// Under which name the phone's record is kept now; the daemon's own name for the phone where there is none.
  static func place(of phone: ListedPhone, _ context: LaneContext) throws(PhoneError) -> String {
    let mux = context.route.mux.on(context.leash)
    for id in spellings(of: phone) where try mux.readPairRecord(id, by: context.deadline) != nil { return id }
    return phone.serial
  }

  /// Daemons keep the record under one of these, older ones without the hyphen.
  static func spellings(of phone: ListedPhone) -> [String] {
    var spellings: [String] = []
    let hyphenated = phone.udid.description
    for spelling in [hyphenated, phone.serial, hyphenated.filter { $0 != "-" }] where !spellings.contains(spelling) {
      spellings.append(spelling)
    }
    return spellings
  }

  /// This host's certificate and key, in PEM, for handshakes of our own.
  var identity: (certificate: [UInt8], key: [UInt8])? {
    guard let record = try? Plist(parsing: bytes) else { return nil }
    // Some daemons leave the host's own pair out; phones take the root's as well.
    for name in ["Host", "Root"] {
      if let certificate = record[name + "Certificate"]?.bytes, let key = record[name + "PrivateKey"]?.bytes {
        return (certificate, key)
      }
    }
    return nil
  }

  /// What a handshake takes from it.
  static func isWhole(_ record: Plist) -> Bool {
    record["HostID"]?.string?.isEmpty == false
      && ["RootCertificate", "RootPrivateKey"].allSatisfy { record[$0]?.bytes?.isEmpty == false }
  }
}
