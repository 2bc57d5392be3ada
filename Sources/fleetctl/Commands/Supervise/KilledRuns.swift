import DeviceBridge
import Fleet
import Scenarios
import Wire

/// What runs that were killed have left on phones, taken back by the supervisor as a run would.
struct KilledRuns: LeftoverUndoing {
  private let notes: any UndoNotes
  private let lab: any LabMeans
  private let clock: any ScenarioClock

  init(_ notes: any UndoNotes, environment: Environment, scale: Double) {
    self.notes = notes
    lab = ProcessLab(environment: environment)
    clock = ScaledClock(scale: scale)
  }

  func hasLeftovers(of udid: UDID) -> Bool { (try? notes.notes(of: udid).isEmpty) == false }

  func undo(_ body: Body, over lane: PhoneLane, notice: @escaping @Sendable (String) -> Void) async -> String? {
    await Leftovers(of: body, in: notes, lab: lab, clock: clock).undo(over: lane, notice: notice)
  }
}
