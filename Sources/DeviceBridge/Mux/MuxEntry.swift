import Wire

/// One entry of the mux's list: a phone over one kind of link.
struct MuxEntry: Equatable, Sendable {
  var deviceID: Int
  var serial: String
  var transport: PhoneTransport

  /// Reads an Attached-shaped dictionary.
  ///
  /// - Returns: nil for an entry that can't be used: it is skipped, since one sick entry must not hide the others.
  init?(_ plist: Plist) {
    let properties = plist["Properties"]
    guard let deviceID = properties?["DeviceID"]?.int ?? plist["DeviceID"]?.int, deviceID > 0,
      UInt32(exactly: deviceID) != nil,
      let serial = properties?["SerialNumber"]?.string, Self.isPrintable(serial)
    else { return nil }
    switch properties?["ConnectionType"]?.string {
    case "USB": transport = .usb
    case "Network": transport = .network
    default: return nil
    }
    self.deviceID = deviceID
    self.serial = serial
  }

  /// A serial ends up on screens, in paths and in keys: no real one holds more than these characters.
  private static func isPrintable(_ serial: String) -> Bool {
    (1...64).contains(serial.utf8.count)
      && serial.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
  }
}

extension ListedPhone {
  /// One phone from all its entries: USB wins whatever the order, then the newest number.
  ///
  /// - Returns: phones in the order in which the mux first names them.
  static func folding(_ entries: some Sequence<MuxEntry>) -> [ListedPhone] {
    var order: [UDID] = []
    var best: [UDID: MuxEntry] = [:]
    var onNetwork: Set<UDID> = []
    for entry in entries {
      let udid = UDID(entry.serial)
      if entry.transport == .network { onNetwork.insert(udid) }
      guard let known = best[udid] else {
        order.append(udid)
        best[udid] = entry
        continue
      }
      if rank(entry) > rank(known) { best[udid] = entry }
    }
    return order.compactMap { udid in
      best[udid].map {
        ListedPhone(
          udid: UDID($0.serial), serial: $0.serial, deviceID: $0.deviceID, transport: $0.transport,
          alsoNetwork: $0.transport == .usb && onNetwork.contains(udid))
      }
    }
  }

  private static func rank(_ entry: MuxEntry) -> (Int, Int) { (entry.transport == .usb ? 1 : 0, entry.deviceID) }
}
