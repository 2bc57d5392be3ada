import Glibc
import Transport
import Wire

/// Where launch stamps are kept: stored before a launch is sent, read when somebody asks how long ago one was.
public protocol LaunchStamps: Sendable {
  /// When this returns, the stamp outlives the process and the machine's power.
  func store(_ stamp: LaunchStamp, of udid: UDID) throws(HostTrouble)
  /// - Returns: nil where no launch was ever sent.
  func last(of udid: UDID) throws(HostTrouble) -> LaunchStamp?
}

/// Launch stamps as files of the state folder, one a body.
///
/// A body's files are written by whoever holds its lock, so by one process at a time.
public struct LaunchStampFolder: LaunchStamps {
  private static let name = "launches"
  private let state: StateFolder

  public init(_ state: StateFolder) { self.state = state }

  public func store(_ stamp: LaunchStamp, of udid: UDID) throws(HostTrouble) {
    _ = try Folders.make(Self.name, in: state)
    try AtomicFile.write(Array(stamp.line.utf8), to: path(udid))
  }

  public func last(of udid: UDID) throws(HostTrouble) -> LaunchStamp? {
    let path = path(udid)
    let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard fd >= 0 else {
      if errno == ENOENT { return nil }
      throw .state(path: path, code: errno)
    }
    defer { close(fd) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      count = max(0, read(fd, buffer.baseAddress, 4_096))
    }
    guard let stamp = LaunchStamp(line: bytes) else { throw .damagedStamp(path: path) }
    return stamp
  }

  private func path(_ udid: UDID) -> String { "\(state.path)/\(Self.name)/\(FileName.of(udid)).json" }
}

/// Names of files for things whose own names may hold anything.
enum FileName {
  /// The identifier itself where it is one, so that people find it; else its digest.
  static func of(_ udid: UDID) -> String {
    let bare = udid.bare
    let isPlain = bare.utf8.count <= 40 && Hex.decode(bare) != nil
    return isPlain && !bare.isEmpty ? bare : "x" + Digest.sha256(Array(bare.utf8)).prefix(39)
  }
}
