import Glibc
import Transport
import Wire

/// The process that listens on a local TCP port, as far as this user may see it.
public struct PortHolder: Equatable, Sendable, CustomStringConvertible {
  public let pid: Int
  /// The kernel's short name of the process.
  public let name: String

  public var description: String { "\(name) (process \(pid))" }

  init(pid: Int, name: String) {
    self.pid = pid
    self.name = name
  }

  /// - Returns: nil when nobody is found: the port is only bound, or the process is somebody else's.
  public init?(of address: SocketAddress) {
    guard case .tcp(_, let port) = address else { return nil }
    let sockets = Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { Self.listeners(on: port, in: Self.read($0)) }
        .map { "socket:[\($0)]" })
    if sockets.isEmpty { return nil }
    for name in Self.names(in: "/proc") {
      guard let pid = Int(name), Self.has(pid, oneOf: sockets) else { continue }
      let word = Self.read("/proc/\(pid)/comm").split(separator: "\n").first.map(String.init)
      self.init(pid: pid, name: word ?? "a process")
      return
    }
    return nil
  }

  /// The inodes of sockets that listen on the port, whatever their address: one on all addresses is in the way too.
  ///
  /// - Parameter table: as the kernel prints it; the local address is the second word of a line, the state the
  ///   fourth, the inode the tenth.
  static func listeners(on port: UInt16, in table: String) -> [String] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 9, words[3] == "0A", let colon = words[1].lastIndex(of: ":"),
        UInt16(words[1][words[1].index(after: colon)...], radix: 16) == port
      else { return nil }
      return String(words[9])
    }
  }

  private static func has(_ pid: Int, oneOf sockets: Set<String>) -> Bool {
    names(in: "/proc/\(pid)/fd").contains { name in
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/\(pid)/fd/\(name)", &target, target.count)
      return count > 0
        && sockets.contains(String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
  }

  private static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  private static func read(_ path: String) -> String {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    guard fd >= 0 else { return "" }
    defer { close(fd) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = Glibc.read(fd, &part, part.count), count > 0 { bytes += part.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
