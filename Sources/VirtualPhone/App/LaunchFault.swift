/// What the phone answers to a launch instead of doing it, or does to the app right after.
enum LaunchFault: Equatable, Sendable {
  /// Refused with this text.
  case refused(String)
  /// The same, but the app is there for three seconds first.
  case refusedLate(String)
  /// The launch request is never answered.
  case silent
  /// It is accepted, and no further byte ever comes.
  case mute
  /// The connection ends instead of an answer.
  case lost
  /// The app starts and ends at once.
  case crash
  /// Once: a launch over a running app ends that one and fails; the next launch is well.
  case collide
}

extension LaunchFault {
  static let kinds = [
    "none", "locked", "not-found", "security", "busy", "not-debuggable", "internal", "empty", "silent", "mute", "lost",
    "crash", "collide", "text",
  ]

  /// What debugserver says of a build that it may not take.
  static let notDebuggable = "failed to get the task for process 411"

  /// - Returns: nil for `none`.
  init?(kind: String, text: String, bundle: String) {
    switch kind {
    case "locked": self = .refused("Locked")
    case "not-found": self = .refused("NotFound")
    case "security":
      self = .refused(
        "Unable to launch \(bundle) because it has an invalid code signature, inadequate entitlements or its profile has "
          + "not been explicitly trusted by the user. (Security)")
    case "busy": self = .refused("Busy")
    case "not-debuggable": self = .refusedLate(Self.notDebuggable)
    case "internal": self = .refused("An internal error occurred")
    case "empty": self = .refused("")
    case "silent": self = .silent
    case "mute": self = .mute
    case "lost": self = .lost
    case "crash": self = .crash
    case "collide": self = .collide
    case "text": self = .refused(text)
    default: return nil
    }
  }
}
