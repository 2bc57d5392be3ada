import Transport

/// Calls that block, made from async code: each on a thread of its own, none on the shared pool.
enum Blocking {
  /// - Parameter name: the thread's, as seen in `top -H`.
  static func run<T: Sendable, E: Error>(
    _ name: String, _ work: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    let outcome: Result<T, E> = await withCheckedContinuation { continuation in
      _ = Worker(name: name) {
        do throws(E) { continuation.resume(returning: .success(try work())) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try outcome.get()
  }
}
