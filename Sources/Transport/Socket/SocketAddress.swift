import Glibc

/// Where a stream socket listens: a path, or a numeric address and port.
public enum SocketAddress: Equatable, Sendable, CustomStringConvertible {
  case unix(path: String)
  /// `host` is a numeric IPv4 or IPv6 address, or `localhost`.
  case tcp(host: String, port: UInt16)

  /// The longest path that fits a `sockaddr_un`.
  public static let maximumPathBytes = 107

  public var description: String {
    switch self {
    case .unix(let path): "UNIX:\(path)"
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }

  /// Whether only processes of this machine can reach it.
  public var isLoopback: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  /// Whether the text is an IPv4 or IPv6 address in numbers.
  public static func isNumeric(_ host: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
  }

  var isTCP: Bool { if case .tcp = self { true } else { false } }

  var family: Int32 {
    switch self {
    case .unix: AF_UNIX
    case .tcp(let host, _): host.contains(":") ? AF_INET6 : AF_INET
    }
  }

  /// Calls the body with the system's form; an address that has none gives one that no call accepts.
  func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var storage = sockaddr_storage()
    let size = fill(&storage)
    return withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  private func fill(_ storage: inout sockaddr_storage) -> socklen_t {
    withUnsafeMutableBytes(of: &storage) { bytes in
      switch self {
      case .unix(let path):
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8.prefix(Self.maximumPathBytes))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        withUnsafeBytes(of: address) { bytes.copyMemory(from: $0) }
        return socklen_t(MemoryLayout<sockaddr_un>.size)
      case .tcp(let host, let port) where host.contains(":"):
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        inet_pton(AF_INET6, host, &address.sin6_addr)
        withUnsafeBytes(of: address) { bytes.copyMemory(from: $0) }
        return socklen_t(MemoryLayout<sockaddr_in6>.size)
      case .tcp(let host, let port):
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &address.sin_addr)
        withUnsafeBytes(of: address) { bytes.copyMemory(from: $0) }
        return socklen_t(MemoryLayout<sockaddr_in>.size)
      }
    }
  }
}
