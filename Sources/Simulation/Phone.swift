import DeviceBridge
import Fleet
import Wire

/// One phone as it really is, and how it answers.
struct Phone {
  let index: Int
  let udid: UDID
  let name: String
  let port: String
  let ios: String
  /// A launch on the locked phone is refused; on others it is taken, and the app waits behind the lock.
  let refusesWhenLocked: Bool
  let rules: WatchRules

  enum App: Equatable {
    case missing, dead
    /// Launched, and not listening yet.
    case starting
    case answering, hung, halfAnswering
    /// It runs and waits for the passcode.
    case behindLock
  }
  enum Manner: Equatable {
    case works(after: Duration, diesAfter: Duration?)
    case neverAnswers, hangs, halfAnswers, crashes, fails, refusedLocked, refusedUntrusted
    /// The call itself is never answered.
    case unanswered
    case locks
  }
  enum Lease: Equatable {
    case nobody, us, run, person, reviver
  }
  enum Hands { case off, on, odd }
  enum LockManner { case readable, unreadable, slow }

  static let usual = Manner.works(after: .milliseconds(1_500), diesAfter: nil)

  var app = App.answering
  /// Counts up whenever what was planned for the app no longer holds.
  var appTurn = 0
  var manner = Phone.usual
  var build = 1
  var isLocked = false
  var isBeforeFirstUnlock = false
  var lockManner = LockManner.readable
  var tellsLock = true
  var isPlugged = true
  var hasPower = true
  var isOnNetwork = false
  var devices: [Int] = []
  var networkDevice: Int?
  var trust = Trust.trusted
  var isLockdownHung = false
  var isTLSBroken = false
  var hands = Hands.off
  var hasImage = true
  var mountFails = false
  var serviceFrom = Duration.zero
  var lease = Lease.nobody
  /// Who waits until we let go, and since when (CLOCK_MONOTONIC).
  var waiting: (lease: Lease, since: Duration)?
  var boot = 1
  var isBody = true
  /// A person's pause: when it truly ends.
  var pausedUntil: Duration?
  /// What kept a session from the launch that is under way, when it began.
  var launchSession: PhoneError?
  /// The same of what it is refused for before anything is sent.
  var launchRefusal: LaunchRefusal?
  /// What the disk will say to the stamp that is being stored.
  var stampTrouble: HostTrouble?

  // MARK: Bookkeeping of the simulation

  /// What was asked last and is not answered, and its number; an answer to anything else has nobody to go to.
  var asked: BodyCommand?
  var token = 0
  /// What is planned for this phone alone, and what is on its way from it to the supervisor.
  var planned = 0
  var underway = 0
  /// When anything about it changed last.
  var changed = Duration.zero
  var nextLine = 0
  var scheduledWake: Duration?

  init(_ index: Int, _ rules: WatchRules, ios: String) {
    self.index = index
    self.rules = rules
    self.ios = ios
    let digits = String(1_000_000 + index).dropFirst()
    udid = UDID("00008110-0000000000\(digits)")
    name = "b\(index)"
    port = "1-\(1 + index / 5).\(1 + index % 5)"
    refusesWhenLocked = index % 2 == 0
  }

  var isThere: Bool { isPlugged && hasPower }
  /// Small differences from phone to phone, always the same for one.
  var jitter: Duration { .microseconds(37 * (index % 200) + 11) }

  var session: PhoneError? {
    if isBeforeFirstUnlock { return .untrusted(udid, .lockedBeforeFirstUnlock) }
    if trust != .trusted { return .untrusted(udid, trust) }
    if isLockdownHung { return .silent(udid, step: "starting a session", limit: .seconds(10)) }
    if isTLSBroken { return .tls(udid, detail: "handshake") }
    return nil
  }

  var lockReading: LockReading {
    if session != nil || lockManner == .unreadable {
      return LockReading(state: .unknown, why: "the phone does not tell")
    }
    return isLocked ? Self.locked : Self.unlocked
  }
  private static let locked = LockReading(state: .locked, why: "the phone asks for its passcode")
  private static let unlocked = LockReading(state: .unlocked, why: "unlocked")

  var door: DoorLook {
    switch app {
    case .answering: Self.answers
    case .hung: Self.silent
    case .halfAnswering: Self.half
    case .missing, .dead, .starting, .behindLock: Self.refused
    }
  }
  private static let answers = DoorLook.answered(detail: "it answered 200")
  private static let silent = DoorLook.silent(.noAnswer, detail: "no byte in time")
  private static let half = DoorLook.silent(.badReply, detail: "63 of 64 bytes")
  private static let refused = DoorLook.silent(.refused, detail: "nothing listens on its port")

  /// How long a step takes, as things stand when it is asked.
  func duration(of step: ReviveCommand, within limit: Duration, at now: Duration) -> Duration {
    let usual: Duration =
      switch step {
      case .probe: app == .hung || app == .halfAnswering ? limit : .milliseconds(20)
      case .takeLease: .milliseconds(1)
      case .openSession: isLockdownHung ? limit : .milliseconds(90)
      case .askHands: hands == .odd ? limit : .milliseconds(15)
      case .readLock: lockManner == .slow ? .milliseconds(2_600) : .milliseconds(30)
      case .storeStamp: .milliseconds(5)
      case .launch: refusal(at: now) != nil ? .milliseconds(300) : manner == .unanswered ? limit : launchTime
      case .rest(let span): span
      }
    return min(usual + jitter, limit)
  }

  private var launchTime: Duration {
    switch manner {
    case .fails, .refusedLocked, .refusedUntrusted: .milliseconds(400)
    case .works, .neverAnswers, .hangs, .halfAnswers, .crashes, .locks, .unanswered: .milliseconds(1_800)
    }
  }

  var facts: LaunchFacts {
    var facts = LaunchFacts()
    facts.ios = ios
    facts.app =
      app == .missing
      ? .missing
      : .installed(version: "1.\(build)", build: "\(build)", validated: isSignerTrusted)
    facts.hasImage = hasImage
    facts.offeredImage = "16.7"
    facts.developerMode = true
    facts.boot = "p\(boot)"
    return facts
  }

  var isSignerTrusted: Bool { manner != .refusedUntrusted }
  var isOnOddIOS: Bool { ios.hasPrefix("17.") }

  /// What a launch is refused for before anything is sent.
  func refusal(at now: Duration) -> LaunchRefusal? {
    if isOnOddIOS { return .notOnThisIOS }
    if app == .missing { return .notInstalled }
    if !hasImage || now < serviceFrom { return .noDeveloperImage }
    return nil
  }

  /// Whether a launch would bring it back, as far as the phone itself is concerned.
  var isLaunchable: Bool {
    guard isThere, session == nil, !isLocked, lockManner == .readable, hands == .off, hasImage, app != .missing,
      !isOnOddIOS, case .works(let after, _) = manner, after < rules.answerWithin
    else { return false }
    return true
  }
}
