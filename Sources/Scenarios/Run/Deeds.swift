import Transport

/// What lab commands and people did to a phone and what they said, for reports: taken step by step, and bounded.
final class Deeds: Sendable {
  private static let lines = 60
  private static let characters = 2_000

  private struct State {
    var lines: [String] = []
    var dropped = 0
  }
  private let state = Guarded(State())

  /// A line that says what was done, and one that says what came.
  func add(_ deed: String, _ answer: String?) {
    let added = [deed, answer.map { "  \($0)" }].compactMap { $0 }.map { String($0.prefix(Self.characters)) }
    state.with { state in
      state.lines += added
      let surplus = state.lines.count - Self.lines
      guard surplus > 0 else { return }
      // What decided is at the end.
      state.lines.removeFirst(surplus)
      state.dropped += surplus
    }
  }

  /// Everything since it was last taken.
  func take() -> [String] {
    state.with { state in
      defer { state = State() }
      return state.dropped == 0 ? state.lines : ["… \(state.dropped) lines before these"] + state.lines
    }
  }
}
