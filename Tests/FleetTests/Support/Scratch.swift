import Glibc
import Transport

/// What keeps a test from being one.
struct Trouble: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A folder of the test's own, removed with all that is in it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/fleet-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder: \(Errno.text(errno))") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    if rmdir(path) != 0 { unlink(path) }
  }

  static func names(in path: String) -> [String] {
    var info = stat()
    guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }

  /// Kind and permission bits; nil where nothing is.
  static func mode(_ path: String) -> UInt32? {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
  }

  static func write(_ text: String, to path: String) throws {
    let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard fd >= 0 else { throw Trouble("\(path): \(Errno.text(errno))") }
    defer { close(fd) }
    let bytes = Array(text.utf8)
    guard Glibc.write(fd, bytes, bytes.count) == bytes.count else { throw Trouble("\(path) not written") }
  }

  static func read(_ path: String) -> String? {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, Glibc.read(fd, buffer.baseAddress, 1 << 16))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A process of the test's own, killed at the latest when the test lets go of it.
final class Child: Sendable {
  private let pid: pid_t
  private let isOver = Guarded(false)

  init(_ argv: String...) throws {
    var pid: pid_t = 0
    let copies = argv.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    let code = posix_spawnp(&pid, argv[0], &actions, nil, copies + [nil], environ)
    guard code == 0 else { throw Trouble("\(argv[0]): \(Errno.text(code))") }
    self.pid = pid
  }

  deinit { kill() }

  func kill() {
    isOver.with {
      guard !$0 else { return }
      Glibc.kill(pid, SIGKILL)
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      $0 = true
    }
  }
}

/// Waits until it is so.
///
/// - Returns: false when it was not for too long.
func eventually(within limit: Duration = .seconds(20), _ isSo: () async throws -> Bool) async rethrows -> Bool {
  let deadline = Deadline.after(limit)
  while try await !isSo() {
    if deadline.hasPassed { return false }
    try? await ContinuousClock().sleep(for: .milliseconds(5))
  }
  return true
}
