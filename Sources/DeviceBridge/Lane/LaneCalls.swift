import Transport
import Wire

/// The calls of one lane that are under way, so that closing the lane ends them all.
final class LaneCalls: Sendable {
  private struct State {
    var next: UInt64 = 0
    var endings: [UInt64: @Sendable () -> Void] = [:]
    var closed = false
  }
  private let state = Guarded(State())

  /// - Parameter ending: ends the call from outside; runs at once when the lane is closed already.
  func enter(_ ending: @escaping @Sendable () -> Void) -> UInt64 {
    let (number, closed) = state.with { state in
      state.next += 1
      if !state.closed { state.endings[state.next] = ending }
      return (state.next, state.closed)
    }
    if closed { ending() }
    return number
  }

  func leave(_ number: UInt64) { state.with { _ = $0.endings.removeValue(forKey: number) } }

  func close() {
    let endings = state.with { state in
      state.closed = true
      defer { state.endings = [:] }
      return Array(state.endings.values)
    }
    for ending in endings { ending() }
  }
}

extension LaneCalls {
  /// Runs `start`, which gives the result some time; ends it when the task is cancelled, the lane closed, or
  /// nothing has come by itself some moments after the deadline.
  ///
  /// - Parameter end: makes the work under way return soon; `late` tells that its time is up.
  func result<T: Sendable>(
    of udid: UDID, _ step: String, by deadline: Deadline, start: (OneShot<Result<T, PhoneError>>) -> Void,
    end: @escaping @Sendable (PhoneError) -> Void
  ) async -> Result<T, PhoneError> {
    let shot = OneShot<Result<T, PhoneError>>()
    let limit = deadline.remaining
    let endNow: @Sendable () -> Void = {
      end(.ended(udid))
      shot.give(.failure(.ended(udid)))
    }
    let call = enter(endNow)
    let atDeadline = Keeper.shared.watch(deadline) { end(.silent(udid, step: step, limit: limit)) }
    // What is cut ends in a moment and tells more than this.
    let behind = Keeper.shared.watch(.after(limit + .seconds(1))) {
      shot.give(.failure(.silent(udid, step: step, limit: limit)))
    }
    defer {
      leave(call)
      Keeper.shared.release(atDeadline)
      Keeper.shared.release(behind)
    }
    return await withTaskCancellationHandler {
      // Closed or cancelled before it began.
      if !shot.isGiven { start(shot) }
      return await shot.value()
    } onCancel: {
      endNow()
    }
  }
}
