import Transport

/// A result that is waited for by one and may be given by several: the first counts.
final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waited(CheckedContinuation<Value, Never>)
    case given(Value)
    case over
  }
  private let state = Guarded(State.empty)

  /// - Returns: whether this value was the one that counts.
  @discardableResult
  func give(_ value: Value) -> Bool {
    let (first, continuation): (Bool, CheckedContinuation<Value, Never>?) = state.with { state in
      switch state {
      case .empty:
        state = .given(value)
        return (true, nil)
      case .waited(let continuation):
        state = .over
        return (true, continuation)
      case .given, .over: return (false, nil)
      }
    }
    continuation?.resume(returning: value)
    return first
  }

  var isGiven: Bool {
    state.with {
      switch $0 {
      case .empty, .waited: false
      case .given, .over: true
      }
    }
  }

  /// To be awaited once.
  func value() async -> Value {
    await withCheckedContinuation { continuation in
      let early: Value? = state.with { state in
        switch state {
        case .given(let value):
          state = .over
          return value
        case .empty, .waited, .over:
          state = .waited(continuation)
          return nil
        }
      }
      if let early { continuation.resume(returning: early) }
    }
  }
}
