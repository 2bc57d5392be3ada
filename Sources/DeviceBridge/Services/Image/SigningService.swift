import Transport
import Wire

/// Where images are signed for one phone: Apple's server, or another one that speaks as it does, over HTTP.
///
/// No secrecy is needed: the ticket that comes back bears a signature, and the phone checks it.
public struct SigningService: Equatable, Sendable {
  public var host: String
  public var port: UInt16
  /// Path and query.
  public var target: String

  public static let apple = SigningService(host: "gs.apple.com", port: 80, target: SigningRequest.path)

  public init(host: String, port: UInt16, target: String = SigningRequest.path) {
    self.host = host
    self.port = port
    self.target = target
  }

  /// Reads `http://HOST[:PORT][/PATH]`; without a path it is Apple's.
  ///
  /// - Returns: nil for what is no such address.
  public init?(_ text: String) {
    guard text.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst("http://".count)
    let slash = rest.firstIndex(of: "/")
    let authority = rest[..<(slash ?? rest.endIndex)]
    let path = slash.map { String(rest[$0...]) } ?? ""
    let target = path.isEmpty || path == "/" ? SigningRequest.path : path
    guard !target.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return nil }
    guard let (host, port) = Self.parts(of: authority) else { return nil }
    self.init(host: host, port: port, target: target)
  }

  /// Host and port; IPv6 addresses stand in brackets.
  private static func parts(of authority: Substring) -> (String, UInt16)? {
    let host: Substring
    let rest: Substring
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = authority[authority.index(after: authority.startIndex)..<end]
      rest = authority[authority.index(after: end)...]
      guard IPv6Address(String(host)) != nil else { return nil }
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<colon]
      rest = authority[colon...]
      guard host.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || isLetterOrDigit($0) }) else {
        return nil
      }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    if rest.isEmpty { return (String(host), 80) }
    guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
    return (String(host), port)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// As people write it.
  var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
