import Transport

extension SocketAddress {
  /// `supervise.listen` as an address: `127.0.0.1:8087`, `[::1]:8087`, `localhost:8087`.
  ///
  /// A name that has to be looked up is refused, since it might lead to an address that is wider than it looks.
  static func page(_ text: String) throws(PageTrouble) -> SocketAddress {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      throw .address(text)
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard host.contains(":") else { throw .address(text) }
    } else if host.contains(":") {
      throw .address(text)
    }
    guard host == "localhost" || SocketAddress.isNumeric(host) else { throw .address(text) }
    return .tcp(host: host, port: port)
  }
}
