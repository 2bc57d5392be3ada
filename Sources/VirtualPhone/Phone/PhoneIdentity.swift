import Wire

/// What makes one virtual phone that phone, whatever happens to it; the same for the same place in every fleet.
public struct PhoneIdentity: Equatable, Sendable {
  public let udid: UDID
  /// `UniqueChipID`: the second half of a hyphenated UDID.
  public let ecid: UInt64
  /// The name it starts with; `PhoneState.name` is the one it has now.
  public let name: String
  public let serialNumber: String
  public let wifiAddress: String
  public let bluetoothAddress: String
  public let ethernetAddress: String
  public let boardSerialNumber: String
  public let imei: String

  /// - Parameter index: the place in the fleet, from 0; decides every field.
  public init(index: Int, preset: PhonePreset) {
    var source = SplitMix(seed: UInt64(index) &+ 1)
    let number = UInt64(index &+ 1) & 0xFFF
    // Distinct by construction: the place stands in the identifier's last digits.
    ecid = source.next() & 0x000F_FFFF_FFFF_0000 | 1 << 48 | number << 4 | 0xE
    if preset.hasHyphenatedUDID {
      udid = UDID("\(Self.hex(UInt64(preset.chipID), digits: 8))-\(Self.hex(ecid, digits: 16))")
    } else {
      let long = Self.hex(source.next(), digits: 16) + Self.hex(source.next(), digits: 16)
      udid = UDID((long + Self.hex(source.next() << 12 & 0xFFFF_F000 | number, digits: 8)).lowercased())
    }
    name = "Phone \(index + 1)"
    serialNumber = "F" + source.text(11, from: "0123456789CDFGHJKLMNPQRTVWXY")
    boardSerialNumber = "C" + source.text(16, from: "0123456789CDFGHJKLMNPQRTVWXY")
    // 02: locally administered, so that no maker's address is taken.
    let tail = Hex.encode([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)], uppercase: false)
    wifiAddress = "02:00:00:00:\(tail.prefix(2)):\(tail.suffix(2))"
    bluetoothAddress = "02:00:00:01:\(tail.prefix(2)):\(tail.suffix(2))"
    ethernetAddress = "02:00:00:02:\(tail.prefix(2)):\(tail.suffix(2))"
    imei = "35" + source.text(13, from: "0123456789")
  }

  private static func hex(_ value: UInt64, digits: Int) -> String {
    let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
    return String(Hex.encode(bytes).suffix(digits))
  }
}

/// A small generator with a seed: the same fleet has the same phones on every machine.
private struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func text(_ count: Int, from alphabet: String) -> String {
    let letters = Array(alphabet)
    return String((0..<count).map { _ in letters[Int(next() % UInt64(letters.count))] })
  }
}
