import DeviceBridge
import Fleet
import Transport
import Wire

/// What runs that were killed have left arranged on a phone, taken back by whoever comes to it next.
public struct Leftovers: Sendable {
  private let body: Body
  private let notes: any UndoNotes
  private let lab: any LabMeans
  private let clock: any ScenarioClock

  /// - Parameter body: as fleet.yaml has it, means included.
  public init(
    of body: Body, in notes: any UndoNotes, lab: any LabMeans, clock: any ScenarioClock = ScaledClock()
  ) {
    self.body = body
    self.notes = notes
    self.lab = lab
    self.clock = clock
  }

  /// Whether there is anything to undo: a look at the state folder, which touches no phone.
  public var isEmpty: Bool {
    get throws(HostTrouble) { try notes.notes(of: body.udid).isEmpty }
  }

  /// Takes everything back, the last first; whoever calls it holds the phone.
  ///
  /// - Parameter notice: told of each thing that is undone, in a sentence.
  /// - Returns: what still stands in the way, in a sentence; nil when nothing is left.
  public func undo(
    over link: any ScenarioLink, notice: @escaping @Sendable (String) -> Void = { _ in }
  ) async -> String? {
    var options = ScenarioRun.Options(number: 0, version: "")
    options.clock = clock
    options.notice = notice
    options.notes = notes
    let run = BodyRun(
      body: body, scenarios: [], options: options, lab: lab, link: link,
      emitter: Emitter(number: 0, secrets: [], wallClock: options.wallClock) { _ in }, halt: Halt(),
      ledger: UndoLedger(body.udid, run: 0, notes: notes))
    return await run.undoLeftovers(over: link, ios: nil)
  }
}
