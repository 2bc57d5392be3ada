import DeviceBridge
import Wire

@testable import Fleet

/// A body as a revival meets it, and its time: each thing that is asked takes a while and gets the answer that holds then.
struct FakeBody {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")

  /// When the door begins to answer; nil: never by itself.
  var answersFrom: Duration?
  /// How long after an accepted launch the door answers; nil: never.
  var answersAfterLaunch: Duration?
  var silence = DoorLook.silent(.refused, detail: "nothing listens on its port")
  /// What the door shows after a launch; nil: the same as before.
  var silenceAfterLaunch: DoorLook?
  var lockedFrom: Duration?
  var locksAfterLaunch = false
  var lockIsUnknown = false
  var hands = HandsLook.absent
  var session: PhoneError?
  var lease = LeaseLook.taken(waited: false)
  var stamp: HostTrouble?
  /// How the launch requests end, in turn; the last one stays.
  var launches: [PhoneError?] = [nil]
  /// How long one step of each kind takes.
  var probeTakes = Duration.milliseconds(20)
  var lockTakes = Duration.milliseconds(30)
  var stampTakes = Duration.milliseconds(5)
  var launchTakes = Duration.milliseconds(1_200)
  /// The host sleeps that long while the lock is read for the first time.
  var hostSleeps = Duration.zero

  private(set) var awake = Duration.zero
  private(set) var elapsed = Duration.zero
  private(set) var commands: [ReviveCommand] = []
  private(set) var launchedAt: Duration?

  var now: HostMoment { HostMoment(awake: .seconds(1_000) + awake, elapsed: .seconds(5_000) + elapsed) }
  var launchRequests: Int { commands.count { if case .launch = $0 { true } else { false } } }
  var probes: Int { commands.count { if case .probe = $0 { true } else { false } } }

  private mutating func pass(_ span: Duration) {
    awake += span
    elapsed += span
  }

  mutating func carryOut(_ command: ReviveCommand) -> ReviveEvent {
    commands.append(command)
    switch command {
    case .probe(let within): return .door(probe(within))
    case .takeLease:
      pass(.milliseconds(1))
      return .lease(lease)
    case .openSession:
      pass(.milliseconds(100))
      return .session(session)
    case .askHands:
      pass(.milliseconds(10))
      return .hands(hands)
    case .readLock:
      pass(lockTakes)
      elapsed += hostSleeps
      hostSleeps = .zero
      if lockIsUnknown { return .lock(LockReading(state: .unknown, why: "the phone does not tell")) }
      return isLocked
        ? .lock(LockReading(state: .locked, why: "the phone asks for its passcode"))
        : .lock(LockReading(state: .unlocked, why: "unlocked"))
    case .storeStamp:
      pass(stampTakes)
      return .stamp(stamp)
    case .launch:
      pass(launchTakes)
      let error = launches.count > 1 ? launches.removeFirst() : launches[0]
      if error == nil { launchedAt = awake }
      return .launch(error)
    case .rest(let span):
      pass(span)
      return .rested
    }
  }

  private var isLocked: Bool {
    if locksAfterLaunch, launchedAt != nil { return true }
    return lockedFrom.map { awake >= $0 } ?? false
  }

  private mutating func probe(_ within: Duration) -> DoorLook {
    let opens = [answersFrom, launchedAt.flatMap { launch in answersAfterLaunch.map { launch + $0 } }]
      .compactMap { $0 }.min()
    if let opens, awake >= opens {
      pass(probeTakes)
      return .answered(detail: "it answered 200")
    }
    let silence = launchedAt == nil ? self.silence : silenceAfterLaunch ?? self.silence
    switch silence {
    case .silent(.noAnswer, _): pass(within)
    case .silent, .answered, .unreachable: pass(min(probeTakes, within))
    }
    return silence
  }
}

extension FakeBody {
  /// Revives it; it has to end after a bounded number of steps.
  mutating func revive(_ rules: ReviveRules = ReviveRules()) -> ReviveEnding? {
    var procedure = ReviveProcedure(rules)
    var next = procedure.begin(at: now)
    while let command = next, commands.count < 200 {
      let event = carryOut(command)
      next = procedure.handle(event, at: now)
    }
    return procedure.ending
  }

  static func refused(_ refusal: LaunchRefusal) -> PhoneError { .launchRefused(udid, refusal, detail: "") }
}
