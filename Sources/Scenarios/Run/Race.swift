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

/// Waits for work, but no longer than this task is wanted.
///
/// The work is cancelled with it; what does not heed that is left behind and ends by its own deadline.
///
/// - Returns: nil when the task was cancelled first.
func unlessCancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
  if Task.isCancelled { return nil }
  let race = Race<Value>()
  let task = Task { race.finish(await work()) }
  return await withTaskCancellationHandler {
    await race.value
  } onCancel: {
    // In this order: what the work says about being cancelled is not its result.
    race.finish(nil)
    task.cancel()
  }
}
