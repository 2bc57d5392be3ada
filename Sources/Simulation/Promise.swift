/// What must hold after every event, whatever happens.
public enum Promise: String, Sendable, CaseIterable {
  case noLaunchWhileLocked = "no launch while locked, or without an unlocked read within 2 s"
  case noLaunchInTheGrace = "no launch in the grace"
  case oneLaunchASpacing = "at most one launch per body per spacing, restarts and kills included"
  case noLaunchUnderOthers = "no launch while a run or hands hold the phone, or a pause stands"
  case noLaunchWithoutStamp = "no launch without a stamp that is stored"
  case noLaunchWithoutProbe = "no launch without a probe that failed just now, and since any interruption"
  case noLaunchOnFact = "no launch while the fact stands that the last one was refused for"
  case launchesAsSaid = "at most two requests, afresh after one that was not answered, none where others launch"
  case oneRowPerChange = "at most one row per change, and none without one"
  case everyChangeIsARow = "every change is a row"
  case rowsInOrder = "rows are stored in order, without gaps, each following the one before"
  case revivedInTime = "revived only if the door answered within its time"
  case revivalsCounted =
    "a second revival is a row only after a spacing of answers; three launches within an hour are a loop"
  case silenceIsTrue = "silent_s is never 0 for a body that was silent, never more than was observed, and no less"
  case nobodyDelays = "one phone's trouble delays no other phone's probe"
  case oneAtATime = "never two commands open on one phone"
  case othersWaitShortly = "whoever wants the phone waits half a minute at most"
  case settled = "absence, presence and sessions are judged after the settle time only"
  case hostIsOneRow = "a trouble of the host or of a hub is no row of a body's"
  case lockedHasOneName = "what the lock overtook is locked"
  case doorComesFirst = "a door that answers is up"
  case broughtBack = "what can be brought back is, as soon as it may be"
  case toldTruly = "a body that has been in one state for long has the outcome that the state has"
  case mountsOnce = "an image is mounted once a boot and image, and over no other"
}

/// A promise that was broken.
public struct Violation: Equatable, Sendable {
  public var promise: Promise
  /// The phone's index; nil: the host.
  public var phone: Int?
  /// Since the beginning.
  public var at: Duration
  public var detail: String

  public var text: String {
    let who = phone.map { "b\($0)" } ?? "the host"
    return "\(ScriptLine.clock(at)) \(who): not kept: \(promise.rawValue) (\(detail))"
  }
}
