import Glibc

/// A value behind a lock. The project's one lock type: the thread sanitizer misreads `Synchronization.Mutex`.
public final class Guarded<Value>: @unchecked Sendable {
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  public init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Runs the body with the lock held; it must not block and must not come back here.
  public func with<R, E: Error>(_ body: (inout sending Value) throws(E) -> sending R) throws(E) -> sending R {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
