import Wire

/// What the phone's text about a launch means. Texts change with each release: what is not recognised is `failed`,
/// and the text itself is kept as detail.
enum RefusalText {
  /// - Parameter reply: debugserver's packet, beginning with `E`.
  static func refusal(_ reply: [UInt8]) -> (LaunchRefusal, detail: String) {
    let text = text(of: reply)
    return (meaning(text), PhoneText.clean(text))
  }

  /// `E` and a text, or `E`, two digits, `;` and the text in hexadecimal digits.
  static func text(of reply: [UInt8]) -> String {
    let rest = String(decoding: reply.dropFirst(), as: UTF8.self)
    let parts = rest.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[0].utf8.count == 2, Hex.decode(parts[0]) != nil, let bytes = Hex.decode(parts[1]) {
      return String(decoding: bytes, as: UTF8.self)
    }
    return rest
  }

  static func meaning(_ text: String) -> LaunchRefusal {
    let lower = text.lowercased()
    func says(_ phrases: String...) -> Bool { phrases.contains { lower.contains($0) } }
    // "Locked" as a word of its own: "blocked" and "unlocked" hold it as well.
    let words = lower.split { !$0.isLetter }
    if words.contains("locked") || says("could not be, unlocked", "could not be unlocked") { return .locked }
    if says("failed to get the task", "get-task-allow") { return .notDebuggable }
    if says("notfound", "not found", "unknown application", "not installed") { return .notInstalled }
    if words.contains("security")
      || says("code signature", "entitlement", "not been explicitly trusted", "untrusted developer", "provisioning")
    {
      return .appUntrusted
    }
    return .failed
  }
}
