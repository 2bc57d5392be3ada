import Fleet
import Transport

/// Brings a body into states and out of them again.
final class Arranger: Sendable {
  private let scene: Scene
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
  func arrange(_ state: BodyState) async -> StepResult {
    let before = await scene.read(state)
    switch before {
    case .holds(let text): return .held(came: text)
    case .unreachable(let sentence): return .broken(sentence)
    case .denied, .unreadable: break
    }
    if Task.isCancelled { return .stopped }
    if let sentence = lacking(state) { return .noMeans("\(before.text); \(sentence)") }
    if let arrangement = arrangement(of: state, before) { arranging(arrangement) }
    return await use(scene.means(for: state), for: state)
  }

  /// Takes an arrangement back.
  ///
  /// - Returns: why it may still stand; nil when it is gone.
  func undo(_ arrangement: Arrangement) async -> String? {
    let back = arrangement.back
    if await scene.read(back).holds { return nil }
    var problems: [String] = []
    for means in scene.means(for: back) {
      switch await scene.use(means) {
      case .claimed:
        let reading = await readBack(back)
        if reading.holds { return nil }
        problems.append("\(means.text) is done, but \(reading.text)")
      case .refused(let sentence), .broken(let sentence): problems.append(sentence)
      }
    }
    let why = problems.isEmpty ? "it has no means" : problems.joined(separator: "; ")
    return "\(scene.body.title) is not back to \(back.rawValue): \(why)"
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
  /// What will have to be undone; nil for states that a kiosk rests in.
  private func arrangement(of state: BodyState, _ before: StateReading) -> Arrangement? {
    let isFirstOfLock = !lockWasArranged.with { was in
      let before = was
      was = was || state == .locked || state == .unlocked
      return before
    }
    if let back = state.wayBack { return Arrangement(state: state, back: back, moment: .beforeRecovers) }
    // A phone that was found locked is locked again, where this lab can do that.
    guard state == .unlocked, isFirstOfLock, case .denied = before,
      scene.body.arrange[.locked]?.command != nil || scene.body.arrange[.locked]?.request != nil
    else { return nil }
    return Arrangement(state: .unlocked, back: .locked, moment: .atTheEnd)
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
      case .broken(let sentence): failures.append(sentence)
      }
    }
    let all = (failures + refusals).joined(separator: "; ")
    return failures.isEmpty
      ? .noMeans("\(scene.body.title) could not be brought to \(state.rawValue): \(all)") : .broken(all)
  }

  /// Asks the phone until it shows the state, or until it has had its time.
  private func readBack(_ state: BodyState) async -> StateReading {
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
