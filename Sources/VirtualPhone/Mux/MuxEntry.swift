import Wire

/// One line of the mux's device list: a phone by one of its ways in.
struct MuxEntry: Equatable, Sendable {
  enum Link: Equatable, Sendable {
    case usb
    /// The same phone once more, over its network.
    case network
    /// The same phone once more by the same cable; only a confused daemon says so.
    case twin
  }

  let id: UInt32
  let link: Link
  /// As the mux spells it; the phone itself may say otherwise.
  let serial: String
  /// How the address of a network entry is laid out.
  var address = MuxListing.Address.bsd6

  /// The event that announces it, which is also its element of the device list.
  func attached(_ phone: PhoneIdentity) -> Plist {
    ["MessageType": "Attached", "DeviceID": .integer(Int64(id)), "Properties": properties(phone)]
  }

  var detached: Plist { ["MessageType": "Detached", "DeviceID": .integer(Int64(id))] }

  /// Sent when the host has stored a pair record for it.
  var paired: Plist { ["MessageType": "Paired", "DeviceID": .integer(Int64(id))] }

  private func properties(_ phone: PhoneIdentity) -> Plist {
    switch link {
    case .usb, .twin:
      [
        "DeviceID": .integer(Int64(id)), "ConnectionType": "USB", "SerialNumber": .string(serial),
        "ProductID": 0x12A8, "ConnectionSpeed": 480_000_000,
        // Bus 1, and the device's address on it.
        "LocationID": .integer(1 << 16 | Int64(id & 0xFFFF)),
      ]
    case .network: network(phone)
    }
  }

  private func network(_ phone: PhoneIdentity) -> Plist {
    var properties: [String: Plist] = [
      "DeviceID": .integer(Int64(id)), "ConnectionType": "Network", "SerialNumber": .string(serial),
      "InterfaceIndex": 2,
      "EscapedFullServiceName": .string("\(phone.wifiAddress)@fe80::1._apple-mobdev2._tcp.local."),
    ]
    if let bytes = address.bytes(of: phone) { properties["NetworkAddress"] = .data(bytes) }
    return .dictionary(properties)
  }
}

/// How the mux lists one phone.
public struct MuxListing: Equatable, Sendable {
  public enum Network: String, CaseIterable, Sendable {
    case none
    /// A network entry behind the cable's.
    case after
    /// A network entry before the cable's.
    case before
    /// The phone is on the network alone.
    case only
  }

  public enum Serial: String, CaseIterable, Sendable {
    case plain
    /// Without the hyphen, as the USB descriptor has it.
    case hyphenless
    case upper
    case lower
  }

  /// Layouts of a network entry's address, as daemons are reported to write them, and as none should.
  ///
  /// - Source: case H58; the letters are the case's.
  public enum Address: String, CaseIterable, Sendable {
    /// BSD, IPv4: length and family in a byte each, 16 bytes.
    case bsd4 = "a"
    /// IPv4 with a family of four bytes, 128 bytes.
    case wide4 = "b"
    /// BSD, IPv6: 28 bytes.
    case bsd6 = "c"
    case empty = "d"
    /// 300 bytes of FF.
    case junk = "e"
    /// The key is missing.
    case absent = "f"

    func bytes(of phone: PhoneIdentity) -> [UInt8]? {
      // 192.0.2.0/24 is for examples: nobody answers there.
      let example: [UInt8] = [192, 0, 2, 7]
      switch self {
      case .bsd4: return [0x10, 0x02, 0, 0] + example + [UInt8](repeating: 0, count: 8)
      case .wide4: return [0x02, 0, 0, 0] + example + [UInt8](repeating: 0, count: 120)
      case .bsd6:
        // Link-local without a scope, so that a host that takes the list at its word and dials directly fails at once
        // and reaches nobody.
        let low = (0..<8).map { UInt8(truncatingIfNeeded: phone.ecid >> (56 - 8 * UInt64($0))) }
        return [0x1C, 0x1E, 0, 0] + [0, 0, 0, 0] + [0xFE, 0x80, 0, 0, 0, 0, 0, 0] + low + [0, 0, 0, 0]
      case .empty: return []
      case .junk: return [UInt8](repeating: 0xFF, count: 300)
      case .absent: return nil
      }
    }
  }

  public var network = Network.none
  public var address = Address.bsd6
  public var serial = Serial.plain
  /// Two entries by the same cable.
  public var twice = false

  public init() {}

  func spelling(of udid: UDID) -> String {
    switch serial {
    case .plain: udid.description
    case .hyphenless: udid.description.filter { $0 != "-" }
    case .upper: udid.description.uppercased()
    case .lower: udid.description.lowercased()
    }
  }

  var links: [MuxEntry.Link] {
    let cable: [MuxEntry.Link] = twice ? [.usb, .twin] : [.usb]
    return switch network {
    case .none: cable
    case .after: cable + [.network]
    case .before: [.network] + cable
    case .only: [.network]
    }
  }
}
