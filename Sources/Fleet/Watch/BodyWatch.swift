import DeviceBridge
import Wire

/// The watch of one body, as a value: what happens goes in with its time, what to do comes out.
///
/// It goes round by round: who holds the phone, the door, the session, then, past the grace, hands and lock, and where
/// nothing stands in the way a launch. What a launch needs and how it is judged is `ReviveProcedure`'s. The rules are
/// docs/watch.md's; each is named where it is kept (`WatchRule`).
///
/// Whoever carries out the commands sends the answer of each as an event, and `.tick` when `wake` has come.
public struct BodyWatch: Sendable {
  public let udid: UDID
  /// fleet.yaml's name.
  public internal(set) var name: String?
  public internal(set) var rules: WatchRules
  /// The last row's words; nil before the first.
  public internal(set) var outcome: OutcomeWords?
  /// When they became so: the wall clock.
  public internal(set) var since: Duration?
  public internal(set) var memory: WatchMemory
  public internal(set) var pause: Pause?
  public internal(set) var presence: Presence
  /// Who else holds the phone.
  public internal(set) var heldBy: Holder?
  /// A trouble of the host in which nothing can be said of this body.
  public internal(set) var isMuxLost = false
  public internal(set) var isHubLost = false

  /// The host's boot, for stamps.
  let boot: String
  var silence = SilenceClock()
  var stage = Stage.idle
  var pending: Pending?
  /// The answer that is still open comes too late to be believed: the round begins anew after it.
  var isDiscarding = false
  /// When the next round begins.
  var due: Duration
  var roundBegan: Duration
  var lastEnd = RoundEnd.other
  var lastSeen: WatchTime
  /// Since when nobody could look.
  var unseenFrom: Duration?
  /// Nobody could look because the phone was away, which for a flap changes nothing.
  var isUnseenForAbsence = false
  var doorSilence = DoorSilence.noAnswer
  var doorDetail = ""
  var sessionTrouble: SessionTrouble?
  var lastLock: LockState?
  var handsWereThere = false
  /// The last answer (CLOCK_BOOTTIME).
  var lastAnswered: Duration?
  var leaseTaken: Duration?
  /// When facts were read last (CLOCK_BOOTTIME).
  var factsRead: Duration?
  /// Kept for a launch under way.
  var facts = LaunchFacts()
  /// The build that a launch was refused for as untrusted though the facts said otherwise.
  var distrusted: String?
  var launchIsStamped = false
  /// The memory before the launch under way.
  var beforeLaunch = WatchMemory()
  var stampedAwake: Duration?
  var portShowsPhone: Bool?

  var out: [BodyCommand] = []
  var rows: [OutcomeReport] = []
  var isMemoryNew = false

  enum Stage: Equatable, Sendable {
    /// Until the next round is due.
    case idle
    /// Who holds the phone?
    case asking
    case probing
    case session
    /// Hands and lock are looked at; nothing is launched.
    indirect case looking(ReviveProcedure)
    /// Something withheld nothing: the way to a launch.
    case leasing, facts, mounting
    indirect case launching(ReviveProcedure)
    case lookingAtPort
  }

  struct Pending: Equatable, Sendable {
    var command: BodyCommand
    var asked: HostMoment
    /// When it is answered at the latest.
    var limit: Duration
  }

  struct SessionTrouble: Equatable, Sendable {
    var since: Duration
    /// It was untrusted or not unlocked since its boot: a fresh grace follows.
    var isBarrier = false
  }

  /// How the last round ended.
  enum RoundEnd: Equatable, Sendable {
    case answered, held, absent, noSession, inGrace
    /// Hands or the lock stand in the way, or a pause does.
    case barred, paused
    /// Whether hands are there could not be told.
    case handsUnknown
    case withheld
    case other
  }

  /// - Parameters:
  ///   - past: what the record knows of the body.
  ///   - boot: the kernel's name for this boot of the host's.
  public init(
    _ udid: UDID, name: String?, _ rules: WatchRules, past: BodyPast = BodyPast(), boot: String, at now: WatchTime
  ) {
    self.udid = udid
    self.name = name
    self.rules = rules
    self.boot = boot
    outcome = past.outcome
    since = past.since
    let present = LaunchStamp(wall: now.wall, boot: boot, elapsed: now.elapsed)
    memory = past.memory.rebased(to: present, rules.book)
    presence = Presence(from: now.awake, counts: past.outcome != .detached, rules.book)
    if !rules.book.keeps(.restartIsNoChange) { outcome = nil }
    due = now.awake
    roundBegan = now.awake
    lastSeen = now
    pause = past.pause?.rebased(to: present)
    learn(past.stamp?.rebased(to: present))
    if memory != past.memory { isMemoryNew = true }
  }
}

/// What the record knows of a body when a watch begins.
public struct BodyPast: Equatable, Sendable {
  /// Its latest row's words.
  public var outcome: OutcomeWords?
  /// That row's time.
  public var since: Duration?
  public var memory: WatchMemory
  /// The stamp as it is kept apart from the memory, where others see it.
  public var stamp: LaunchStamp?
  /// As whoever paused it has stored it.
  public var pause: Pause?

  public init(
    outcome: OutcomeWords? = nil, since: Duration? = nil, memory: WatchMemory = WatchMemory(),
    stamp: LaunchStamp? = nil, pause: Pause? = nil
  ) {
    self.outcome = outcome
    self.since = since
    self.memory = memory
    self.stamp = stamp
    self.pause = pause
  }
}

extension OutcomeWords {
  static let detached = OutcomeWords(.unreachable, .detached)
}
