import DeviceBridge
import Wire

/// What the watch of one body asks of the world. At most one that wants an answer is open at any time.
public enum BodyCommand: Equatable, Sendable {
  /// Who holds the phone's lock? Answered by `.hold`; the phone is not touched.
  case askHold
  /// One step of looking or reviving; answered by `.step`, within that time.
  case step(ReviveCommand, within: Duration)
  /// Store the stamp so that it outlives the power, in the record with this memory, else in the runtime folder.
  /// Answered by `.step(.stamp)`.
  indirect case storeStamp(LaunchStamp, WatchMemory, within: Duration)
  /// What a launch depends on; answered by `.facts`.
  case readFacts(within: Duration)
  /// Does the port still show a phone though the mux does not? Answered by `.port`.
  case lookAtPort(String, within: Duration)
  /// Mount the developer image on the phone, if it is unlocked and has none; answered by `.mounted`.
  case mountImage(within: Duration)
  /// Let go of the phone's lock. No answer.
  case letGo
  /// The outcome has changed. No answer; stored in one transaction with this memory.
  indirect case row(OutcomeReport, WatchMemory)
  /// What must outlive a restart has changed. No answer.
  indirect case remember(WatchMemory)
  /// Something was found that is the host's trouble. No answer.
  indirect case tellHost(HostSign)
  /// An action of the supervisor's own, for the record. No answer.
  indirect case act(WatchAction)
}

/// What happens to one body, or comes of what was asked.
public enum BodyEvent: Equatable, Sendable {
  /// The time has come that `BodyWatch.wake` named.
  case tick
  /// The mux has taken up an entry of this phone's; `port` is the sysfs path, where it is known.
  case attached(device: Int, PhoneTransport, port: String?)
  /// That entry has gone.
  case detached(device: Int)
  /// The phone has said that its lock changed, and it was read.
  case lockChanged(LockReading)
  case hold(HoldLook)
  case step(ReviveEvent)
  indirect case facts(LaunchFacts)
  case mounted(MountLook)
  /// Whether sysfs shows a phone at the port; nil where that can't be told.
  case port(showsPhone: Bool?)
  /// Launches are paused, or (nil) no longer.
  indirect case paused(Pause?)
  /// A trouble of the host has begun or ended in which nothing can be said of this body.
  case host(HostChange)
}

/// Who holds a phone's lock.
public enum HoldLook: Equatable, Sendable {
  /// Nobody, or this supervisor.
  case free
  case held(by: Holder)
  case trouble(HostTrouble)
}

/// What came of mounting an image.
public enum MountLook: Equatable, Sendable {
  /// There is one now.
  case mounted
  /// The phone asks for its passcode; nothing was sent.
  case locked
  /// The phone or its image is at fault.
  case failed(detail: String)
  /// It came to nothing for a reason that says nothing of the image.
  case broken(PhoneError)
}

/// A change of the host's that a body is told of.
public enum HostChange: Equatable, Sendable {
  case muxLost, muxBack
  case hubLost, hubBack
}

/// A trouble of the host as a body met it.
public struct HostSign: Equatable, Sendable {
  public var words: OutcomeWords
  public var detail: String
}

/// What the supervisor did of itself: a row of `actions`.
public struct WatchAction: Equatable, Sendable {
  public enum Kind: String, Sendable { case launch, mount }
  public var kind: Kind
  /// The wall clock.
  public var at: Duration
  public var udid: UDID
  public var result: String
}

extension BodyEvent {
  /// Whether it is what the command asked for.
  func answers(_ command: BodyCommand) -> Bool {
    switch (command, self) {
    case (.askHold, .hold), (.readFacts, .facts), (.mountImage, .mounted), (.lookAtPort, .port): true
    case (.step(let step, _), .step(let event)): event.answers(step)
    case (.storeStamp, .step(.stamp)): true
    case (.askHold, _), (.readFacts, _), (.mountImage, _), (.lookAtPort, _), (.step, _), (.storeStamp, _), (.letGo, _),
      (.row, _), (.remember, _), (.tellHost, _), (.act, _):
      false
    }
  }
}
