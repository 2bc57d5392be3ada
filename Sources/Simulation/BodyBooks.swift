import DeviceBridge
import Fleet
import Wire

/// What the witness knows of one body, from nothing but what went to and fro.
///
/// Times are of the clock that stops in sleep unless they are said to be others.
struct BodyBooks {
  /// The longest that one probe may take.
  let probe: Duration
  var outcome: OutcomeWords?
  var revivals = 0
  var isOpen = false

  // Looks.
  var asked = Duration.zero
  var askedElapsed = Duration.zero
  var lock: LockState?
  /// CLOCK_BOOTTIME when the reading was asked for.
  var lockAsked = Duration.zero
  var wasLocked = false
  var handsWere = false
  var handsFree: Duration?
  var failedProbe: Duration?
  var sessionFailed: Duration?
  var wasBarred = false
  var wasHeld = false
  var interrupted = Duration.seconds(-1)

  // Rounds.
  var roundBegan: Duration?
  var roundBeganTrue = Duration.zero
  var lastAnsweredCommand = Duration.zero

  // Presence, as told.
  var devices: Set<Int> = []
  var away: Duration? = .zero
  var there: Duration?
  var isRelisted = true
  /// It has been there for a settle time since it was missed.
  var counts = true
  /// It was away for so long that it may be missed still, before it has been there for as long.
  var mayBeMissed = false
  var hubLostAt: Duration?

  // Silence.
  var graceZero = Duration.zero
  /// How much since then nobody could have observed.
  var graceGap = Duration.zero
  /// It may have begun anew as late as that: a hub that was away for about the settle time was missed, or was not.
  var graceMaybe = Duration.zero
  var lastAnswer: Duration?
  var silentFrom: Duration?
  var gap = Duration.zero
  /// How far a count may be off for reasons that are nobody's fault.
  var slack = Duration.zero
  var unseen: Duration?
  var isUnseenForAbsence = false
  /// Without time since the probe that is open, or was last.
  var sinceProbe = (gap: Duration.zero, slack: Duration.zero)
  /// What the last silence came to that ended since the last row.
  var ended: ClosedRange<Duration>?

  // Launches.
  var leaseTaken: Duration?
  var requests = 0
  var sentRequests = 0
  var attempt: LaunchStamp?
  var isStamped = false
  /// The newest that was sent, whoever sent it, and the newest that was stamped.
  var launch: LaunchStamp?
  var stamp: LaunchStamp?
  /// Our own of late (true time): those that were sent, and those that were stamped.
  var sent: [Duration] = []
  var stamps: [Duration] = []
  var accepted: Duration?
  /// CLOCK_BOOTTIME, in this boot.
  var lastAnswerElapsed: Duration?
  /// How long it had answered since the launch before the one under way, when that one began.
  var answeredBefore: Duration?
  /// The same since the stamp before, of which a kill may have left nobody knowing whether a launch followed.
  var surelyAnsweredBefore: Duration?
  var stampBefore: LaunchStamp?
  var launchEnded = false
  var wasRefusedAsLocked = false
  var refusal: (reason: LaunchRefusal, build: Int, wasTrusted: Bool)?
  /// The facts before the launch under way could not be read.
  var factsUnread = false
  /// There was a refusal since the last answer, also in an earlier process.
  var wasRefused = false
  /// The boot and image that were mounted for.
  var mounted: Int?
  /// The record knows of that.
  var isMountRemembered = false

  init(probe: Duration) { self.probe = probe }

  // MARK: - Silence

  mutating func answered(_ sight: Witness.Sight) {
    seen(asked)
    if silentFrom != nil { ended = bounds(at: sight.awake) }
    silentFrom = nil
    lastAnswer = sight.awake
    (gap, slack, graceGap) = (.zero, .zero, .zero)
    graceZero = sight.awake
    lastAnswerElapsed = sight.elapsed
    (wasLocked, handsWere, wasBarred, sessionFailed) = (false, false, false, nil)
    (launchEnded, refusal, wasRefused) = (false, nil, false)
  }

  mutating func probes() { sinceProbe = (.zero, .zero) }

  mutating func wasSilent() {
    let wasUnseen = unseen.map { $0 <= asked } ?? false
    seen(asked)
    if silentFrom == nil, lastAnswer == nil {
      (gap, slack) = sinceProbe
    } else if wasUnseen {
      (gap, slack) = (gap + sinceProbe.gap, slack + sinceProbe.slack)
      graceGap += sinceProbe.gap
    }
    if silentFrom == nil { silentFrom = lastAnswer ?? asked }
    failedProbe = asked
  }

  /// How long it answered after that launch; nil where it did not, or over a boot of the host's.
  func answered(since launch: LaunchStamp?, _ sight: Witness.Sight) -> Duration? {
    guard let launch, launch.boot == sight.boot else { return nil }
    return lastAnswerElapsed.map { $0 - launch.elapsed }
  }

  /// How long the present silence may be said to be.
  func bounds(at now: Duration) -> ClosedRange<Duration>? {
    guard let silentFrom else { return nil }
    let most = now - silentFrom - gap
    // A probe that was overtaken by something is asked anew.
    return max(most - slack - probe - .seconds(5), .zero)...max(most + .seconds(1), .milliseconds(1))
  }

  mutating func cannotSee(_ now: Duration, forAbsence isAbsence: Bool) {
    if unseen == nil {
      (unseen, isUnseenForAbsence) = (now, isAbsence)
    } else if !isAbsence {
      isUnseenForAbsence = false
    }
  }

  /// Somebody looks again.
  mutating func seen(_ now: Duration) {
    guard let from = unseen, from <= now else { return }
    unseen = nil
    if isUnseenForAbsence, now - from <= .seconds(40) {
      // Whether it was a flap is for the settle time to say: a little more or less.
      slack += now - from + .seconds(10)
    } else {
      gap += now - from - .seconds(1)
      graceGap += max(now - max(from, graceZero) - .seconds(1), .zero)
      slack += .seconds(25)
    }
  }

  /// Nobody had time to look.
  mutating func gap(of span: Duration) {
    let isLong = span > .seconds(45)
    let (skipped, doubt) = isLong ? (span - .seconds(25), Duration.seconds(50)) : (.zero, span + .seconds(30))
    sinceProbe = (sinceProbe.gap + skipped, sinceProbe.slack + doubt)
    guard unseen == nil else { return }
    gap += skipped
    graceGap += skipped
    slack += doubt
  }

  mutating func graceAnew(_ now: Duration) { (graceZero, graceGap) = (now, .zero) }

  // MARK: - Presence

  mutating func appeared(_ now: Duration) {
    guard there == nil else { return }
    there = now
    let isFlap = away.map { now - $0 <= .seconds(15) } ?? true
    if isRelisted, outcome != OutcomeWords(.unreachable, .detached) { away = nil }
    isRelisted = false
    if !isFlap {
      mayBeMissed = true
      graceAnew(now)
    }
  }

  mutating func noteLock(_ state: LockState, _ now: Duration) {
    switch state {
    case .locked: wasLocked = true
    case .unlocked:
      if wasLocked { graceAnew(now) }
      if wasLocked, wasRefusedAsLocked { launchEnded = false }
      wasLocked = false
    case .unknown: break
    }
  }

  mutating func leapt(_ span: Duration) {
    roundBegan = roundBegan.map { $0 + span }
    roundBeganTrue += span
    lastAnsweredCommand += span
    guard silentFrom == nil, unseen == nil, outcome?.kind == .up || outcome?.kind == .revived else { return }
    lastAnswer = lastAnswer.map { $0 + span }
    lastAnswerElapsed = lastAnswerElapsed.map { $0 + span }
    graceZero += span
  }
}
