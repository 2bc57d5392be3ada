import Glibc
import Testing
import Transport

/// What this process holds open, as the kernel counts it.
enum Resources {
  static var threads: Int { entries("/proc/self/task") }
  static var descriptors: Int { entries("/proc/self/fd") }

  /// Waits until nothing has ended for a second: threads that linger do so for less.
  static func settle() async {
    var (last, since) = ((threads, descriptors), ContinuousClock.now)
    _ = await eventually {
      if last != (threads, descriptors) { (last, since) = ((threads, descriptors), .now) }
      return ContinuousClock.now - since > .seconds(1)
    }
  }

  private static func entries(_ path: String) -> Int {
    guard let folder = opendir(path) else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
  }
}

/// Waits for something that comes about on other threads.
///
/// - Returns: whether it did before the deadline.
func eventually(by deadline: Deadline = .patient, _ condition: () -> Bool) async -> Bool {
  while !condition() {
    if deadline.hasPassed { return false }
    await withCheckedContinuation { continuation in
      _ = Worker(name: "moment") {
        _ = Latch().wait(until: .after(.milliseconds(5)))
        continuation.resume()
      }
    }
  }
  return true
}

/// How often the long tests repeat: FLEETCTL_ROUNDS, or a number that `make test` has the time for.
enum Rounds {
  static let number = getenv("FLEETCTL_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 50
  static var many: Bool { number >= 500 }
}
