import Transport
import Wire

/// What the kiosk app needs of the phone it runs on.
struct AppSurroundings: Sendable {
  var clock: any PhoneClock
  /// The phone asks for its passcode now.
  var isLocked: @Sendable () -> Bool
  /// Opens a device port; each connection is handed over on a thread of its own, which may block.
  var listen: @Sendable (UInt16, @escaping @Sendable (Socket) -> Void) -> Void
  /// Closes a device port: further connects are refused, connections already made go on.
  var close: @Sendable (UInt16) -> Void
  /// The fleet's timers; nil makes the app keep its own.
  var timers: PhoneTimers?
  /// The phone's marketing name, for the pictures' EXIF.
  var model = "iPhone"
  /// Product, system and build, for crash reports.
  var system = CrashReport.System()
  var files = PhoneFiles()
  var log = SystemLog()
  /// Writes an event of this phone into the journal.
  var note: @Sendable (_ event: String, _ details: [String: JSON]) -> Void
}
