import FoundationEssentials
import Transport
import Wire

/// Who may ask the page: whoever names it rightly, and knows the token where there is one.
struct PageAccess: Sendable {
  /// nil: none is needed.
  var token: Secret?
  /// Names that the page answers to, in small letters, beside those of this machine's loopback.
  var hosts: Set<String> = []
  /// A UNIX socket's file is guarded by its rights; names are no matter there.
  var checksHost = true

  /// The page's own names, whatever it listens at.
  private static let loopback: Set<String> = ["localhost", "127.0.0.1", "::1"]

  /// - Returns: nil where the request may be answered.
  func refusal(of request: PageRequest) -> PageResponse? {
    if checksHost, !answers(to: request) { return .refusal(421, PageSentence.host(request.host)) }
    guard let token, !Self.sent(request.authorization).contains(where: { token.equals($0) }) else { return nil }
    return .refusal(
      401, PageSentence.noToken, headers: ["WWW-Authenticate": "Basic realm=\"fleetctl\", charset=\"UTF-8\""])
  }

  /// A page of somebody else's that a browser shows can have its own name lead here; the name then gives it away.
  private func answers(to request: PageRequest) -> Bool {
    guard let name = request.host.flatMap(Self.name) else { return false }
    return Self.loopback.contains(name) || hosts.contains(name) || name == request.local
  }

  /// A Host field's name, or a configured one, without its port: `[::1]:8087` is `::1`.
  static func name(_ field: String) -> String? {
    var text = field.lowercased()
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let port = text[text.index(after: end)...]
      guard port.isEmpty || isPort(port) else { return nil }
      return String(text[text.index(after: text.startIndex)..<end])
    }
    if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].contains(":") == false {
      guard isPort(text[colon...]) else { return nil }
      text = String(text[..<colon])
    }
    if text.hasSuffix(".") { text.removeLast() }
    return text.isEmpty ? nil : text
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && text.utf8.count <= 6 && text.dropFirst().utf8.allSatisfy { (48...57).contains($0) }
  }

  /// What an Authorization field holds as a token: a bearer token, or the password of a user of any name.
  private static func sent(_ field: String?) -> [String] {
    guard let field, let space = field.firstIndex(of: " ") else { return [] }
    let value = field[space...].drop { $0 == " " }
    switch field[..<space].lowercased() {
    case "bearer": return [String(value)]
    case "basic":
      guard let bytes = Data(base64Encoded: String(value)),
        let pair = String(validating: bytes, as: UTF8.self), let colon = pair.firstIndex(of: ":")
      else { return [] }
      return [String(pair[pair.index(after: colon)...])]
    default: return []
    }
  }
}

extension Secret {
  /// Compared in a time that tells nothing of the secret: what is compared are digests, all of each.
  func equals(_ text: String) -> Bool {
    let (own, others) = (SHA384.of(Array(value.utf8)), SHA384.of(Array(text.utf8)))
    return zip(own, others).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
