import Glibc

/// A value behind a lock, for whose changes threads may wait.
public final class Awaited<Value>: @unchecked Sendable {
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  public init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Runs the body with the lock held, then wakes whoever waits; it must not block and must not come back here.
  public func with<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
    pthread_mutex_lock(lock)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(lock)
    }
    return try body(&value)
  }

  /// Runs the body with the lock held, and again after each change, until it gives something.
  ///
  /// - Returns: nil at the deadline.
  public func wait<R, E: Error>(
    by deadline: Deadline, until body: (inout sending Value) throws(E) -> sending R?
  ) throws(E) -> sending R? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    var limit = deadline.timespec
    while true {
      if let result = try body(&value) { return result }
      // Once more after the deadline: the change may have come with it.
      if pthread_cond_timedwait(condition, lock, &limit) == ETIMEDOUT { return try body(&value) }
    }
  }
}
