import Fleet
import Transport

/// Brings a body into states and out of them again.
final class Arranger: Sendable {
  let scene: Scene
  /// Called before the first means of a state is used.
  private let arranging: @Sendable (Arrangement) -> Void
  private let lockWasArranged = Guarded(false)

  /// How long the phone may take to show what a means claims, on the scenario's clock.
  private static let readBackLimit = Duration.seconds(20)

  init(_ scene: Scene, arranging: @escaping @Sendable (Arrangement) -> Void) {
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
      if !asNeed { announce(state, before) }
      return .held(came: text)
    case .unreachable(let sentence): return .broken(sentence)
    case .denied, .unreadable: break
    }
    if Task.isCancelled { return .stopped }
    if let sentence = lacking(state) { return .noMeans("\(before.text); \(sentence)") }
    announce(state, before)
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
    if let back = state.wayBack, scene.means(for: back).isEmpty {
      return "\(state.rawValue) could be brought about on \(name), but nothing brings it back to \(back.rawValue). "
        + "Add \(back.rawValue) under arrange in fleet.yaml, or run with --attended"
    }
    return nil
  }
}

extension Arranger {
  private func announce(_ state: BodyState, _ before: StateReading) {
    for arrangement in arrangements(of: state, before) { arranging(arrangement) }
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
    case .unreadable, .unreachable: foundLocked = false
    }
    let named = scene.body.arrange[.locked]
    let locksAgain = foundLocked && (named?.command != nil || named?.request != nil)
    let lock = locksAgain ? [Arrangement(state: .unlocked, back: .locked, moment: .atTheEnd)] : []
    guard let back = state.wayBack else { return lock }
    return lock + [Arrangement(state: state, back: back, moment: .beforeRecovers, wasFound: before.holds)]
  }

  private func use(_ means: [Means], for state: BodyState) async -> StepResult {
    var refusals: [String] = []
    var failures: [String] = []
    for means in means {
      if Task.isCancelled { return .stopped }
      switch await scene.use(means) {
      case .claimed:
        let reading = await readBack(state)
        if Task.isCancelled { return .stopped }
        switch reading {
        case .holds(let text): return .held(came: "\(text), by \(means.text)")
        // Whoever claims what the phone denies is not believed, and neither is what would follow.
        case .denied, .unreadable, .unreachable:
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

  /// Asks the phone until it shows the state, or until it has had its time.
  func readBack(_ state: BodyState) async -> StateReading {
    let end = scene.clock.now + Self.readBackLimit
    while true {
      let reading = await scene.read(state)
      if reading.holds || scene.clock.now >= end { return reading }
      do { try await scene.clock.sleep(for: .milliseconds(200)) } catch { return reading }
    }
  }
}

extension BodyState {
  /// What undoes a state that takes the kiosk app out of service; nil for states that a kiosk rests in.
  var wayBack: BodyState? {
    switch self {
    case .locked, .beforeFirstUnlock: .unlocked
    case .inBackground, .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .rebooted: .inFront
    case .cameraDenied: .cameraGranted
    case .unlocked, .inFront, .cameraGranted, .appInstalled, .tokenConfigured: nil
    }
  }
}
