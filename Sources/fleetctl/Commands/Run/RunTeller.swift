import Scenarios
import Transport

/// Says what a run does while it does it: JSON lines or lines for people, and signs of life.
final class RunTeller: Sendable {
  private struct State {
    var narrator: RunNarrator
    var isDrawn = false
    var broken: (@Sendable () -> Void)?
  }

  private let state: Guarded<State>
  private let output: Output
  private let asJSON: Bool
  private let draws: Bool

  init(_ output: Output, asJSON: Bool) {
    self.output = output
    self.asJSON = asJSON
    draws = !asJSON && output.isOnScreen
    state = Guarded(State(narrator: RunNarrator(style: output.style)))
  }

  /// Called once when results can't be written any more.
  func whenBroken(_ act: @escaping @Sendable () -> Void) { state.with { $0.broken = act } }

  func tell(_ event: RunEvent) {
    let (lines, progress) = state.with { state in
      (state.narrator.lines(for: event), state.narrator.progress)
    }
    do {
      if asJSON {
        try output.result(event.json)
      } else {
        if !lines.isEmpty { wipe() }
        try output.results(lines)
      }
    } catch {
      let act = state.with { state in
        defer { state.broken = nil }
        return state.broken
      }
      act?()
    }
    if draws { draw(progress) }
  }

  /// A sign of life; on a screen the drawn line is one already.
  func live() {
    guard !draws else { return }
    output.say(state.with { $0.narrator.progress })
  }

  /// Takes the drawn line away.
  func wipe() {
    let was = state.with { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if was { output.draw("") }
  }

  private func draw(_ progress: String) {
    output.drawRow(progress)
    state.with { $0.isDrawn = true }
  }
}
