import Glibc
import Wire

/// Where phones are plugged in, as the kernel sees it: also those that the daemon does not show.
public struct USBPorts: Sendable {
  /// The kernel's folder of USB devices.
  public static let system = "/sys/bus/usb/devices"
  /// More devices than any bus has.
  private static let limit = 4096

  private let root: String

  public init(root: String = USBPorts.system) { self.root = root }

  /// Bus and ports on the way to the phone, such as `1-2.3`; read anew.
  ///
  /// - Returns: nil when the kernel does not see it.
  public func port(of udid: UDID) -> String? { all()[udid] }

  /// The port of each device that has a serial number.
  public func all() -> [UDID: String] {
    guard let folder = opendir(root) else { return [:] }
    defer { closedir(folder) }
    var ports: [UDID: String] = [:]
    var seen = 0
    while seen < Self.limit, let entry = readdir(folder) {
      seen += 1
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      // Hubs at the root have other names, and what has a colon is a part of a device.
      guard name.first?.isNumber == true, !name.contains(":") else { continue }
      if let serial = serial(of: name) { ports[UDID(serial)] = name }
    }
    return ports
  }

  /// Whether the kernel sees that phone at that port.
  ///
  /// - Returns: nil where the kernel's folder can't be read.
  public func shows(_ udid: UDID, at port: String) -> Bool? {
    guard access(root, R_OK | X_OK) == 0, !port.contains("/") else { return nil }
    return serial(of: port).map { UDID($0) == udid } ?? false
  }

  private func serial(of device: String) -> String? {
    let fd = open("\(root)/\(device)/serial", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(fd, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    let serial = text.prefix { !$0.isWhitespace && $0 != "\0" }
    return serial.isEmpty ? nil : String(serial)
  }
}
