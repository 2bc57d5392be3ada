import Glibc

/// The folder that keeps what outlives a process: launch stamps, undo lists, the record.
public struct StateFolder: Equatable, Sendable {
  /// Where a package or an administrator makes it for all who keep these phones.
  public static let system = "/var/lib/fleetctl"

  public let path: String

  public init(path: String) { self.path = path }

  /// $STATE_DIRECTORY; else /var/lib/fleetctl if it exists; else $XDG_STATE_HOME/fleetctl. It is made if need be.
  ///
  /// - Parameters:
  ///   - environment: by name, usually this process's own.
  ///   - access: whether this user may read and write there.
  /// - Throws: a system folder that this user may not use is never passed over for another: one record, one spacing.
  public static func find(
    _ environment: [String: String], system: String = system, access: (String) -> Bool = Self.isUsable
  ) throws(HostTrouble) -> StateFolder {
    // systemd names several, with colons, where a unit asks for several; the first is the unit's own.
    if let named = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init) {
      guard named.hasPrefix("/") else { throw .badStateFolder(variable: "STATE_DIRECTORY", value: named) }
      return try made(named, access)
    }
    var info = stat()
    if stat(system, &info) == 0 {
      guard info.st_mode & S_IFMT == S_IFDIR else { throw .state(path: system, code: ENOTDIR) }
      guard access(system) else { throw .stateForbidden(path: system, group: group(of: info)) }
      return StateFolder(path: system)
    }
    // A folder above it that lets nobody look is no proof that it is not there.
    let code = errno
    if code != ENOENT, code != ENOTDIR { throw .state(path: system, code: code) }
    return try made(try home(environment) + "/fleetctl", access)
  }

  /// The XDG base directory specification's place; a relative path is to be ignored, it says.
  private static func home(_ environment: [String: String]) throws(HostTrouble) -> String {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state" }
    throw .noStateFolder
  }

  private static func made(_ path: String, _ access: (String) -> Bool) throws(HostTrouble) -> StateFolder {
    try Folders.make(path)
    guard access(path) else { throw .state(path: path, code: EACCES) }
    return StateFolder(path: path)
  }

  /// - Returns: nil where the rights let no group in.
  private static func group(of info: stat) -> String? {
    guard info.st_mode & 0o070 == 0o070 else { return nil }
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    let code = getgrgid_r(info.st_gid, &entry, &buffer, buffer.count, &found)
    guard code == 0, found != nil, let name = entry.gr_name else { return "\(info.st_gid)" }
    return String(cString: name)
  }

  /// Whether this process's effective user may list, enter and write a folder.
  public static func isUsable(_ path: String) -> Bool {
    faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0
  }
}

/// Folders on the way to state, and in it.
enum Folders {
  /// Makes the folder and those above it.
  static func make(_ path: String) throws(HostTrouble) { _ = try make(path, mode: 0o770) }

  /// Makes a folder in the state folder, open to the same users as that one, whatever the umask says.
  static func make(_ name: String, in state: StateFolder) throws(HostTrouble) -> String {
    let path = "\(state.path)/\(name)"
    guard try make(path, mode: 0o700) else { return path }
    var info = stat()
    guard stat(state.path, &info) == 0 else { throw .state(path: state.path, code: errno) }
    // The group first: changing it may take rights away.
    guard chown(path, uid_t.max, info.st_gid) == 0, chmod(path, info.st_mode & 0o7777) == 0 else {
      throw .state(path: path, code: errno)
    }
    return path
  }

  /// - Returns: whether it was not there before.
  private static func make(_ path: String, mode: mode_t) throws(HostTrouble) -> Bool {
    if mkdir(path, mode) == 0 { return true }
    var code = errno
    if code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      // Above the state folder nothing is anybody else's business.
      _ = try make(String(path[..<slash]), mode: 0o700)
      code = mkdir(path, mode) == 0 ? 0 : errno
    }
    if code == 0 { return true }
    var info = stat()
    guard code == EEXIST, stat(path, &info) == 0 else { throw .state(path: path, code: code) }
    guard info.st_mode & S_IFMT == S_IFDIR else { throw .state(path: path, code: ENOTDIR) }
    return false
  }
}
