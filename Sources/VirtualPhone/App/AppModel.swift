import Transport

/// Everything about the phone's apps that can change; one lock holds it.
struct AppModel: Sendable {
  var installed: [String: InstalledApp] = [:]
  /// Data folders of the apps that have one, by bundle.
  var containers: [String: Guarded<FileTree>] = [:]
  /// How often an app has been installed.
  var installations = 0
  /// What runs, by bundle.
  var processes: [String: AppProcess] = [:]
  var lastPid = 400
  /// The bundle in front; nil is the home screen. It stays so behind the lock screen.
  var front: String?
  /// The kiosk app has left the front since it was last there.
  var wasAway = false
  /// What the phone makes of a launch while it asks for its passcode.
  var lockedLaunch = LockedLaunch.refuse
  /// By bundle.
  var launchFaults: [String: LaunchFault] = [:]
  /// Refusals come as newer systems send them: a number, then the text in hexadecimal digits.
  var hexRefusals = false
  var listener = ListenerState()
  var door = DoorRules()
  var camera = CameraState()
  /// Ends the time that iOS lets the app run on without being in front.
  var suspension: PhoneTimers.Ticket?
}

/// What a locked phone does with a launch; both are seen on real ones.
enum LockedLaunch: String, CaseIterable, Sendable {
  /// Answers `Locked`.
  case refuse
  /// Reports success; the app waits behind the lock screen.
  case accept
}

/// The door's listening socket.
struct ListenerState: Sendable {
  var isOpen = false
  /// Whether the process that runs now has opened it before.
  var hasOpened = false
  /// Phone time at which the app began its checks of itself; they come every 20 s from then.
  var checksBegan: Duration = .zero
  /// The check that will find it dead and reopen it.
  var rescue: PhoneTimers.Ticket?
}

/// How the door answers, and how it is made to answer wrongly.
struct DoorRules: Sendable {
  /// The bearer token; nil asks for none. Never shown or written.
  var token: String?
  var fault: DoorFault?
  var broken: Set<Breakage> = []
}

/// A way in which the app can be made to break its contract, so that a scenario is seen to fail.
enum Breakage: String, CaseIterable, Sendable {
  /// A second capture waits for the first instead of being refused with 423.
  case busyWaits = "busy-not-refused"
  /// Every refusal says the same empty sentence.
  case wrongSentence = "wrong-sentence"
  /// The claim is never given back.
  case staysBusy = "stays-busy"
  /// Captures are taken while another app is in front.
  case capturesInBackground = "no-409"
  /// Captures are taken without the camera grant.
  case capturesWithoutGrant = "no-403"
  /// The way back to the front costs the listener; once gone, it stays gone until the app is started anew.
  case doorNeverReturns = "door-never-returns"
  /// The listener is not checked; only the way to the front reopens it.
  case noSelfHeal = "no-self-heal"
  /// A clip's file stays when its recording has ended.
  case keepsFiles = "keeps-files"
  /// The red band stays up after a capture.
  case bandStays = "band-stays"
  /// `active` is always true.
  case alwaysActive = "always-active"
  /// Its status says that it is in front, may use the camera and has any camera, whatever is so; its hello is honest.
  case boastsInStatus = "boasts-in-status"
  /// Any name is taken for a camera's.
  case anyCamera = "no-503"
  /// It waits for its camera for ever, and never gives up by itself.
  case noOwnClock = "no-504"
  /// The bearer token is asked for and not looked at.
  case opensWithoutToken = "no-401"
  /// The red band is never up.
  case noBand = "no-band"
  /// A capture that is refused takes away the band of the one that runs.
  case refusalDropsBand = "refusal-drops-band"
  /// What starts anew does not open its door.
  case noDoorAtStart = "no-door-at-start"
  /// A process that was stopped and goes on answers nobody any more.
  case deafAfterStop = "deaf-after-stop"
}
