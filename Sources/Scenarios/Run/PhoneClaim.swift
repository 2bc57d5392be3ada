import Fleet

/// Whether a run has a phone to itself.
public enum PhoneClaim: Sendable {
  /// Nobody else is to be kept off it.
  case unneeded
  case taken(PhoneLease)
  /// Why not, such as `held by run 17 of anna (process 4711)`.
  case refused(String)
  /// The run was stopped meanwhile.
  case stopped
}
