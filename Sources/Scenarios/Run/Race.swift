import Transport

/// The first of several ends of one piece of work, for somebody who waits for it.
final class Race<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value?, Never>)
    case over(Value?)
  }

  private let state = Guarded(State.open)

  /// The first end counts; later ones change nothing.
  func finish(_ value: Value?) {
    let waiting = state.with { state -> CheckedContinuation<Value?, Never>? in
      switch state {
      case .open:
        state = .over(value)
        return nil
      case .awaited(let continuation):
        state = .over(value)
        return continuation
      case .over: return nil
      }
    }
    waiting?.resume(returning: value)
  }

  var value: Value? {
    get async {
      await withCheckedContinuation { continuation in
        let over = state.with { state -> Value?? in
          if case .over(let value) = state { return .some(value) }
          state = .awaited(continuation)
          return .none
        }
        if let over { continuation.resume(returning: over) }
      }
    }
  }
}

/// Waits for work that does not hear of cancellation itself, but no longer than this task is wanted.
///
/// Work that is left behind ends by its own deadline, or when its link is closed.
///
/// - Returns: nil when the task was cancelled first.
func unlessCancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
  let race = Race<Value>()
  return await withTaskCancellationHandler {
    if Task.isCancelled { return nil }
    Task { race.finish(await work()) }
    return await race.value
  } onCancel: {
    race.finish(nil)
  }
}
