import Glibc

/// One named OS thread that runs one body and ends with it.
///
/// For calls that block: they hold this thread and no other.
public final class Worker: Sendable {
  private let done = Latch()

  /// - Parameter name: seen in `top -H`; the system keeps fifteen characters.
  public init(name: String, stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) {
    let done = done
    Self.spawn(name: name, stackBytes: stackBytes) {
      body()
      done.open()
    }
  }

  /// Waits for the body's end.
  ///
  /// - Returns: false when the deadline came first.
  @discardableResult
  public func join(by deadline: Deadline) -> Bool { done.wait(until: deadline) }

  private final class Box {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static func spawn(name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let box = Unmanaged.passRetained(Box(name: name, body: body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
        Worker.nameThread(box.name)
        box.body()
        return nil
      }, box.toOpaque())
    if code != 0 {
      // No thread to be had: the work still has to be done, so the caller's thread does it.
      box.release()
      body()
    }
  }
}

extension Worker {
  /// Names the calling thread; the libc call for it is hidden from Swift, the kernel's file is not.
  fileprivate static func nameThread(_ name: String) {
    let fd = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard fd >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(fd, bytes, bytes.count)
    close(fd)
  }
}

/// A door for threads: closed until `open`, then open for good.
public final class Latch: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isOpen = false

  public init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  public func open() {
    pthread_mutex_lock(mutex)
    isOpen = true
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// - Returns: whether it opened before the deadline.
  public func wait(until deadline: Deadline) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var limit = deadline.timespec
    while !isOpen {
      if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT { return isOpen }
    }
    return true
  }
}
