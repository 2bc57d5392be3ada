import Glibc
import Transport

/// Which of the daemon's troubles a failed connect means.
enum MuxTrouble {
  /// - Parameter code: connect's errno.
  static func error(_ code: Int32, at address: MuxAddress) -> PhoneError {
    switch code {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: .host(code: code, step: "opening a connection to usbmuxd")
    case EACCES, EPERM: .muxForbidden(address, detail: rights(at: address))
    default:
      switch address {
      case .unix(let path): unix(code, path, address)
      case .tcp: code == ECONNREFUSED ? .deadMux(address) : .muxSilent(address, detail: Errno.text(code))
      }
    }
  }

  private static func unix(_ code: Int32, _ path: String, _ address: MuxAddress) -> PhoneError {
    switch code {
    case ENOENT: .noMux(address)
    case ENOTDIR, EPROTOTYPE, ENOTSOCK: .notASocket(address)
    // The system says "refused" of a plain file, too.
    case ECONNREFUSED: isSocket(path) ? .deadMux(address) : .notASocket(address)
    default: .muxSilent(address, detail: Errno.text(code))
    }
  }

  private static func isSocket(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
  }

  /// Mode, owner and current user; of the folder where that is what bars the way.
  static func rights(at address: MuxAddress, user: uid_t = geteuid()) -> String {
    guard case .unix(let path) = address else { return "a rule of this machine forbids it to \(name(of: user))" }
    for folder in folders(of: path) {
      var info = stat()
      guard stat(folder, &info) == 0 else { break }
      if !maySearch(info, user: user) { return "the folder \(describe(folder, info)); you are \(name(of: user))" }
    }
    var info = stat()
    guard stat(path, &info) == 0 else { return "its folder may not be searched; you are \(name(of: user))" }
    return "\(describe(path, info)); you are \(name(of: user))"
  }

  /// From the root down to the folder that holds the path.
  private static func folders(of path: String) -> [String] {
    var folders: [String] = path.hasPrefix("/") ? ["/"] : ["."]
    var folder = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/").dropLast() {
      folder += "/" + part
      folders.append(folder)
    }
    return folders
  }

  private static func maySearch(_ info: stat, user: uid_t) -> Bool {
    if user == 0 { return true }
    if info.st_uid == user { return info.st_mode & S_IXUSR != 0 }
    return info.st_mode & (inGroup(info.st_gid) ? S_IXGRP : S_IXOTH) != 0
  }

  private static func inGroup(_ group: gid_t) -> Bool {
    if group == getegid() { return true }
    var groups = [gid_t](repeating: 0, count: 256)
    let count = getgroups(Int32(groups.count), &groups)
    return groups.prefix(Int(max(count, 0))).contains(group)
  }

  private static func describe(_ path: String, _ info: stat) -> String {
    let mode = String(info.st_mode & 0o7777, radix: 8)
    return "\(path) has mode 0\(mode) and belongs to \(name(of: info.st_uid))"
  }

  private static func name(of user: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 4096)
    guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
    else { return "user \(user)" }
    return String(cString: name)
  }
}
