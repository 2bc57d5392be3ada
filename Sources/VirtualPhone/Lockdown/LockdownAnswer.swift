import Wire

/// What lockdownd says to one request, and what happens to the connection afterwards.
struct LockdownAnswer {
  enum Next {
    case goOn
    case close
    /// Both ends go on in TLS; the next byte of the host is its handshake's.
    case startTLS(LockdownConnection.Session)
    /// The session is over; the answer still goes through TLS.
    case endTLS
  }

  var body: [String: Plist]
  var next = Next.goOn
  /// Texts of XML that stand where the body's placeholders are.
  var verbatim: [String: String] = [:]

  var error: String? { body["Error"]?.string }

  /// XML, as phones send it.
  var bytes: [UInt8] {
    let xml = Plist.dictionary(body).xml
    guard !verbatim.isEmpty else { return xml }
    var text = String(decoding: xml, as: UTF8.self)
    for (placeholder, value) in verbatim {
      text = Self.replacing("<string>\(placeholder)</string>", by: value, in: text)
    }
    return Array(text.utf8)
  }

  private static func replacing(_ wanted: String, by value: String, in text: String) -> String {
    var result = ""
    var rest = text[...]
    while let found = rest.firstRange(of: wanted) {
      result += rest[..<found.lowerBound] + value
      rest = rest[found.upperBound...]
    }
    return result + rest
  }
}
