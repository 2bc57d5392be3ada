import Transport

/// Where the usbmux daemon listens, in the forms that USBMUXD_SOCKET_ADDRESS has.
public enum MuxAddress: Equatable, Sendable, CustomStringConvertible {
  case unix(path: String)
  case tcp(host: String, port: UInt16)

  /// The system daemon's socket.
  public static let system = MuxAddress.unix(path: "/var/run/usbmuxd")

  /// Reads `UNIX:/path`, `/path`, `host:port` and `[host]:port`.
  ///
  /// - Returns: nil for anything else. libusbmuxd would silently use the default then, and look for phones elsewhere.
  public init?(_ text: String) {
    if text == "UNIX:" {
      self = .system
    } else if text.hasPrefix("UNIX:") {
      self = .unix(path: String(text.dropFirst(5)))
    } else if text.hasPrefix("/") {
      self = .unix(path: text)
    } else {
      guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
      else { return nil }
      var host = String(text[..<colon])
      if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
      if host.isEmpty { return nil }
      self = .tcp(host: host, port: port)
    }
  }

  public var description: String {
    switch self {
    case .unix(let path): "UNIX:\(path)"
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }

  /// What to connect to, in turn; empty when the host's name has no address, or the path no room in one.
  func targets(by deadline: Deadline) -> [SocketAddress] {
    switch self {
    case .unix(let path): path.utf8.count <= SocketAddress.maximumPathBytes ? [.unix(path: path)] : []
    case .tcp(let host, let port): HostName.addresses(of: host, port: port, by: deadline)
    }
  }
}
