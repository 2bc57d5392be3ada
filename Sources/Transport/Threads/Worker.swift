import CLinux
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
        // The system refuses names of more than fifteen characters.
        pthread_setname_np(pthread_self(), String(box.name.prefix(15)))
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
