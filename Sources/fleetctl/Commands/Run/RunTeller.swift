import Scenarios
import Transport

/// Says what a run does while it does it: JSON lines or lines for people, and signs of life.
final class RunTeller: Sendable {
  private struct State {
    var narrator: RunNarrator
    /// Lines of the table that stand on the screen.
    var drawn = 0
    var broken: (@Sendable () -> Void)?
  }

  /// So much of the screen is the results'.
  private static let resultsHeight = 8

  private let state: Guarded<State>
  private let output: Output
  private let asJSON: Bool
  private let draws: Bool
  private let annotates: Bool

  /// - Parameter annotates: for GitHub, at the end.
  init(_ output: Output, asJSON: Bool, annotates: Bool = false) {
    self.output = output
    self.asJSON = asJSON
    self.annotates = annotates
    draws = !asJSON && output.isOnScreen
    state = Guarded(State(narrator: RunNarrator(style: output.style)))
  }

  /// How often `live` wants to be called.
  var beat: Duration { draws ? .seconds(1) : .seconds(30) }

  /// Called once when results can't be written any more.
  func whenBroken(_ act: @escaping @Sendable () -> Void) { state.with { $0.broken = act } }

  func tell(_ event: RunEvent) {
    let lines = state.with { $0.narrator.lines(for: event) }
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
    if draws { draw() }
  }

  /// A sign of life: on a screen the table anew, elsewhere a line.
  func live() {
    if draws { draw() } else { output.say(state.with { $0.narrator.progress }) }
  }

  /// Takes the drawn table away.
  func wipe() { if draws { redraw([]) } }

  /// What is told once everything has been judged, above the summary.
  func close() {
    wipe()
    let (closing, annotations) = state.with { ($0.narrator.closing, $0.narrator.annotations) }
    if !asJSON { try? output.results(closing) }
    guard annotates else { return }
    // With --json standard output is for objects only; GitHub reads both.
    if asJSON { annotations.forEach(output.say) } else { try? output.results(annotations) }
  }

  private func draw() {
    let screen = output.screen
    redraw(
      state.with { state in
        state.narrator.board.lines(height: max(1, screen.height - Self.resultsHeight), width: screen.width)
      })
  }

  private func redraw(_ lines: [String]) {
    let drawn = state.with { state in
      defer { state.drawn = lines.count }
      return state.drawn
    }
    if drawn > 0 || !lines.isEmpty { output.redraw(lines, over: drawn) }
  }
}
