import Fleet
import Wire

/// What is on the disk: it outlives the supervisor.
struct Record {
  var lastSeq = 0
  var host: OutcomeWords?
  var last: [UDID: OutcomeWords] = [:]
  var since: [UDID: Duration] = [:]
  var memories: [UDID: WatchMemory] = [:]
  /// Where the revive command sees them, too.
  var stamps: [UDID: LaunchStamp] = [:]
  /// Set when somebody deleted it, until the supervisor has noticed.
  var pauses: [UDID: Pause] = [:]
  var isDeleted = false
  /// Counts the files that were at its place.
  var generation = 1
  /// It was at some time: rows speak of what it does not hold.
  var wasDeleted = false

  mutating func delete() {
    let (stamps, pauses, generation) = (stamps, pauses, generation)
    self = Record()
    (self.stamps, self.pauses, self.generation) = (stamps, pauses, generation + 1)
    (isDeleted, wasDeleted) = (true, true)
  }

  mutating func remember(_ memory: WatchMemory, of udid: UDID) {
    if let known = memories[udid], known.revision >= memory.revision { return }
    memories[udid] = memory
  }

  /// As it is read at a start: through its written form, of which nothing may be lost.
  func past(of udid: UDID) -> BodyPast {
    var past = BodyPast(outcome: last[udid], since: since[udid], stamp: stamps[udid], pause: pauses[udid])
    if let memory = memories[udid] { past.memory = WatchMemory(memory.json) ?? WatchMemory() }
    return past
  }

  var hostPast: FleetWatch.Past {
    var past = FleetWatch.Past()
    past.outcome = host
    past.lastSeq = lastSeq
    return past
  }
}
