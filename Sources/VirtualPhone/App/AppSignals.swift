import Wire

/// What a signal of the host does to an app's process, by the numbers of Darwin.
enum HostSignal {
  /// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
  static let stops: Set<Int> = [17, 18, 21, 22]
  /// SIGCONT.
  static let go = 19
  /// Whether a process is there at all.
  static let probe = 0
  /// Those that do nothing to a program that has not asked for them: SIGURG, SIGCHLD, SIGIO, SIGWINCH, SIGINFO.
  static let harmless: Set<Int> = [16, 20, 23, 28, 29]
  static let all = 0...31
}

extension KioskApp {
  /// - Returns: false when no app has that process number.
  func signal(_ pid: Int, _ number: Int) -> Bool {
    guard let process = process(pid: pid) else { return false }
    surroundings.note(
      "signal-sent",
      ["pid": .integer(Int64(pid)), "signal": .integer(Int64(number)), "bundle": .string(process.bundle)])
    switch number {
    case HostSignal.probe: break
    case let number where HostSignal.stops.contains(number): process.stop(.host)
    case HostSignal.go: process.go(on: [.host])
    case let number where HostSignal.harmless.contains(number): break
    default:
      surroundings.note(
        "app-killed", ["because": .string("the host sent signal \(number)"), "bundle": .string(process.bundle)])
      end(process, .signal(UInt8(truncatingIfNeeded: number)))
    }
    return true
  }
}
