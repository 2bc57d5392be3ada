import DeviceBridge
import Glibc
import Transport
import Wire

/// The locks by which supervisor, runs and people keep out of each other's way, one for each phone of a mux.
public struct PhoneLocks: Sendable {
  public static let usualFolder = "/run/lock/fleetctl"
  /// Names another folder: for tests, and for containers that have no such place.
  public static let folderVariable = "FLEETCTL_LOCK_FOLDER"
  /// Between two looks at a lock that somebody holds.
  private static let pause = Duration.milliseconds(100)
  /// How often a holder that has not written its name yet is looked at again, and how soon.
  static let patience = 10
  static let moment = Duration.milliseconds(10)

  public let folder: String

  public init(folder: String = usualFolder) { self.folder = folder }

  /// - Parameter environment: by name, usually this process's own.
  public init(environment: [String: String]) {
    let named = environment[Self.folderVariable] ?? ""
    folder = named.isEmpty ? Self.usualFolder : named
  }

  /// Takes a phone's lock, and waits for it where somebody has it.
  ///
  /// - Parameters:
  ///   - holder: what others are told meanwhile.
  ///   - wait: until when; one that has passed asks once.
  ///   - onWait: told who has it when a wait begins, and again when somebody else has got it.
  public func acquire(
    _ udid: UDID, on mux: MuxAddress, as holder: Holder, wait: Deadline, onWait: (Holder) -> Void = { _ in }
  ) async throws(HostTrouble) -> LeaseAnswer {
    let name = LockName.of(udid, on: mux)
    var waited = false
    var nameless = 0
    var told: Holder?
    while true {
      switch try attempt(name, holder) {
      case .taken(let lease): return .taken(lease, waited: waited)
      case .busy(let other) where other.pid == nil && nameless < Self.patience:
        // It is being taken in this moment: the name follows.
        nameless += 1
        guard await Self.rest(Self.moment) else { return .cancelled }
        continue
      case .busy(let other):
        if wait.hasPassed { return .held(by: other) }
        if told != other { onWait(other) }
        told = other
      }
      waited = true
      guard await Self.rest(min(Self.pause, max(wait.remaining, .milliseconds(1)))) else { return .cancelled }
    }
  }

  private enum Attempt {
    case taken(PhoneLease)
    case busy(Holder)
  }

  private func attempt(_ name: String, _ holder: Holder) throws(HostTrouble) -> Attempt {
    for _ in 0..<Self.patience {
      let fd = try LockFile.open(name, in: folder)
      while flock(fd, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        if code == EINTR { continue }
        defer { close(fd) }
        guard code == EWOULDBLOCK else { throw .lock(path: "\(folder)/\(name)", code: code) }
        return .busy(Holder(line: Self.read(fd)))
      }
      // Removed between opening and locking: others lock the new one.
      guard LockFile.isCurrent(fd, name, in: folder) else {
        close(fd)
        continue
      }
      return .taken(PhoneLease(locked: fd, holder))
    }
    // Somebody removes it as fast as it is made.
    throw .lock(path: "\(folder)/\(name)", code: ESTALE)
  }

  static func read(_ fd: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Holder.lineLimit) { buffer, count in
      count = max(0, pread(fd, buffer.baseAddress, Holder.lineLimit, 0))
    }
  }

  /// - Returns: false when the task is cancelled.
  static func rest(_ span: Duration) async -> Bool {
    do { try await SuspendingClock().sleep(for: span) } catch { return false }
    return true
  }
}

/// What came of asking for a phone's lock.
public enum LeaseAnswer: Sendable {
  /// `waited`: somebody else had it in between, and may have changed things.
  case taken(PhoneLease, waited: Bool)
  /// Still, when the wait was over.
  case held(by: Holder)
  /// The task was cancelled while it waited.
  case cancelled
}

/// One phone, held: nobody else that asks for its lock gets it. It ends with `release`, with its last owner here, or
/// with the process, however that ends; no child inherits it.
public final class PhoneLease: Sendable {
  private let descriptor: Guarded<Int32>

  /// - Parameter fd: locked; its file is written to, and closed in the end.
  fileprivate init(locked fd: Int32, _ holder: Holder) {
    descriptor = Guarded(fd)
    let line = Array(holder.line.utf8.prefix(Holder.lineLimit))
    // A full disk leaves the lock without a name, which is still a lock.
    _ = ftruncate(fd, 0)
    _ = pwrite(fd, line, line.count, 0)
  }

  deinit { release() }

  /// Lets go of the phone; may be called twice.
  public func release() {
    descriptor.with {
      guard $0 >= 0 else { return }
      _ = ftruncate($0, 0)
      // A child that is being started may share the descriptor for a moment; the lock itself ends now.
      _ = flock($0, LOCK_UN)
      close($0)
      $0 = -1
    }
  }
}

/// Names of locks.
enum LockName {
  /// One name for one phone behind one daemon, in whatever spelling either was given.
  static func of(_ udid: UDID, on mux: MuxAddress) -> String {
    let whole = "\(canonical(mux))\n\(udid.bare)"
    return "\(FileName.of(udid))-\(Digest.sha256(Array(whole.utf8)).prefix(16)).lock"
  }

  /// A socket is the same one through any link to it.
  private static func canonical(_ mux: MuxAddress) -> String {
    switch mux {
    case .tcp(let host, let port): return "\(host.lowercased()):\(port)"
    case .unix(let path):
      if let real = real(path) { return real }
      // The daemon may be away; its folder is there all the same.
      guard let slash = path.lastIndex(of: "/"), let folder = real(String(path[...slash])) else { return path }
      return "\(folder)/\(path[path.index(after: slash)...])"
    }
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
