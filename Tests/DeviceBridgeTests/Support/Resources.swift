import Glibc
import Testing
import Transport

/// What this process holds open, as the kernel counts it.
enum Resources {
  private static let (tasks, files) = ("/proc/self/task", "/proc/self/fd")

  static var threads: Int { names(tasks).count }
  static var descriptors: Int { names(files).count }

  /// What they are: for the message of a test that finds too many.
  static var listing: String {
    let threads = names(tasks).map { name(of: "\(tasks)/\($0)/comm") }.sorted()
    let descriptors = names(files).map { target(of: "\(files)/\($0)") }.sorted()
    return "\(threads.count) threads \(threads), \(descriptors.count) descriptors \(descriptors)"
  }

  /// Waits until nothing has ended for a second: threads that linger do so for less.
  static func settle() async {
    var (last, since) = ((threads, descriptors), ContinuousClock.now)
    _ = await eventually {
      if last != (threads, descriptors) { (last, since) = ((threads, descriptors), .now) }
      return ContinuousClock.now - since > .seconds(1)
    }
  }

  private static func names(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  private static func name(of path: String) -> String {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    guard fd >= 0 else { return "?" }
    defer { close(fd) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(fd, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
  }

  private static func target(of path: String) -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    let count = readlink(path, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
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
