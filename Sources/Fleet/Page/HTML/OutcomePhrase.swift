extension OutcomeWords {
  /// The outcome for people who do not know its words, as one clause.
  var phrase: String {
    switch (kind, reason) {
    case (.up, _): "the door answers"
    case (.revived, .crashLooping?): "launched three times within an hour: the app must be crashing"
    case (.revived, _): "launched by us, the door answers again"
    case (.silent, .refused?): "nothing listens on the door's port"
    case (.silent, .badReply?): "what the door says is no answer"
    case (.silent, _): "the door says nothing"
    case (.locked, .beforeFirstUnlock?): "not unlocked since it started: its passcode is needed"
    case (.locked, _): "it asks for its passcode"
    case (.held, .run?): "a run holds it"
    case (.held, _): "a person holds it"
    case (.paused, _): "launches are paused"
    case (.launchedNoAnswer, .refused?): "launched, and nothing listens on the door's port"
    case (.launchedNoAnswer, .badReply?): "launched, and what the door says is no answer"
    case (.launchedNoAnswer, .appExited?): "launched, and the app ended at once"
    case (.launchedNoAnswer, _): "launched, and the door says nothing"
    case (.leftAlone, .hands?): "the hands' driver runs: a person or a test uses it"
    case (.leftAlone, _): "whether it is locked can't be read"
    case (.launchRefused, let reason): reason.flatMap { Self.refusals[$0] } ?? "the phone refused the launch"
    case (.untrusted, .pending?): "it waits for a tap on Trust"
    case (.untrusted, .denied?): "somebody tapped Don't Trust"
    case (.untrusted, .stale?): "it no longer knows this machine"
    case (.untrusted, _): "it was never paired with this machine"
    case (.unreachable, let reason): reason.flatMap { Self.absences[$0] } ?? "it is not on the USB bus"
    case (.hostFault, let reason): reason.flatMap { Self.faults[$0] } ?? "this machine is at fault"
    }
  }

  private static let refusals: [OutcomeReason: String] = [
    .notInstalled: "the app is not installed", .noDeveloperImage: "no developer image is mounted",
    .developerModeOff: "its Developer Mode is off", .notDebuggable: "the app is no development build",
    .appUntrusted: "the app's developer is not trusted on it", .notOnThisIOS: "its iOS offers no way to launch",
  ]

  private static let absences: [OutcomeReason: String] = [
    .lockdownNotAnswering: "it is on the bus, and lockdown does not answer", .noUsbmuxd: "usbmuxd does not run",
    .muxNotAnswering: "usbmuxd does not answer", .hub: "a USB hub has left with all its phones",
  ]

  private static let faults: [OutcomeReason: String] = [
    .tls: "TLS with the phone fails", .permission: "this machine's rights do not let it do its part",
    .disk: "the record or the state can't be written",
    .descriptors: "this machine has run out of descriptors or memory",
  ]
}
