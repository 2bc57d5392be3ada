import Transport
import Wire

/// One process as the phone's lists tell of it.
struct RunningProcess: Equatable, Sendable {
  let pid: Int
  let name: String
  /// nil: the kernel's own, which no file stands behind.
  let path: String?
  /// Of an app.
  var bundle: String?

  /// What every phone runs.
  fileprivate static let system = [
    RunningProcess(pid: 1, name: "launchd", path: "/sbin/launchd"),
    RunningProcess(pid: 34, name: "SpringBoard", path: "/System/Library/CoreServices/SpringBoard.app/SpringBoard"),
    RunningProcess(pid: 38, name: "backboardd", path: "/usr/libexec/backboardd"),
    RunningProcess(pid: 41, name: "lockdownd", path: "/usr/libexec/lockdownd"),
    RunningProcess(pid: 44, name: "usbmuxd", path: "/usr/sbin/usbmuxd"),
    RunningProcess(pid: 51, name: "runningboardd", path: "/usr/libexec/runningboardd"),
    RunningProcess(pid: 62, name: "installd", path: "/usr/libexec/installd"),
    RunningProcess(pid: 77, name: "wifid", path: "/usr/sbin/wifid"),
    RunningProcess(pid: 90, name: "locationd", path: "/usr/libexec/locationd"),
  ]

  /// The kernel's, which CoreDevice lists and the log's service does not.
  static let kernel = RunningProcess(pid: 0, name: "kernel_task", path: nil)

  /// As CoreDevice names it.
  var token: ProcessToken {
    let audit = [UInt64(UInt32.max), 501, 501, 501, 501, UInt64(pid), 100_000, 1]
    return ProcessToken(pid: pid, version: 1, auditToken: audit, executable: path.map(Self.url))
  }

  /// A file URL, with what has to be escaped.
  private static func url(_ path: String) -> String {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
    let escaped = path.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + Hex.encode([$0]) }
    return "file://" + escaped.joined()
  }
}

extension VirtualPhone {
  /// Everything that runs: the system's, the apps', and the hands' driver; by number.
  var running: [RunningProcess] {
    var all = RunningProcess.system
    if hands.isRunning {
      let name = HandsDriver.executable
      all.append(RunningProcess(pid: 391, name: name, path: "/private/var/containers/Bundle/\(name).app/\(name)"))
    }
    all += app.model.with { model in
      model.processes.values.map {
        RunningProcess(pid: $0.pid, name: $0.executable, path: $0.path, bundle: $0.bundle)
      }
    }
    return all.sorted { $0.pid < $1.pid }
  }

  /// Names by number.
  var processes: [Int: String] {
    Dictionary(running.map { ($0.pid, $0.name) }, uniquingKeysWith: { _, last in last })
  }
}
