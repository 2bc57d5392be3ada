import DeviceBridge
import Fleet
import Wire

/// Looks at everything that goes between watch and world, keeps books of its own, and says which promise was broken.
///
/// It shares nothing with the watch but the outcome words.
struct Witness {
  var violation: Violation?
  var bodies: [BodyBooks]
  /// The mux was lost; its phones have not been told of yet.
  private(set) var isMuxLost = false
  /// When the last launch began anew to count: the wall clock of that moment went backwards over a boot.
  var processBegan = Duration.zero
  private var boots = 1

  init(_ setting: Simulation.Setting) {
    bodies = (0..<setting.phones).map { phone in
      BodyBooks(probe: (setting.phoneRules[phone] ?? setting.rules).answerWithin)
    }
  }

  /// The moment, and what of the host matters.
  struct Sight {
    var now: Duration
    var awake: Duration
    var elapsed: Duration
    var wall: Duration
    var boots: Int
    var hostChanged: Duration
    var isHostWell: Bool
    var stalledUntil: Duration
    var boot: String { Simulation.boot(boots) }
  }

  mutating func broken(_ promise: Promise, _ phone: Int?, _ sight: Sight, _ detail: @autoclosure () -> String) {
    guard violation == nil else { return }
    violation = Violation(promise: promise, phone: phone, at: sight.now, detail: detail())
  }

  // MARK: - The process

  mutating func started(_ sight: Sight) {
    isMuxLost = false
    processBegan = sight.elapsed
    guard sight.boots != boots else { return }
    boots = sight.boots
    // Over a boot of the host's only the wall clock tells when launches were, and somebody may have set it.
    for phone in bodies.indices {
      bodies[phone].sent = []
      if !bodies[phone].stamps.isEmpty { bodies[phone].stamps = [sight.now] }
    }
  }

  /// The watch of a body begins: at the start, or since the configuration names it again.
  mutating func begins(_ phone: Int, outcome: OutcomeWords?, revivals: Int, _ sight: Sight) {
    let old = bodies[phone]
    var books = BodyBooks(probe: old.probe)
    books.launch = old.launch
    books.stamp = old.stamp
    books.stampBefore = old.stampBefore
    books.sent = old.sent
    books.stamps = old.stamps
    if old.isMountRemembered { (books.mounted, books.isMountRemembered) = (old.mounted, true) }
    books.wasRefused = old.wasRefused
    books.counts = outcome != OutcomeWords(.unreachable, .detached)
    (books.graceZero, books.graceMaybe) = (sight.awake, sight.awake)
    books.away = sight.awake
    books.outcome = outcome
    books.revivals = revivals
    bodies[phone] = books
  }

  /// - Parameter keepsMemory: what the record should know, it knows.
  mutating func killed(keepsMemory: Bool) {
    for phone in bodies.indices {
      if !keepsMemory { bodies[phone].sent = [] }
      bodies[phone].isOpen = false
      bodies[phone].leaseTaken = nil
      bodies[phone].hubLostAt = nil
      if !bodies[phone].isMountRemembered { bodies[phone].mounted = nil }
    }
  }

  /// The record knows of the last mount.
  mutating func mountRemembered(_ phone: Int) { bodies[phone].isMountRemembered = true }

  mutating func fleetEvent(_ event: FleetEvent, _ sight: Sight) {
    switch event {
    case .muxLost:
      isMuxLost = true
      for phone in bodies.indices {
        bodies[phone].cannotSee(sight.awake, forAbsence: false)
        bodies[phone].roundBegan = nil
        bodies[phone].hubLostAt = nil
        if let there = bodies[phone].there {
          if sight.awake - there >= .seconds(15) { (bodies[phone].counts, bodies[phone].mayBeMissed) = (true, false) }
        } else if let away = bodies[phone].away, sight.awake - away >= .seconds(15) {
          bodies[phone].mayBeMissed = true
        }
        bodies[phone].there = nil
        bodies[phone].devices = []
      }
    case .muxConnected:
      guard isMuxLost else { return }
      isMuxLost = false
      for phone in bodies.indices {
        bodies[phone].graceAnew(sight.awake)
        bodies[phone].away = sight.awake
        bodies[phone].isRelisted = true
        bodies[phone].roundBegan = nil
      }
    case .body, .stored, .notStored, .recordBegunAnew, .tick: break
    }
  }

  // MARK: - What the body is told

  mutating func told(_ event: BodyEvent, _ phone: Int, _ sight: Sight) {
    switch event {
    case .attached(let device, .usb, _):
      bodies[phone].devices.insert(device)
      bodies[phone].appeared(sight.awake)
    case .detached(let device):
      guard bodies[phone].devices.remove(device) != nil, bodies[phone].devices.isEmpty else { return }
      vanished(phone, sight)
    case .lockChanged(let reading): bodies[phone].noteLock(reading.state, sight.awake)
    case .tick, .attached, .hold, .step, .facts, .mounted, .port, .paused, .host: break
    }
  }

  /// The last USB entry of a phone has gone, as the supervisor is told.
  private mutating func vanished(_ phone: Int, _ sight: Sight) {
    let wasSettled = bodies[phone].there.map { sight.awake - $0 >= .seconds(15) } ?? false
    if wasSettled { (bodies[phone].counts, bodies[phone].mayBeMissed) = (true, false) }
    if bodies[phone].away == nil || wasSettled { bodies[phone].away = sight.awake }
    bodies[phone].there = nil
    bodies[phone].cannotSee(sight.awake, forAbsence: true)
  }

  /// A hub has lost its power, with phones that were all there for a while.
  mutating func hubLost(_ phones: [Int], _ sight: Sight) {
    guard phones.count >= 3, !isMuxLost,
      phones.allSatisfy({ phone in bodies[phone].there.map { sight.awake - $0 > .seconds(60) } ?? false })
    else { return }
    for phone in phones { bodies[phone].hubLostAt = sight.awake }
  }

  mutating func hubBack(_ phones: [Int], _ sight: Sight) {
    for phone in phones {
      if bodies[phone].there == nil, let away = bodies[phone].away, sight.awake - away > .seconds(13) {
        bodies[phone].graceMaybe = sight.awake + .seconds(1)
      }
      bodies[phone].hubLostAt = nil
      bodies[phone].roundBegan = nil
    }
  }

  mutating func stalled(_ span: Duration, _ sight: Sight) {
    for phone in bodies.indices {
      bodies[phone].gap(of: span)
      // So much later than the longest step may take, and a round more.
      if span > .seconds(45) { bodies[phone].interrupted = sight.awake }
    }
  }

  mutating func slept(_ sight: Sight) {
    for phone in bodies.indices { bodies[phone].interrupted = sight.awake }
  }

  /// On the disk: it counts, whoever lives to see it.
  mutating func stamped(_ phone: Int, _ stamp: LaunchStamp, _ sight: Sight) {
    bodies[phone].stampBefore = bodies[phone].stamp
    bodies[phone].stamp = stamp
    bodies[phone].stamps = bodies[phone].stamps.suffix(9) + [sight.now]
  }

  mutating func launchedByOthers(_ phone: Int, _ stamp: LaunchStamp) {
    bodies[phone].launch = stamp
    bodies[phone].stamp = stamp
    bodies[phone].lastAnswerElapsed = nil
  }

  mutating func leapt(_ phone: Int, _ span: Duration) { bodies[phone].leapt(span) }
}
