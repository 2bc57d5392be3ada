import Glibc
import Transport
import Wire

/// A package of the kiosk app, as a file of the test's own; gone with the object.
final class Package: Sendable {
  let path: String

  /// - Parameter changes: of its Info dictionary.
  init(version: String = "3.3.0", build: String = "500", _ changes: [String: Plist] = [:]) throws {
    let info: [String: Plist] = [
      "CFBundleExecutable": "Kiosk", "CFBundleIdentifier": "com.example.kiosk", "CFBundleName": "Kiosk",
      "CFBundleShortVersionString": .string(version), "CFBundleVersion": .string(build), "MinimumOSVersion": "15.0",
      "NSCameraUsageDescription": "Nothing is kept on the device.",
    ]
    path = try Self.file(
      Self.archive([
        ("Payload/", []), ("Payload/Kiosk.app/Kiosk", [UInt8](repeating: 1, count: 700_000)),
        ("Payload/Kiosk.app/Info.plist", Plist.dictionary(info.merging(changes) { _, new in new }).binary),
      ]))
  }

  init(bytes: [UInt8]) throws { path = try Self.file(bytes) }

  deinit { unlink(path) }

  private static func file(_ bytes: [UInt8]) throws -> String {
    var template = Array("/tmp/package-XXXXXX".utf8CString)
    let fd = mkstemp(&template)
    guard fd >= 0 else { throw Trouble("no file: \(Errno.text(errno))") }
    defer { close(fd) }
    guard write(fd, bytes, bytes.count) == bytes.count else { throw Trouble("not written") }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  // MARK: - A zip file without compression

  private static func archive(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
    for file in files {
      let name = Array(file.name.utf8)
      let size = little(file.bytes.count, 4)
      let common =
        little(20, 2) + little(0, 8) + little(Int(checksum(file.bytes)), 4) + size + size + little(name.count, 2)
        + little(0, 2)
      directory += little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 10) + little(bytes.count, 4) + name
      bytes += little(0x0403_4B50, 4) + common + name + file.bytes
    }
    let count = little(files.count, 2)
    return bytes + directory + little(0x0605_4B50, 4) + little(0, 4) + count + count + little(directory.count, 4)
      + little(bytes.count, 4) + little(0, 2)
  }

  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(value >> (8 * $0) & 0xFF) : 0 }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
