/// A result that one task waits for and several may give: the first counts.
///
/// It is handed over, not kept: a thread that gave something and runs on must not be what holds it.
public final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case awaited(CheckedContinuation<Value, Never>)
    case given(Value)
    case taken
  }
  private let state = Guarded(State.empty)

  public init() {}

  /// - Returns: whether this value was the one that counts.
  @discardableResult
  public func give(_ value: Value) -> Bool {
    let (isFirst, waiter): (Bool, CheckedContinuation<Value, Never>?) = state.with { state in
      switch state {
      case .empty:
        state = .given(value)
        return (true, nil)
      case .awaited(let waiter):
        state = .taken
        return (true, waiter)
      case .given, .taken: return (false, nil)
      }
    }
    waiter?.resume(returning: value)
    return isFirst
  }

  public var isGiven: Bool {
    state.with {
      switch $0 {
      case .empty, .awaited: false
      case .given, .taken: true
      }
    }
  }

  /// To be asked once.
  public func value() async -> Value {
    await withCheckedContinuation { continuation in
      let early: Value? = state.with { state in
        switch state {
        case .given(let value):
          state = .taken
          return value
        case .empty, .awaited, .taken:
          state = .awaited(continuation)
          return nil
        }
      }
      if let early { continuation.resume(returning: early) }
    }
  }

  /// - Parameter late: given in place of a value that has not come within the limit.
  public func value(within limit: Duration, else late: Value) async -> Value {
    let timer = Task {
      do { try await SuspendingClock().sleep(for: limit) } catch { return }
      give(late)
    }
    defer { timer.cancel() }
    return await value()
  }
}
