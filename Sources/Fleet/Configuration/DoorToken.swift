/// Which token a request to the door carries.
public enum DoorToken: String, Sendable, CaseIterable {
  /// The one that fleet.yaml's token-file holds, where there is one.
  case configured
  case none
  /// One that is not the configured one, on purpose.
  case wrong

  /// What is sent.
  ///
  /// - Parameter configured: as the token file has it now.
  public func value(_ configured: Secret?) -> String? {
    switch self {
    case .configured: configured?.value
    case .none: nil
    // Nothing of the right one is in it: doors may log what they refuse.
    case .wrong: configured?.value == "wrong" ? "not-right" : "wrong"
    }
  }
}
