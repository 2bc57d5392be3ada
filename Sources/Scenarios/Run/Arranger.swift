import Fleet
import Transport

/// Brings a body into states and out of them again.
final class Arranger: Sendable {
  let scene: Scene
  /// Called before the first means of a state is used; says why the arrangement could not be written down.
  private let arranging: @Sendable (Arrangement) async -> String?
  private let lockWasArranged = Guarded(false)

  init(_ scene: Scene, arranging: @escaping @Sendable (Arrangement) async -> String?) {
    self.scene = scene
    self.arranging = arranging
  }

  /// Reads a state and, where it does not hold, brings it about and reads it back.
  ///
  /// - Parameter asNeed: what a need finds stays as it is; a step's state is left again however it came about, since
  ///   `recovers` looks at a kiosk that is back in service.
  func arrange(_ state: BodyState, asNeed: Bool = false) async -> StepResult {
    let before = await scene.read(state)
    switch before {
    case .holds(let text):
      if !asNeed, let trouble = await announce(state, before) { return .broken(trouble) }
      return .held(came: text)
    case .unreachable(let sentence): return .broken(sentence)
    case .denied, .unreadable, .mute, .untold: break
    }
    if Task.isCancelled { return .stopped }
    if let sentence = lacking(state) { return .noMeans("\(before.text); \(sentence)") }
    if let trouble = await announce(state, before) { return .broken(trouble) }
    return await use(scene.means(for: state), for: state)
  }

  /// Why a state is out of reach, there or back.
  ///
  /// - Returns: nil where there are means for both.
  func lacking(_ state: BodyState) -> String? {
    let name = scene.body.title
    if scene.means(for: state).isEmpty {
      return "nothing brings \(name) to \(state.rawValue). fleet.yaml names no means and the cable has none. "
        + "Add it under arrange, or run with --attended"
    }
    for back in state.waysBack {
      let arrangement = Arrangement(state: state, back: back, moment: .beforeRecovers)
      guard scene.means(toUndo: arrangement).isEmpty else { continue }
      return "\(state.rawValue) could be brought about on \(name), but nothing brings it back to \(back.text). "
        + "Add \(Self.advice(state, back)) under arrange in fleet.yaml, or run with --attended"
    }
    return nil
  }

  private static func advice(_ state: BodyState, _ back: Rest) -> String {
    switch back {
    case .state(let back): back.rawValue
    case .cameraFree, .cameraWorks: "an undo of \(state.rawValue)"
    }
  }
}

extension Arranger {
  /// - Returns: why nothing may be changed: nobody would know how to take it back.
  private func announce(_ state: BodyState, _ before: StateReading) async -> String? {
    for arrangement in arrangements(of: state, before) {
      if let trouble = await arranging(arrangement) { return trouble }
    }
    return nil
  }

  /// What will have to be undone, the last first; nothing for states that a kiosk rests in.
  private func arrangements(of state: BodyState, _ before: StateReading) -> [Arrangement] {
    let isFirstOfLock = !lockWasArranged.with { was in
      let before = was
      was = was || state == .locked || state == .unlocked
      return before
    }
    // A phone that was found locked is locked again, where this lab can do that.
    let foundLocked: Bool
    switch before {
    case .holds: foundLocked = state == .locked && isFirstOfLock
    case .denied: foundLocked = state == .unlocked && isFirstOfLock
    case .unreadable, .unreachable, .mute, .untold: foundLocked = false
    }
    let named = scene.body.arrange[.locked]
    let locksAgain = foundLocked && (named?.command != nil || named?.request != nil)
    let lock = locksAgain ? [Arrangement(state: .unlocked, back: .state(.locked), moment: .atTheEnd)] : []
    return lock
      + state.waysBack.map { back in
        Arrangement(state: state, back: back, moment: .beforeRecovers, wasFound: before.holds)
      }
  }

  private func use(_ means: [Means], for state: BodyState) async -> StepResult {
    var refusals: [String] = []
    var failures: [String] = []
    for means in means {
      if Task.isCancelled { return .stopped }
      switch await scene.use(means) {
      case .claimed:
        let reading = await readBack(.state(state), within: state.readBackLimit)
        if Task.isCancelled { return .stopped }
        switch reading {
        case .holds(let text): return .held(came: "\(text), by \(means.text)")
        case .untold(let text): return .held(came: "by \(means.text); \(text)")
        case .denied(let text) where means == .patience, .mute(let text) where means == .patience:
          refusals.append("nothing came of waiting: \(text)")
        // Whoever claims what the phone denies is not believed, and neither is what would follow.
        case .denied, .unreadable, .mute, .unreachable:
          return .broken("\(means.text) is done and should have made it \(state.rawValue), but \(reading.text)")
        }
      case .refused(let sentence): refusals.append(sentence)
      case .broken(let sentence), .lost(let sentence): failures.append(sentence)
      }
    }
    let all = (failures + refusals).joined(separator: "; ")
    return failures.isEmpty
      ? .noMeans("\(scene.body.title) could not be brought to \(state.rawValue): \(all)") : .broken(all)
  }

  /// Asks the phone until it shows that, or until it has had its time.
  func readBack(_ rest: Rest, within limit: Duration) async -> StateReading {
    let end = scene.clock.now + limit
    while true {
      let reading = await scene.read(rest)
      if case .untold = reading { return reading }
      if reading.holds || scene.clock.now >= end { return reading }
      do { try await scene.clock.sleep(for: .milliseconds(200)) } catch { return reading }
    }
  }
}
