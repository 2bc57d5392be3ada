/// What happens to one phone. Each is true until another says otherwise; one that is true already changes nothing.
public enum PhoneVerb: String, Sendable, CaseIterable {
  // The app, and what becomes of it after the next launches.
  case appDies = "app-dies"
  case appStarts = "app-starts"
  case appHangs = "app-hangs"
  case appHalfAnswers = "app-half-answers"
  case appRemoved = "app-removed"
  case appInstalled = "app-installed"
  case appUpdated = "app-updated"
  case launchWorks = "launch-works"
  /// It answers so long after the launch.
  case launchAnswersAfter = "launch-answers-after"
  case launchNeverAnswers = "launch-never-answers"
  case launchHangs = "launch-hangs"
  case launchHalfAnswers = "launch-half-answers"
  case launchCrashes = "launch-crashes"
  /// Works, and the app ends so long after it has answered.
  case launchDiesAfter = "launch-dies-after"
  case launchFails = "launch-fails"
  /// The call is not answered at all.
  case launchUnanswered = "launch-unanswered"
  case launchRefusedLocked = "launch-refused-locked"
  case launchRefusedUntrusted = "launch-refused-untrusted"
  case launchLocks = "launch-locks"

  // The phone.
  case lock, unlock
  case lockUnreadable = "lock-unreadable"
  case lockReadable = "lock-readable"
  case lockSlow = "lock-slow"
  /// It says nothing when its lock changes.
  case lockSilent = "lock-silent"
  case unplug, plug
  /// Unplugged for so long.
  case flap
  case networkOn = "network-on"
  case networkOff = "network-off"
  /// A second USB entry of the same phone.
  case twinOn = "twin-on"
  case twinOff = "twin-off"
  /// Away for so long; then nobody has unlocked it yet.
  case reboot
  case trustGiven = "trust-given"
  case trustPending = "trust-pending"
  case trustDenied = "trust-denied"
  case trustStale = "trust-stale"
  case trustNone = "trust-none"
  case lockdownHangs = "lockdown-hangs"
  case lockdownWorks = "lockdown-works"
  case tlsFails = "tls-fails"
  case tlsWorks = "tls-works"
  case imageGone = "image-gone"
  case imageMounted = "image-mounted"
  /// Mounting fails until it is said to work.
  case mountFails = "mount-fails"
  case mountWorks = "mount-works"
  /// The image is there, its service not yet: so long.
  case serviceLate = "service-late"

  // People and runs.
  case handsOn = "hands-on"
  case handsOff = "hands-off"
  case handsOdd = "hands-odd"
  case runTakes = "run-takes"
  case personTakes = "person-takes"
  case letsGo = "lets-go"
  case pause, resume
  /// A person's revive command.
  case revive
  case bodyDropped = "body-dropped"
  case bodyAdded = "body-added"
}

/// What happens to the host, or to all.
public enum HostVerb: String, Sendable, CaseIterable {
  case muxGone = "mux-gone"
  case muxSilent = "mux-silent"
  case muxBack = "mux-back"
  /// The record takes nothing; the runtime folder does.
  case diskFull = "disk-full"
  /// Neither takes anything.
  case diskDead = "disk-dead"
  case diskSlow = "disk-slow"
  case diskFine = "disk-fine"
  case descriptorsOut = "descriptors-out"
  case descriptorsBack = "descriptors-back"
  case sleep
  /// The supervisor gets no time for so long.
  case stall
  case wallBack = "wall-back"
  case wallForward = "wall-forward"
  /// The supervisor is killed and begins again so much later.
  case kill
  /// The same, once so many more of the commands that matter have been carried out (in seconds: one is one command).
  case killAfter = "kill-after"
  case hostReboot = "host-reboot"
  /// The power of the hub that the phone hangs on.
  case hubOff = "hub-off"
  case hubOn = "hub-on"
  /// Somebody deletes the record.
  case recordDeleted = "record-deleted"
  /// Nothing; the script ends no sooner.
  case end
}
