import Glibc
import Transport
import Wire

/// What keeps this machine from doing its part: no phone is at fault.
public enum HostTrouble: Error, Equatable, Sendable {
  /// A lock's folder or file can't be made or opened; the number is an errno.
  case lock(path: String, code: Int32)
  /// Something that is no plain file lies in a lock's place.
  case notALock(path: String)
  /// The state folder is there, and not for this user.
  case stateForbidden(path: String, group: String?)
  /// The state folder, or a file in it, can't be made, read or written.
  case state(path: String, code: Int32)
  /// A variable names a state folder that is no absolute path.
  case badStateFolder(variable: String, value: String)
  /// Nothing says where state could be kept.
  case noStateFolder
  /// A launch stamp is there and can't be read.
  case damagedStamp(path: String)
  /// The disk has not taken a write in time.
  case slowDisk(limit: Duration)
  /// The record can't be read or written.
  case record(RecordTrouble)

  /// The host row that it stands for.
  public var words: OutcomeWords {
    switch self {
    case .lock(_, let code): Self.words(code, else: .permission)
    case .notALock, .stateForbidden: OutcomeWords(.hostFault, .permission)
    case .state(_, let code): Self.words(code, else: .disk)
    case .record(let trouble): trouble.words
    case .badStateFolder, .noStateFolder, .damagedStamp, .slowDisk: OutcomeWords(.hostFault, .disk)
    }
  }

  private static func words(_ code: Int32, else reason: OutcomeReason) -> OutcomeWords {
    switch code {
    case EMFILE, ENFILE, ENOMEM: OutcomeWords(.hostFault, .descriptors)
    case EACCES, EPERM: OutcomeWords(.hostFault, .permission)
    case ENOSPC, EDQUOT, EIO, EROFS: OutcomeWords(.hostFault, .disk)
    default: OutcomeWords(.hostFault, reason)
    }
  }

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .lock(let path, let code):
      """
      The lock that keeps others off the phone can't be had at \(path): \(Errno.text(code)). \
      Its folder is missing, read-only or somebody else's. \
      Look at it: ls -ld \(Self.folder(of: path))
      """
    case .notALock(let path):
      """
      What lies at \(path) is no lock of fleetctl's. \
      Somebody has put something else in its place. \
      Look at it, and take it away: ls -l \(path)
      """
    case .stateForbidden(let path, let group?):
      """
      The state folder \(path) is not for this user. \
      It belongs to the group \(group), and you are not in it, or have not logged in since you are. \
      Join it: sudo usermod -aG \(group) $USER
      """
    case .stateForbidden(let path, nil):
      """
      The state folder \(path) is not for this user. \
      Its rights let no group in. \
      Let its owner do this, or look at its rights: ls -ld \(path)
      """
    case .state(let path, let code):
      """
      State can't be kept at \(path): \(Errno.text(code)). \
      The disk may be full or read-only, or the folder somebody else's. \
      Look at it: df -h \(Self.folder(of: path)); ls -ld \(Self.folder(of: path))
      """
    case .badStateFolder(let variable, let value):
      """
      \(variable) is '\(value)', which is no absolute path. \
      State is kept in one place only, so it is not guessed. \
      Correct it: export \(variable)=/var/lib/fleetctl
      """
    case .noStateFolder:
      """
      There is no place to keep state in. \
      Neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set, and there is no \(StateFolder.system). \
      Make it: sudo mkdir \(StateFolder.system)
      """
    case .damagedStamp(let path):
      """
      The stamp of the last launch at \(path) can't be read. \
      The disk may have lost what was written. \
      Once you know when the app was launched last, remove it: rm \(path)
      """
    case .record(let trouble): trouble.sentence
    case .slowDisk(let limit):
      """
      The disk that state is kept on has not taken a write within \(limit.shown). \
      It may be dying, or very busy. \
      Look at what the kernel says: sudo dmesg | tail
      """
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
