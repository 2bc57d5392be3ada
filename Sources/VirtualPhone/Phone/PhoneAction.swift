/// Something that happens to a virtual phone because somebody says so: `fleetctl virtual do PHONE ACTION KEY=VALUE…`.
public struct PhoneAction: Sendable {
  public let name: String
  /// One line for `virtual do --list`: what happens, and the keys it takes.
  public let summary: String
  let keys: [String]
  let run: @Sendable (VirtualPhone, [String: String]) throws(ActionError) -> Void
}

/// Why an action did not happen; the sentence names the next thing to type.
public struct ActionError: Error, Equatable, Sendable {
  public let sentence: String
  public init(_ sentence: String) { self.sentence = sentence }
}
