import Transport

/// Waits for work, but no longer than this task is wanted.
///
/// The work is cancelled with it; what does not heed that is left behind and ends by its own deadline.
///
/// - Returns: nil when the task was cancelled first.
func unlessCancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
  if Task.isCancelled { return nil }
  let end = OneShot<Value?>()
  let task = Task { end.give(await work()) }
  return await withTaskCancellationHandler {
    await end.value()
  } onCancel: {
    // In this order: what the work says about being cancelled is not its result.
    end.give(nil)
    task.cancel()
  }
}
