/// One answer from a thread to a task, which waits for it no longer than said; the first answer counts.
public final class Patient<Answer: Sendable>: Sendable {
  private struct State {
    var answer: Answer?
    var waiter: CheckedContinuation<Answer, Never>?
    var timer: Task<Void, Never>?
  }
  private let state = Guarded(State())

  public init() {}

  public func give(_ answer: Answer) {
    let (waiter, timer) = state.with { state in
      guard state.answer == nil else { return (nil as CheckedContinuation<Answer, Never>?, nil as Task<Void, Never>?) }
      state.answer = answer
      defer { (state.waiter, state.timer) = (nil, nil) }
      return (state.waiter, state.timer)
    }
    timer?.cancel()
    waiter?.resume(returning: answer)
  }

  /// Only one task may wait.
  ///
  /// - Parameter late: the answer when none has come within the limit.
  public func answer(within limit: Duration, else late: Answer) async -> Answer {
    await withCheckedContinuation { continuation in
      let timer = Task {
        do { try await SuspendingClock().sleep(for: limit) } catch { return }
        give(late)
      }
      let answer = state.with { state in
        if state.answer == nil { (state.waiter, state.timer) = (continuation, timer) }
        return state.answer
      }
      guard let answer else { return }
      timer.cancel()
      continuation.resume(returning: answer)
    }
  }
}
