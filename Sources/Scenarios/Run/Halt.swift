import Transport

/// What one body of a run tells the others.
final class Halt: Sendable {
  private let state = Guarded((isWished: false, hasTrouble: false))

  /// The run shall end with the scenarios under way.
  var isWished: Bool { state.with { $0.isWished } }
  func wish() { state.with { $0.isWished = true } }

  /// Something that belongs to no scenario has gone wrong.
  var hasTrouble: Bool { state.with { $0.hasTrouble } }
  func trouble() { state.with { $0.hasTrouble = true } }
}
