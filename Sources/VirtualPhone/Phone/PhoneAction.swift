/// Something that happens to a virtual phone because somebody says so: `fleetctl virtual do PHONE ACTION KEY=VALUE…`.
public struct PhoneAction: Sendable {
  /// In `keys`: any name that begins with a capital letter, as lockdown's values do.
  static let anyCapitalKey = "Key"

  public let name: String
  /// One line for `virtual do --list`: what happens, and the keys it takes.
  public let summary: String
  let keys: [String]
  let run: @Sendable (VirtualPhone, [String: String]) throws(ActionError) -> Void

  func takes(_ key: String) -> Bool {
    keys.contains(key) || (keys.contains(Self.anyCapitalKey) && (key.first?.isUppercase ?? false))
  }
}

/// Why an action did not happen; the sentence names the next thing to type.
public struct ActionError: Error, Equatable, Sendable {
  public let sentence: String
  public init(_ sentence: String) { self.sentence = sentence }
}
