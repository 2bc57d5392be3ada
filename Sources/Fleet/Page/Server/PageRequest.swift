/// One request to the page, read from bytes that nobody vouches for.
struct PageRequest: Equatable, Sendable {
  var method: String
  /// The path's parts, decoded; empty for `/`.
  var path: [String]
  /// The first value of each name.
  var query: [String: String]
  /// As it came; nil where there is none, or more than one.
  var host: String?
  var authorization: String?
  var lastEventID: String?
  /// The address of this machine that was connected to; nil on a UNIX socket.
  var local: String?

  /// - Returns: nil for a target that is no path, or holds what is not UTF-8, a wrong escape or a control character.
  init?(method: String, target: [UInt8]) {
    guard target.first == UInt8(ascii: "/") else { return nil }
    let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    var path: [String] = []
    for part in target[1..<mark].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let text = Self.decoded(part, plusIsSpace: false) else { return nil }
      path.append(text)
    }
    self.method = method
    self.path = path == [""] ? [] : path
    query = [:]
    for field in target[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0], plusIsSpace: true),
        let value = Self.decoded(parts.count == 2 ? parts[1] : [], plusIsSpace: true)
      else { return nil }
      if query[name] == nil { query[name] = value }
    }
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    var text: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        text.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: text.append(UInt8(ascii: " "))
      default: text.append(byte)
      }
    }
    if text.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return nil }
    return String(validating: text, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
