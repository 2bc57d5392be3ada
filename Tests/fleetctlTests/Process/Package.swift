import Wire

/// An .ipa as small as one can be: a zip archive with nothing but the app's Info.plist, stored.
enum Package {
  static func bytes(bundle: String = "com.example.kiosk", version: String, build: String, least: String = "12.0")
    -> [UInt8]
  {
    let info: Plist = [
      "CFBundleIdentifier": .string(bundle), "CFBundleExecutable": "Kiosk", "CFBundleVersion": .string(build),
      "CFBundleShortVersionString": .string(version), "MinimumOSVersion": .string(least),
    ]
    return zip("Payload/Kiosk.app/Info.plist", info.xml)
  }

  private static func zip(_ name: String, _ contents: [UInt8]) -> [UInt8] {
    let name = Array(name.utf8)
    let facts =
      number(0, 2) + number(0, 2) + number(0, 4) + number(checksum(contents), 4) + number(UInt32(contents.count), 4)
      + number(UInt32(contents.count), 4) + number(UInt32(name.count), 2)
    let file = number(0x0403_4B50, 4) + number(20, 2) + facts + number(0, 2) + name + contents
    let entry =
      number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + facts + number(0, 2) + number(0, 2) + number(0, 2)
      + number(0, 2) + number(0, 4) + number(0, 4) + name
    let end =
      number(0x0605_4B50, 4) + number(0, 2) + number(0, 2) + number(1, 2) + number(1, 2)
      + number(UInt32(entry.count), 4) + number(UInt32(file.count), 4) + number(0, 2)
    return file + entry + end
  }

  private static func number(_ value: UInt32, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var rest: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      rest ^= UInt32(byte)
      for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }
    return ~rest
  }
}
