import Transport

/// How a ping's address is reached.
enum PingTarget: Equatable, Sendable {
  /// Plain HTTP to a numeric address or localhost: by our own client.
  case own(SocketAddress, host: String, target: String)
  /// Anything else needs names looked up or TLS, which Debian's curl does.
  case curl(url: String)

  init(_ url: String) {
    self = Self.plain(url) ?? .curl(url: url)
  }

  private static func plain(_ url: String) -> PingTarget? {
    guard url.hasPrefix("http://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    let rest = url.dropFirst("http://".count).prefix { $0 != "#" }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = String(rest[..<end])
    // A user and a password are curl's to send.
    guard !authority.contains("@") else { return nil }
    let hasPort = authority.hasSuffix("]") ? false : authority.contains(":")
    guard let address = try? SocketAddress.page(hasPort ? authority : authority + ":80") else { return nil }
    let path = rest[end...]
    return .own(address, host: authority, target: path.hasPrefix("/") ? String(path) : "/" + path)
  }
}
