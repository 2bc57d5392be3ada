import Transport

/// The wish to end a run early, from a signal, from --timeout or from a reader that has gone; it may come before there is
/// anything to end.
final class Stop: Sendable {
  private struct State {
    var isWished = false
    var timedOut = false
    var act: (@Sendable () -> Void)?
  }
  private let state = Guarded(State())

  /// The run's own time was over.
  var hasTimedOut: Bool { state.with { $0.timedOut } }

  func now(timedOut: Bool = false) {
    let act = state.with { state in
      // What has been stopped for another reason does not run out of time any more.
      if timedOut, !state.isWished { state.timedOut = true }
      state.isWished = true
      defer { state.act = nil }
      return state.act
    }
    act?()
  }

  /// Called once, when the run shall end; at once if that is so already.
  func whenStopped(_ act: @escaping @Sendable () -> Void) {
    let isWished = state.with { state in
      if !state.isWished { state.act = act }
      return state.isWished
    }
    if isWished { act() }
  }
}
